// One call from its spec to its last byte, and every way in which it can end early.
#include "server/session/session.h"

#include <gtest/gtest.h>

#include "tests/server/logic/fake_transport.h"

namespace octavo::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

TEST(Session, AWholeJobGivesAcceptedThenResultsThenFinished) {
  Shop shop;
  FakeTransport transport;
  shop.Open(transport);
  shop.Send(transport, "model");
  EXPECT_FALSE(transport.WaitForEnd().error);
  ASSERT_EQ(transport.Events<Accepted>().size(), 1u);
  EXPECT_EQ(transport.Events<Accepted>()[0].job_id.size(), 32u);
  const auto results = transport.Events<BlobInfo>();
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].role, Role::kOptimizedModel);
  EXPECT_EQ(results[0].sha256, Sha256Of("ledom"));
  EXPECT_EQ(results[1].role, Role::kReport);
  EXPECT_EQ(transport.Events<ChunkEvent>()[0].bytes.text(), "ledom");
  EXPECT_EQ(transport.Events<Finished>().size(), 1u);
  EXPECT_EQ(shop.probe.endings(JobOutcome::kSucceeded), 1);
  EXPECT_EQ(shop.probe.uploaded, 5u);
}

TEST(Session, ResultsTravelInChunksOfOneMebibyte) {
  Shop shop;
  FakeTransport transport;
  shop.Open(transport);
  const std::string model(2'500'000, 'x');
  shop.Send(transport, model);
  EXPECT_FALSE(transport.WaitForEnd().error);
  const auto chunks = transport.Events<ChunkEvent>();
  ASSERT_EQ(chunks.size(), 4u);  // three of the model, one of the report
  EXPECT_EQ(chunks[1].offset, 1u << 20);
  EXPECT_EQ(chunks[2].bytes.size(), 2'500'000u - (2u << 20));
  EXPECT_EQ(chunks[3].blob, 1u);
}

TEST(Session, ABrokenModelIsTheJobsErrorWithItsNode) {
  Shop shop;
  FakeTransport transport;
  shop.Open(transport);
  shop.Send(transport, "broken");
  const Ending ending = transport.WaitForEnd();
  ASSERT_TRUE(ending.error);
  EXPECT_EQ(ending.error->code, Code::kInvalidArgument);
  EXPECT_EQ(ending.error->node, "c1");
  EXPECT_EQ(shop.probe.endings(JobOutcome::kFailed), 1);
}

struct WrongChunk {
  uint32_t blob;
  uint64_t offset;
  std::string bytes;
  std::string field;
  std::string says;
};

TEST(Session, AChunkThatDoesNotFitIsRefusedByName) {
  const WrongChunk cases[] = {
      {0, 3, "abc", "chunk.offset", "spec.blobs[0]: a chunk has offset 3; the next byte is 0"},
      {1, 0, "abc", "chunk.blob", "blob 1 is not one of the 1 in the spec"},
      {0, 0, "", "chunk.data", "a chunk without bytes"},
      {0, 0, "abcdefg", "chunk.data",
       "spec.blobs[0]: a chunk of 7 bytes at offset 0 exceeds the declared size of 5"},
  };
  for (const WrongChunk& wrong : cases) {
    Shop shop;
    FakeTransport transport;
    shop.Open(transport);
    transport.session->SpecArrived(Shop::SpecOf("model"));
    ASSERT_TRUE(transport.WaitForReads(2));
    transport.session->ChunkArrived(wrong.blob, wrong.offset, wrong.bytes);
    const Ending ending = transport.WaitForEnd();
    ASSERT_TRUE(ending.error);
    EXPECT_EQ(ending.error->code, Code::kInvalidArgument);
    EXPECT_EQ(ending.error->field, wrong.field);
    EXPECT_EQ(ending.error->message, wrong.says);
    EXPECT_EQ(shop.runner.started(), 0);
  }
}

TEST(Session, AWrongDigestIsRefusedBeforeTheJobStarts) {
  Shop shop;
  FakeTransport transport;
  shop.Open(transport);
  transport.session->SpecArrived(Shop::SpecOf("model"));
  ASSERT_TRUE(transport.WaitForReads(2));
  transport.session->ChunkArrived(0, 0, "modem");
  const Ending ending = transport.WaitForEnd();
  ASSERT_TRUE(ending.error);
  EXPECT_EQ(ending.error->reason, "DIGEST_MISMATCH");
  EXPECT_EQ(ending.error->field, "spec.blobs[0].sha256");
  EXPECT_EQ(shop.runner.started(), 0);
}

TEST(Session, AChunkBeforeTheSpecIsRefused) {
  Shop shop;
  FakeTransport transport;
  shop.Open(transport);
  transport.session->ChunkArrived(0, 0, "x");
  EXPECT_EQ(transport.WaitForEnd().error->message, "a chunk came before the spec");
}

TEST(Session, ASecondSpecIsRefused) {
  Shop shop;
  FakeTransport transport;
  shop.Open(transport);
  transport.session->SpecArrived(Shop::SpecOf("model"));
  ASSERT_TRUE(transport.WaitForReads(2));
  transport.session->SpecArrived(Shop::SpecOf("model"));
  EXPECT_EQ(transport.WaitForEnd().error->field, "spec");
}

TEST(Session, AnUploadThatEndsEarlySaysHowFarItCame) {
  Shop shop;
  FakeTransport transport;
  shop.Open(transport);
  transport.session->SpecArrived(Shop::SpecOf("model"));
  ASSERT_TRUE(transport.WaitForReads(2));
  transport.session->ChunkArrived(0, 0, "mod");
  ASSERT_TRUE(transport.WaitForReads(3));
  transport.session->InputEnded();
  const Ending ending = transport.WaitForEnd();
  EXPECT_EQ(ending.error->message, "spec.blobs[0]: the stream ended after 3 of 5 bytes");
  EXPECT_EQ(ending.error->reason, "INCOMPLETE_UPLOAD");
}

