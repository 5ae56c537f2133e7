// SPDX-License-Identifier: Apache-2.0
// What a worker writes is read back whole; what is no outcome is refused.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/descriptor.h"
#include "server/worker/files.h"
#include "server/worker/wire.h"

namespace octavo::server::worker {
namespace {

job::NamedBlob Named(std::string name, std::string bytes) {
  return {.name = std::move(name), .bytes = Blob(std::move(bytes))};
}

job::Outcome SomeOutcome() {
  job::Outcome outcome{.model = Named("m.onnx", "model"),
                       .external = {Named("m.onnx.data", "weights"), Named("more", "")},
                       .snapshots = {Named("00-import.graph", "graph")},
                       .report_json = "{}",
                       .certificate = "proof",
                       .gate_failed = true,
                       .message = "sqnr"};
  outcome.facts.rewrites = {{.rule = "a/b", .effect = "exact", .count = 3}};
  outcome.facts.passes = {{.pass = "lower", .seconds = 0.25}};
  outcome.facts.kernels = {{.kernel = "conv", .isa = "avx2", .operations = 7, .seconds = 0.5}};
  outcome.facts.output_sqnr_db = {40.5};
  outcome.facts.value_sqnr_db = {1, 2};
  outcome.facts.rescales_removed = 4;
  outcome.facts.saturated_values = 5;
  return outcome;
}

// The outcome of a file with these contents.
struct File {
  Descriptor fd{memfd_create("outcome", MFD_CLOEXEC)};
  void Append(const std::string& bytes) const {
    ASSERT_EQ(write(fd.fd, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  Result<job::Outcome> Read(const v1::Done& done) const {
    auto bytes = MapOutput(fd);
    if (!bytes) return Forward(bytes.error());
    return ReadOutcome(done, *bytes);
  }
};

TEST(Outcome, IsReadBackWhole) {
  const job::Outcome written = SomeOutcome();
  const File file;
  const auto done = WriteOutcome(written, file.fd.fd);
  ASSERT_TRUE(done);
  const auto read = file.Read(*done);
  ASSERT_TRUE(read) << read.error().message;
  const auto expect_equal = [](const job::NamedBlob& a, const job::NamedBlob& b) {
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.bytes.text(), b.bytes.text());
  };
  expect_equal(read->model, written.model);
  ASSERT_EQ(read->external.size(), 2u);
  for (size_t i = 0; i < 2; ++i) expect_equal(read->external[i], written.external[i]);
  ASSERT_EQ(read->snapshots.size(), 1u);
  expect_equal(read->snapshots[0], written.snapshots[0]);
  EXPECT_EQ(read->report_json, "{}");
  EXPECT_EQ(read->certificate, "proof");
  EXPECT_TRUE(read->gate_failed);
  EXPECT_EQ(read->message, "sqnr");
  EXPECT_EQ(read->facts.rewrites.at(0).rule, "a/b");
  EXPECT_EQ(read->facts.rewrites.at(0).effect, "exact");
  EXPECT_EQ(read->facts.rewrites.at(0).count, 3);
  EXPECT_EQ(read->facts.passes.at(0).pass, "lower");
  EXPECT_EQ(read->facts.passes.at(0).seconds, 0.25);
  EXPECT_EQ(read->facts.kernels.at(0).kernel, "conv");
  EXPECT_EQ(read->facts.kernels.at(0).isa, "avx2");
  EXPECT_EQ(read->facts.kernels.at(0).operations, 7);
  EXPECT_EQ(read->facts.kernels.at(0).seconds, 0.5);
  EXPECT_EQ(read->facts.output_sqnr_db, written.facts.output_sqnr_db);
  EXPECT_EQ(read->facts.value_sqnr_db, written.facts.value_sqnr_db);
  EXPECT_EQ(read->facts.rescales_removed, 4);
  EXPECT_EQ(read->facts.saturated_values, 5);
}

// A file that holds only the description.
Result<job::Outcome> ReadDescription(const v1::Outcome& outcome) {
  const File file;
  v1::Done done;
  done.set_size_bytes(outcome.ByteSizeLong());
  file.Append(outcome.SerializeAsString());
  return file.Read(done);
}

void ExpectRefused(const v1::Outcome& outcome, std::string_view what) {
  const auto read = ReadDescription(outcome);
  ASSERT_FALSE(read) << what;
  EXPECT_EQ(read.error().code, Code::kInvalidArgument);
}

TEST(Outcome, AnEmptyDescriptionIsAnOutcomeWithoutBytes) { EXPECT_TRUE(ReadDescription({})); }

TEST(Outcome, PlacesOutsideOfTheFileAreRefused) {
  for (const auto& [offset, size] :
       {std::pair<uint64_t, uint64_t>{0, 1000}, {1000, 0}, {UINT64_MAX, 2}, {1, UINT64_MAX}}) {
    v1::Outcome outcome;
    outcome.mutable_model()->set_offset(offset);
    outcome.mutable_model()->set_size_bytes(size);
    ExpectRefused(outcome, fmt::format("{} {}", offset, size));
    const File file;
    v1::Done done;
    done.set_offset(offset);
    done.set_size_bytes(size);
    EXPECT_FALSE(file.Read(done)) << offset << ' ' << size;
  }
}

TEST(Outcome, NamesThatAreNoFileNamesAreRefused) {
  for (const std::string& name :
       {std::string("../passwd"), std::string("/etc/passwd"), std::string(".."),
        std::string("a\nb"), std::string("data/"), std::string("data//x"),
        std::string("data/../../x"), std::string(600, 'x')}) {
    v1::Outcome outcome;
    outcome.add_external()->set_name(name);
    ExpectRefused(outcome, name);
  }
}

TEST(Outcome, FiguresThatNoWorkerHasAreRefused) {
  v1::Outcome label;
  label.mutable_facts()->add_kernels()->set_kernel("conv\"} 1\n");
  ExpectRefused(label, "label");
  v1::Outcome negative;
  negative.mutable_facts()->add_rewrites()->set_count(-1);
  ExpectRefused(negative, "count");
  v1::Outcome nan;
  nan.mutable_facts()->add_passes()->set_seconds(std::nan(""));
  ExpectRefused(nan, "nan");
}

TEST(Outcome, BytesThatAreNoDescriptionAreRefused) {
  const File file;
  file.Append("\xff\xff\xff\xff");
  v1::Done done;
  done.set_size_bytes(4);
  EXPECT_FALSE(file.Read(done));
}

TEST(Error, ArrivesWithItsDetails) {
  const Error error{.code = Code::kUnimplemented,
                    .message = "no",
                    .reason = "UNSUPPORTED",
                    .node = "n\xff",
                    .field = "f"};
  const auto read = ErrorFromWire(ErrorToWire(error));
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, error);
}

TEST(Error, WithAnUnknownCodeOrReasonIsRefused) {
  v1::Failed failed;
  failed.set_code(99);
  failed.set_reason("INTERNAL");
  EXPECT_FALSE(ErrorFromWire(failed));
  failed.set_code(0);
  for (const char* reason : {"", "no word", "lower"}) {
    failed.set_reason(reason);
    EXPECT_FALSE(ErrorFromWire(failed)) << reason;
  }
}

TEST(Error, LongTextsAreCut) {
  v1::Failed failed;
  failed.set_reason("INTERNAL");
  failed.set_message(std::string(100'000, 'x'));
  EXPECT_EQ(ErrorFromWire(failed)->message.size(), 4096u);
}

}  // namespace
}  // namespace octavo::server::worker
