// SPDX-License-Identifier: Apache-2.0
// The results of a job as a file: every blob, then a message that says where each is.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>

#include "server/worker/wire.h"

namespace octavo::server::worker {
namespace {

// Two doubles and a few names for each value of the largest model; larger messages of a hostile
// worker are not parsed.
constexpr uint64_t kMaxOutcome = uint64_t{4} << 20;
constexpr int kMaxBlobs = 4096;
constexpr size_t kMaxName = 512;
constexpr size_t kMaxMessage = 4096;
constexpr size_t kMaxLabel = 128;

Failure Broken(std::string_view what) { return Fail(Code::kInvalidArgument, "{}", what); }

// Appends blobs to the output file.
class Writer {
 public:
  explicit Writer(int output) : output_(output) {}

  Status Append(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t written = write(output_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) {
        return Fail(Code::kResourceExhausted, "cannot write the results: {}", std::strerror(errno))
            .Reason("STORAGE");
      }
      bytes = bytes.subspan(static_cast<size_t>(written));
      size_ += static_cast<uint64_t>(written);
    }
    return {};
  }
  Status Append(std::string_view text) {
    return Append(std::as_bytes(std::span(text.data(), text.size())));
  }
  Status Add(v1::Part& part, std::string_view name, std::span<const std::byte> bytes) {
    part.set_name(name.data(), name.size());
    part.set_offset(size_);
    part.set_size_bytes(bytes.size());
    return Append(bytes);
  }
  uint64_t size() const { return size_; }

 private:
  int output_;
  uint64_t size_ = 0;
};

void FactsToWire(const job::Facts& facts, v1::Facts& wire) {
  for (const auto& rewrite : facts.rewrites) {
    auto& added = *wire.add_rewrites();
    added.set_rule(rewrite.rule);
    added.set_effect(rewrite.effect);
    added.set_count(rewrite.count);
  }
  for (const auto& pass : facts.passes) {
    auto& added = *wire.add_passes();
    added.set_pass(pass.pass);
    added.set_seconds(pass.seconds);
  }
  for (const auto& kernel : facts.kernels) {
    auto& added = *wire.add_kernels();
    added.set_kernel(kernel.kernel);
    added.set_isa(kernel.isa);
    added.set_operations(kernel.operations);
    added.set_seconds(kernel.seconds);
  }
  wire.mutable_output_sqnr_db()->Add(facts.output_sqnr_db.begin(), facts.output_sqnr_db.end());
  wire.mutable_value_sqnr_db()->Add(facts.value_sqnr_db.begin(), facts.value_sqnr_db.end());
  wire.set_rescales_removed(facts.rescales_removed);
  wire.set_saturated_values(facts.saturated_values);
}

// A label of a metric.  The server knows all values; what is none of them is dropped there.
bool IsLabel(const std::string& text) {
  return text.size() <= kMaxLabel && std::all_of(text.begin(), text.end(), [](char c) {
           return c > ' ' && c <= '~' && c != '"' && c != '\\';
         });
}

Result<job::Facts> FactsFromWire(const v1::Facts& wire) {
  job::Facts facts{.rescales_removed = wire.rescales_removed(),
                   .saturated_values = wire.saturated_values()};
  bool labels = true;
  bool counts = wire.rescales_removed() >= 0 && wire.saturated_values() >= 0;
  for (const auto& rewrite : wire.rewrites()) {
    labels = labels && IsLabel(rewrite.rule()) && IsLabel(rewrite.effect());
    counts = counts && rewrite.count() >= 0;
    facts.rewrites.push_back(
        {.rule = rewrite.rule(), .effect = rewrite.effect(), .count = rewrite.count()});
  }
  for (const auto& pass : wire.passes()) {
    labels = labels && IsPass(pass.pass());
    counts = counts && pass.seconds() >= 0;
    facts.passes.push_back({.pass = pass.pass(), .seconds = pass.seconds()});
  }
  for (const auto& kernel : wire.kernels()) {
    labels = labels && IsLabel(kernel.kernel()) && IsLabel(kernel.isa());
    counts = counts && kernel.operations() >= 0 && kernel.seconds() >= 0;
    facts.kernels.push_back({.kernel = kernel.kernel(),
                             .isa = kernel.isa(),
                             .operations = kernel.operations(),
                             .seconds = kernel.seconds()});
  }
  if (!labels) return Broken("a figure with a name that is none");
  if (!counts) return Broken("a negative figure");
  facts.output_sqnr_db.assign(wire.output_sqnr_db().begin(), wire.output_sqnr_db().end());
  facts.value_sqnr_db.assign(wire.value_sqnr_db().begin(), wire.value_sqnr_db().end());
  return facts;
}

bool IsFileName(std::string_view name) {
  return !name.empty() && name != "." && name != ".." &&
         std::none_of(name.begin(), name.end(),
                      [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; });
}

// A client may write the result under this name: a file in its folder or, as "data/DIGEST" of
// snapshots, below it.  Empty where a result has no name.
bool IsNameOfResult(std::string_view name) {
  if (name.size() > kMaxName) return false;
  while (name.find('/') != name.npos) {
    if (!IsFileName(name.substr(0, name.find('/')))) return false;
    name.remove_prefix(name.find('/') + 1);
    if (name.empty()) return false;
  }
  return name.empty() || IsFileName(name);
}

Result<job::NamedBlob> ReadPart(const v1::Part& part, const Blob& output) {
  if (part.offset() > output.size() || part.size_bytes() > output.size() - part.offset()) {
    return Broken("a result outside of the output");
  }
  if (!IsNameOfResult(part.name())) return Broken("a result whose name is no file name");
  return job::NamedBlob{.name = part.name(),
                        .bytes = output.Slice(part.offset(), part.size_bytes())};
}

Status WriteParts(Writer& writer, const job::Outcome& outcome, v1::Outcome& wire) {
  OCTAVO_CHECK(writer.Add(*wire.mutable_model(), outcome.model.name, outcome.model.bytes.bytes()));
  for (const auto& blob : outcome.external) {
    OCTAVO_CHECK(writer.Add(*wire.add_external(), blob.name, blob.bytes.bytes()));
  }
  for (const auto& blob : outcome.snapshots) {
    OCTAVO_CHECK(writer.Add(*wire.add_snapshots(), blob.name, blob.bytes.bytes()));
  }
  const auto bytes = [](const std::string& text) {
    return std::as_bytes(std::span(text.data(), text.size()));
  };
  OCTAVO_CHECK(writer.Add(*wire.mutable_report(), "", bytes(outcome.report_json)));
  return writer.Add(*wire.mutable_certificate(), "", bytes(outcome.certificate));
}

}  // namespace

