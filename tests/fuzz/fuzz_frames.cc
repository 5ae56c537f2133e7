// SPDX-License-Identifier: Apache-2.0
// Any bytes that a worker sends: the server takes frames, errors and results, or refuses them.  The
// first byte says where the frames end; the rest is the worker's output file.
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "server/worker/frames.h"
#include "server/worker/wire.h"
#include "tests/fuzz/mutate_message.h"

namespace octavo::server::worker {
namespace {

void CheckText(std::string_view text, size_t most) {
  if (text.size() > most) std::abort();
}

void Take(const v1::FromWorker& frame, const Blob& output) {
  if (frame.has_progress()) {
    if (IsStage(frame.progress().stage())) CheckText(frame.progress().stage(), 16);
    (void)IsPass(frame.progress().pass());
  }
  if (frame.has_failed()) {
    const auto error = ErrorFromWire(frame.failed());
    if (error) CheckText(error->message, 4096);
  }
  if (!frame.has_done()) return;
  const auto outcome = ReadOutcome(frame.done(), output);
  if (!outcome) return;
  if (outcome->model.bytes.size() > output.size()) std::abort();
  if (outcome->report_json.size() > output.size()) std::abort();
}

void TakeAll(std::string_view frames, const Blob& output) {
  std::array<int, 2> ends = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) != 0) std::abort();
  // A socket's buffer holds more than an input has.
  if (write(ends[1], frames.data(), frames.size()) != static_cast<ssize_t>(frames.size())) {
    std::abort();
  }
  close(ends[1]);
  FrameReader reader(ends[0], FrameReader::Descriptors::kRefuse);
  for (bool open = true; open;) {
    const auto received = reader.Receive(/*wait=*/true);
    open = received && *received;
    for (;;) {
      v1::FromWorker frame;
      const auto found = reader.Next(frame);
      if (!found) open = false;
      if (!found || !*found) break;
      Take(frame, output);
    }
  }
  close(ends[0]);
}

}  // namespace
}  // namespace octavo::server::worker

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  using namespace octavo;
  if (size < 2) return 0;
  const size_t length = std::min<size_t>(data[0], size - 1);
  if (seed % 2 == 0) {
    // The frames, then the file again behind them.
    const std::string file(reinterpret_cast<char*>(data) + 1 + length, size - 1 - length);
    if (1 + 255 + file.size() > max_size) return size;
    const size_t mutated = fuzz::MutateMessages(server::worker::v1::FromWorker::default_instance(),
                                                data + 1, length, 255, seed / 2);
    data[0] = static_cast<uint8_t>(mutated);
    std::copy(file.begin(), file.end(), data + 1 + mutated);
    return 1 + mutated + file.size();
  }
  // The file: an Outcome in it, which stands at its begin.
  server::worker::v1::Outcome outcome;
  const auto* file = data + 1 + length;
  if (!outcome.ParsePartialFromArray(file, static_cast<int>(size - 1 - length))) return size;
  std::mt19937 random(seed);
  fuzz::MutateMessage(outcome, random);
  const std::string mutated = outcome.SerializePartialAsString();
  if (1 + length + mutated.size() > max_size) return size;
  std::copy(mutated.begin(), mutated.end(), data + 1 + length);
  return 1 + length + mutated.size();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  const size_t length = std::min<size_t>(data[0], size - 1);
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  octavo::server::worker::TakeAll(all.substr(1, length),
                                  octavo::Blob(std::string(all.substr(1 + length))));
  return 0;
}