TEST(Session, ABrokenCallIsACancelledJobThoughItsInputEndsFirst) {
  Shop shop;
  FakeTransport transport;
  shop.Open(transport);
  transport.session->SpecArrived(Shop::SpecOf("model"));
  ASSERT_TRUE(transport.WaitForReads(2));
  transport.session->InputEnded();
  transport.session->Cancelled();
  EXPECT_EQ(transport.WaitForEnd().error->code, Code::kCancelled);
  EXPECT_EQ(shop.probe.endings(JobOutcome::kCancelled), 1);
}

TEST(Session, CancelledWhileQueuedNeverStarts) {
  Shop shop({.workers = 1});
  shop.runner.Hold();
  FakeTransport first;
  FakeTransport second;
  shop.Open(first);
  shop.Send(first, "first");
  ASSERT_TRUE(shop.runner.WaitForStarts(1));
  shop.Open(second);
  shop.Send(second, "second");
  ASSERT_TRUE(second.WaitForReads(3));
  EXPECT_EQ(second.Events<Accepted>()[0].queue_position, 1u);
  second.session->Cancelled();
  EXPECT_EQ(second.WaitForEnd().error->code, Code::kCancelled);
  shop.runner.Open();
  EXPECT_FALSE(first.WaitForEnd().error);
  EXPECT_EQ(shop.runner.started(), 1);
}

TEST(Session, CancellingStopsARunningJobWithin100Milliseconds) {
  Shop shop;
  shop.runner.Hold();
  FakeTransport transport;
  shop.Open(transport);
  shop.Send(transport, "model");
  ASSERT_TRUE(shop.runner.WaitForStarts(1));
  const auto begin = steady_clock::now();
  transport.session->Cancelled();
  EXPECT_EQ(transport.WaitForEnd().error->code, Code::kCancelled);
  while (shop.scheduler.Now().running > 0) std::this_thread::sleep_for(milliseconds(1));
  EXPECT_LT(steady_clock::now() - begin, milliseconds(100));
}

TEST(Session, TheClientsDeadlineEndsARunningJob) {
  Shop shop;
  shop.runner.Hold();
  FakeTransport transport;
  shop.Open(transport, "c", steady_clock::now() + milliseconds(150));
  shop.Send(transport, "model");
  const Ending ending = transport.WaitForEnd();
  EXPECT_EQ(ending.error->code, Code::kDeadlineExceeded);
  while (shop.scheduler.Now().running > 0) std::this_thread::sleep_for(milliseconds(1));
}

TEST(Session, TheServicesJobTimeoutEndsARunningJob) {
  Shop shop({.job_timeout = milliseconds(50)});
  shop.runner.Hold();
  FakeTransport transport;
  shop.Open(transport);
  shop.Send(transport, "model");
  EXPECT_EQ(transport.WaitForEnd().error->code, Code::kDeadlineExceeded);
}

TEST(Session, AnIdleUploadIsCutAndGivesItsPlaceBack) {
  Shop shop({.jobs_queued = 0, .upload_idle_timeout = milliseconds(60)});
  FakeTransport transport;
  shop.Open(transport);
  transport.session->SpecArrived(Shop::SpecOf("model"));
  const Ending ending = transport.WaitForEnd();
  EXPECT_EQ(ending.error->reason, "UPLOAD_IDLE");
  FakeTransport next;
  shop.Open(next);
  shop.Send(next, "model");
  EXPECT_FALSE(next.WaitForEnd().error);
}

TEST(Session, AClientThatNeverReadsIsCut) {
  Shop shop({.upload_idle_timeout = milliseconds(60), .upload_min_rate = 0});
  FakeTransport transport;
  transport.HoldWrites();
  shop.Open(transport);
  shop.Send(transport, "model");
  const Ending ending = transport.WaitForEnd();
  EXPECT_EQ(ending.error->reason, "DOWNLOAD_IDLE");
  EXPECT_TRUE(transport.aborted());
  EXPECT_EQ(transport.Events<Accepted>().size(), 1u);
}

TEST(Session, ASlowReaderGetsOnlyTheLatestProgress) {
  Shop shop;
  shop.runner.set_progress_reports(10'000);
  FakeTransport transport;
  transport.HoldWrites();
  shop.Open(transport);
  shop.Send(transport, "model");
  ASSERT_TRUE(shop.runner.WaitForStarts(1));
  while (shop.scheduler.Now().running > 0) std::this_thread::sleep_for(milliseconds(1));
  transport.Release();
  EXPECT_FALSE(transport.WaitForEnd().error);
  EXPECT_LE(transport.Events<ProgressEvent>().size(), 2u);
}

TEST(Session, AGateThatFailedStillDeliversTheModel) {
  Shop shop;
  FakeTransport transport;
  shop.Open(transport);
  JobSpec spec = Shop::SpecOf("model");
  spec.options.require_sqnr = 101;
  transport.session->SpecArrived(spec);
  ASSERT_TRUE(transport.WaitForReads(2));
  transport.session->ChunkArrived(0, 0, "model");
  EXPECT_FALSE(transport.WaitForEnd().error);
  EXPECT_TRUE(transport.Events<Finished>()[0].gate_failed);
  EXPECT_EQ(transport.Events<ChunkEvent>()[0].bytes.text(), "ledom");
}

}  // namespace
}  // namespace octavo::server