Result<v1::Done> WriteOutcome(const job::Outcome& outcome, int output) {
  Writer writer(output);
  v1::Outcome wire;
  OCTAVO_CHECK(WriteParts(writer, outcome, wire));
  wire.set_gate_failed(outcome.gate_failed);
  wire.set_message(outcome.message.substr(0, kMaxMessage));
  FactsToWire(outcome.facts, *wire.mutable_facts());
  v1::Done done;
  done.set_offset(writer.size());
  done.set_size_bytes(wire.ByteSizeLong());
  OCTAVO_CHECK(writer.Append(wire.SerializeAsString()));
  return done;
}

Result<job::Outcome> ReadOutcome(const v1::Done& done, const Blob& output) {
  if (done.size_bytes() > kMaxOutcome) return Broken("a description of results over 4 MiB");
  if (done.offset() > output.size() || done.size_bytes() > output.size() - done.offset()) {
    return Broken("a description of results outside of the output");
  }
  v1::Outcome wire;
  if (!wire.ParseFromArray(output.bytes().data() + done.offset(),
                           static_cast<int>(done.size_bytes()))) {
    return Broken("a description of results that is no message");
  }
  if (wire.external_size() > kMaxBlobs || wire.snapshots_size() > kMaxBlobs) {
    return Broken("too many results");
  }
  job::Outcome outcome{.gate_failed = wire.gate_failed(),
                       .message = wire.message().substr(0, kMaxMessage)};
  OCTAVO_TRY(outcome.model, ReadPart(wire.model(), output));
  for (const auto& part : wire.external()) {
    OCTAVO_TRY(job::NamedBlob blob, ReadPart(part, output));
    outcome.external.push_back(std::move(blob));
  }
  for (const auto& part : wire.snapshots()) {
    OCTAVO_TRY(job::NamedBlob blob, ReadPart(part, output));
    outcome.snapshots.push_back(std::move(blob));
  }
  OCTAVO_TRY(const job::NamedBlob report, ReadPart(wire.report(), output));
  outcome.report_json = report.bytes.text();
  OCTAVO_TRY(const job::NamedBlob certificate, ReadPart(wire.certificate(), output));
  outcome.certificate = certificate.bytes.text();
  OCTAVO_TRY(outcome.facts, FactsFromWire(wire.facts()));
  return outcome;
}

}  // namespace octavo::server::worker
