// SPDX-License-Identifier: Apache-2.0
// Kept results: who is answered from them, and what is compared.
#include "tests/server/logic/fake_transport.h"
#include "tests/server/store/memory_blob_store.h"
#include "tests/server/store/test_folder.h"

namespace octavo::server {
namespace {

constexpr const char* kAction = "sha256:1";

struct Cached {
  Cached() {
    fixture.services.results = &cache;
    fixture.services.blobs = &blobs;
    fixture.flights.KeepIn(cache);
  }

  JobSpec SpecOf(const std::string& model, const std::string& action = kAction) {
    JobSpec spec = Fixture::SpecOf(model);
    spec.action_digest = action;
    return spec;
  }
  // One call to its end, whose client sends what it is asked for, or, if `all`, all blobs.
  CallStatus Run(FakeTransport& call, const JobSpec& spec, const std::string& model,
                 bool all = false) {
    fixture.Open(call);
    call.session->SpecArrived(spec);
    if (!call.WaitForEvents(1)) return call.WaitForEnd();
    const Accepted accepted = call.Events<Accepted>().at(0);
    if (all || !accepted.needed.empty()) {
      const uint64_t from = all ? 0 : accepted.needed[0].offset;
      call.session->ChunkArrived(0, from, model.substr(from));
    }
    return call.WaitForEnd();
  }

