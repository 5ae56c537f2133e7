// SPDX-License-Identifier: Apache-2.0
// The rate of an upload to octavod: blob_upload OCTAVOD FOLDER [MEBIBYTES] [RUNS] [--json].  Starts
// octavod with a state folder in FOLDER, uploads blobs by Blobs.WriteBlob, reads the last one back,
// and prints the medians in bytes per second with those of SHA-256 on one core and of a plain file
// in FOLDER, and the largest resident memory of the server in each phase.
#include <fmt/format.h>
#include <grpcpp/create_channel.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "core/base/sha256.h"
#include "octavo/v1/blobs.grpc.pb.h"
#include "tests/bench/service.h"

namespace octavo {
namespace {

using Clock = std::chrono::steady_clock;
constexpr size_t kChunk = size_t{1} << 20;

double SecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

// Blob `number`: one pattern, whose first bytes differ from chunk to chunk.
void FillChunk(std::string& chunk, uint64_t number, uint64_t index) {
  const std::string head = fmt::format("{:020}{:020}", number, index);
  chunk.replace(0, head.size(), head);
}

v1::Digest DigestOf(std::string& chunk, uint64_t number, uint64_t chunks) {
  Sha256 hash;
  for (uint64_t i = 0; i < chunks; ++i) {
    FillChunk(chunk, number, i);
    hash.Update(chunk);
  }
  v1::Digest digest;
  digest.set_sha256(hash.Finish());
  digest.set_size_bytes(chunks * kChunk);
  return digest;
}

bool Upload(v1::Blobs::Stub& stub, const v1::Digest& digest, const std::string& pattern,
            uint64_t number) {
  grpc::ClientContext context;
  v1::WriteBlobResponse response;
  const auto stream = stub.WriteBlob(&context, &response);
  v1::WriteBlobRequest request;
  *request.mutable_digest() = digest;
  bool ok = stream->Write(request);
  v1::Chunk& chunk = *request.mutable_chunk();
  *chunk.mutable_data() = pattern;
  for (uint64_t i = 0; ok && i < digest.size_bytes() / kChunk; ++i) {
    chunk.set_offset(i * kChunk);
    FillChunk(*chunk.mutable_data(), number, i);
    ok = stream->Write(request);
  }
  stream->WritesDone();
  return stream->Finish().ok() && response.size_bytes() == digest.size_bytes();
}

bool Download(v1::Blobs::Stub& stub, const v1::Digest& digest) {
  grpc::ClientContext context;
  v1::ReadBlobRequest request;
  *request.mutable_digest() = digest;
  const auto stream = stub.ReadBlob(&context, request);
  v1::ReadBlobResponse response;
  uint64_t bytes = 0;
  while (stream->Read(&response)) bytes += response.data().size();
  return stream->Finish().ok() && bytes == digest.size_bytes();
}

// The least that storing costs: the same bytes in a file of their own.
bool WriteFile(const std::filesystem::path& path, const std::string& pattern, uint64_t chunks) {
  std::ofstream file(path, std::ios::binary);
  for (uint64_t i = 0; i < chunks; ++i) file.write(pattern.data(), kChunk);
  file.close();
  std::filesystem::remove(path);
  return !file.fail();
}

struct Figures {
  std::vector<double> upload, download, sha256, file;  // seconds
  double upload_peak = 0, download_peak = 0;           // MiB
};

bool Measure(const Service& service, const std::string& folder, uint64_t chunks, int runs,
             Figures& figures) {
  const auto stub = v1::Blobs::NewStub(
      grpc::CreateChannel(service.address(), grpc::InsecureChannelCredentials()));
  std::string pattern(kChunk, '\0');
  for (size_t i = 0; i < kChunk; ++i) pattern[i] = static_cast<char>(i * 2654435761u >> 13);
  for (int run = 0; run <= runs; ++run) {
    const auto number = static_cast<uint64_t>(run);
    auto begin = Clock::now();
    const v1::Digest digest = DigestOf(pattern, number, run == 0 ? 16 : chunks);
    if (run > 0) figures.sha256.push_back(SecondsSince(begin));
    begin = Clock::now();
    if (!WriteFile(folder + "/file", pattern, chunks)) return false;
    if (run > 0) figures.file.push_back(SecondsSince(begin));
    service.ResetPeak();
    begin = Clock::now();
    if (!Upload(*stub, digest, pattern, number)) return false;
    if (run == 0) continue;  // warms both up
    figures.upload.push_back(SecondsSince(begin));
    figures.upload_peak = std::max(figures.upload_peak, service.Peak());
    service.ResetPeak();
    begin = Clock::now();
    if (!Download(*stub, digest)) return false;
    figures.download.push_back(SecondsSince(begin));
    figures.download_peak = std::max(figures.download_peak, service.Peak());
  }
  return true;
}

int Run(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  const bool json = std::erase(words, "--json") > 0;
  if (words.size() < 2) {
    fmt::print(stderr, "usage: blob_upload OCTAVOD FOLDER [MEBIBYTES] [RUNS] [--json]\n");
    return 2;
  }
  const uint64_t chunks = words.size() > 2 ? std::stoull(words[2]) : 1024;
  const int runs = words.size() > 3 ? std::stoi(words[3]) : 5;
  Figures figures;
  {
    // The blob before makes room, so that memory of the system is used again if FOLDER is in
    // memory.
    const std::string store_bytes = fmt::format("{}", chunks * kChunk * 3 / 2);
    const Service service(words[0], words[1], {"--store-bytes", store_bytes});
    if (service.address().empty() || !Measure(service, words[1], chunks, runs, figures)) {
      fmt::print(stderr, "blob_upload: the service did not answer as it should\n");
      return 1;
    }
  }
  const double bytes = static_cast<double>(chunks * kChunk);
  const auto rate = [&](const std::vector<double>& seconds) { return bytes / Median(seconds); };
  fmt::print(
      fmt::runtime(json ? "{{\"bytes\": {:.0f}, \"runs\": {}, \"upload_bytes_per_second\": {:.0f}, "
                          "\"download_bytes_per_second\": {:.0f}, "
                          "\"sha256_bytes_per_second\": {:.0f}, "
                          "\"file_bytes_per_second\": {:.0f}, \"server_upload_peak_mib\": {:.1f}, "
                          "\"server_download_peak_mib\": {:.1f}}}\n"
                        : "{:.0f} bytes, {} runs: upload {:.3g} bytes/s, download {:.3g}, SHA-256 "
                          "{:.3g}, a file {:.3g}; server at most {:.1f} MiB, {:.1f} MiB\n"),
      bytes, runs, rate(figures.upload), rate(figures.download), rate(figures.sha256),
      rate(figures.file), figures.upload_peak, figures.download_peak);
  return 0;
}

}  // namespace
}  // namespace octavo

int main(int argc, char** argv) { return octavo::Run(argc, argv); }