  TestFolder folder;
  MemoryBlobStore blobs;
  std::unique_ptr<Database> database = Database::Open(folder.path() + "/octavo.db").value();
  ResultIndex index{*database};
  ResultCache cache{blobs, index};
  Fixture fixture;
};

JobSource SourceOf(FakeTransport& call) { return call.Events<Finished>().at(0).source; }

TEST(SessionCache, an_equal_job_is_answered_without_an_upload_or_a_run) {
  Cached test;
  FakeTransport first;
  ASSERT_FALSE(test.Run(first, test.SpecOf("model"), "model").error);
  EXPECT_EQ(SourceOf(first), JobSource::kExecuted);
  const std::vector<NeededBlob> model = {{.blob = 0, .offset = 0}};
  EXPECT_EQ(first.Events<Accepted>().at(0).needed, model);
  FakeTransport second;
  ASSERT_FALSE(test.Run(second, test.SpecOf("model"), "model").error);
  EXPECT_TRUE(second.Events<Accepted>().at(0).only_needed);
  EXPECT_TRUE(second.Events<Accepted>().at(0).needed.empty());
  EXPECT_EQ(second.Events<Accepted>().at(0).action_digest, kAction);
  EXPECT_EQ(SourceOf(second), JobSource::kCache);
  EXPECT_EQ(second.Events<BlobInfo>(), first.Events<BlobInfo>());
  EXPECT_EQ(second.Events<ChunkEvent>().at(0).bytes.text(), "ledom");
  EXPECT_EQ(test.fixture.runner.started(), 1);
  EXPECT_EQ(test.fixture.probe.from_cache, 1);
  EXPECT_EQ(test.fixture.probe.cache[static_cast<int>(CacheAnswer::kHit)], 1);
  EXPECT_EQ(test.fixture.probe.cache[static_cast<int>(CacheAnswer::kMiss)], 1);
}

TEST(SessionCache, a_client_that_knows_no_kept_results_may_send_its_blobs) {
  Cached test;
  FakeTransport first;
  ASSERT_FALSE(test.Run(first, test.SpecOf("model"), "model").error);
  FakeTransport cached;
  ASSERT_FALSE(test.Run(cached, test.SpecOf("model"), "model", /*all=*/true).error);
  EXPECT_EQ(SourceOf(cached), JobSource::kCache);
  // Other options: the blob is known, the result is not.
  FakeTransport other;
  ASSERT_FALSE(test.Run(other, test.SpecOf("model", "sha256:2"), "model", /*all=*/true).error);
  EXPECT_EQ(SourceOf(other), JobSource::kExecuted);
}

TEST(SessionCache, the_same_model_with_other_options_is_not_sent_again) {
  Cached test;
  FakeTransport first;
  ASSERT_FALSE(test.Run(first, test.SpecOf("model"), "model").error);
  FakeTransport second;
  ASSERT_FALSE(test.Run(second, test.SpecOf("model", "sha256:2"), "model").error);
  EXPECT_TRUE(second.Events<Accepted>().at(0).only_needed);
  EXPECT_TRUE(second.Events<Accepted>().at(0).needed.empty());
  EXPECT_EQ(SourceOf(second), JobSource::kExecuted);
  EXPECT_EQ(test.fixture.probe.uploaded, 5u);
}

TEST(SessionCache, an_upload_that_broke_continues_at_its_offset) {
  Cached test;
  const JobSpec spec = test.SpecOf("model");
  {
    FakeTransport broken;
    test.fixture.Open(broken);
    broken.session->SpecArrived(spec);
    ASSERT_TRUE(broken.WaitForReads(2));
    broken.session->ChunkArrived(0, 0, "mo");
    ASSERT_TRUE(broken.WaitForReads(3));
    broken.session->Cancelled();
    broken.WaitForEnd();
  }
  for (const bool all : {false, true}) {
    FakeTransport call;
    ASSERT_FALSE(test.Run(call, spec, "model", all).error);
    if (all) break;
    const std::vector<NeededBlob> rest = {{.blob = 0, .offset = 2}};
    EXPECT_EQ(call.Events<Accepted>().at(0).needed, rest);
  }
}

TEST(SessionCache, a_wrong_digest_names_the_blob) {
  Cached test;
  FakeTransport call;
  const CallStatus status = test.Run(call, test.SpecOf("model"), "modem");
  ASSERT_TRUE(status.error);
  EXPECT_EQ(status.error->reason, "DIGEST_MISMATCH");
  EXPECT_EQ(status.error->field, "spec.blobs[0].sha256");
}

TEST(SessionCache, a_damaged_result_is_computed_again) {
  Cached test;
  FakeTransport first;
  ASSERT_FALSE(test.Run(first, test.SpecOf("model"), "model").error);
  test.blobs.Damage(Sha256Of(std::string_view("ledom")));
  FakeTransport second;
  ASSERT_FALSE(test.Run(second, test.SpecOf("model"), "model").error);
  EXPECT_EQ(SourceOf(second), JobSource::kExecuted);
  EXPECT_EQ(test.fixture.probe.cache[static_cast<int>(CacheAnswer::kCorrupt)], 1);
  FakeTransport third;
  ASSERT_FALSE(test.Run(third, test.SpecOf("model"), "model").error);
  EXPECT_EQ(SourceOf(third), JobSource::kCache);
}

TEST(SessionCache, no_cache_computes_again_and_compares) {
  Cached test;
  FakeTransport first;
  ASSERT_FALSE(test.Run(first, test.SpecOf("model"), "model").error);
  JobSpec again = test.SpecOf("model");
  again.no_cache = true;
  FakeTransport same;
  ASSERT_FALSE(test.Run(same, again, "model").error);
  EXPECT_EQ(SourceOf(same), JobSource::kExecuted);
  EXPECT_EQ(test.fixture.runner.started(), 2);
  StoredResult other = test.index.Find(kAction).value().value();
  other.blobs.at(0).digest.sha256 = std::string(64, '0');
  ASSERT_TRUE(test.index.Put(kAction, other));
  FakeTransport differs;
  const CallStatus status = test.Run(differs, again, "model");
  ASSERT_TRUE(status.error);
  EXPECT_EQ(status.error->code, Code::kInternal);
  EXPECT_NE(status.error->message.find("folded.onnx"), std::string::npos);
}

TEST(SessionCache, a_failure_is_not_kept) {
  Cached test;
  for (int i = 0; i < 2; ++i) {
    FakeTransport call;
    const JobSpec spec = test.SpecOf("broken model");
    EXPECT_EQ(test.Run(call, spec, "broken model").error->code, Code::kInvalidArgument);
  }
  EXPECT_EQ(test.fixture.runner.started(), 2);
  EXPECT_EQ(test.index.Find(kAction).value(), std::nullopt);
}

}  // namespace
}  // namespace octavo::server
