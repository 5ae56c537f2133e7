// SPDX-License-Identifier: Apache-2.0
#include "server/worker/frames.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "octavo/worker/v1/worker.pb.h"

namespace octavo::server::worker {
namespace {

namespace v1 = octavo::worker::v1;

struct Pair {
  Pair() { EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0); }
  ~Pair() {
    Close(0);
    Close(1);
  }
  void Close(size_t i) {
    if (ends[i] >= 0) close(ends[i]);
    ends[i] = -1;
  }
  void Write(std::string_view bytes) {
    ASSERT_EQ(write(ends[0], bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  std::array<int, 2> ends{-1, -1};
};

v1::FromWorker Frame(std::string message) {
  v1::FromWorker frame;
  frame.mutable_failed()->set_message(std::move(message));
  return frame;
}

TEST(Frames, ArriveOneByOne) {
  Pair pair;
  ASSERT_TRUE(SendFrame(pair.ends[0], Frame("first")));
  ASSERT_TRUE(WriteFrame(pair.ends[0], Frame("")));
  FrameReader reader(pair.ends[1], FrameReader::Descriptors::kRefuse);
  ASSERT_TRUE(*reader.Receive(/*wait=*/true));
  ASSERT_TRUE(*reader.Receive(/*wait=*/false));
  v1::FromWorker frame;
  ASSERT_TRUE(*reader.Next(frame));
  EXPECT_EQ(frame.failed().message(), "first");
  ASSERT_TRUE(*reader.Next(frame));
  EXPECT_EQ(frame.failed().message(), "");
  EXPECT_FALSE(*reader.Next(frame));
}

TEST(Frames, ArriveInPieces) {
  Pair pair;
  const std::string body = Frame("in pieces").SerializeAsString();
  FrameReader reader(pair.ends[1], FrameReader::Descriptors::kRefuse);
  const std::string bytes = std::string{static_cast<char>(body.size()), 0, 0, 0} + body;
  v1::FromWorker frame;
  for (const char byte : bytes) {
    EXPECT_FALSE(*reader.Next(frame));
    pair.Write({&byte, 1});
    ASSERT_TRUE(*reader.Receive(/*wait=*/true));
  }
  ASSERT_TRUE(*reader.Next(frame));
  EXPECT_EQ(frame.failed().message(), "in pieces");
}

TEST(Frames, DoNotWaitUnlessAsked) {
  Pair pair;
  FrameReader reader(pair.ends[1], FrameReader::Descriptors::kRefuse);
  EXPECT_TRUE(*reader.Receive(/*wait=*/false)) << "open, with nothing there";
  pair.Close(0);
  EXPECT_FALSE(*reader.Receive(/*wait=*/false));
}

TEST(Frames, BringDescriptors) {
  Pair pair;
  std::array<int, 2> pipes{};
  ASSERT_EQ(pipe(pipes.data()), 0);
  ASSERT_TRUE(SendFrame(pair.ends[0], Frame("a"), pipes[0]));
  ASSERT_TRUE(SendFrame(pair.ends[0], Frame("b")));
  ASSERT_TRUE(SendFrame(pair.ends[0], Frame("c"), pipes[1]));
  FrameReader reader(pair.ends[1], FrameReader::Descriptors::kAccept);
  v1::FromWorker frame;
  for (int found = 0; found < 3;) {
    if (*reader.Next(frame)) {
      ++found;
    } else {
      ASSERT_TRUE(*reader.Receive(/*wait=*/true));
    }
  }
  const auto reading = reader.TakeDescriptor();
  const auto writing = reader.TakeDescriptor();
  ASSERT_TRUE(reading && writing);
  EXPECT_EQ(reader.TakeDescriptor(), nullptr);
  ASSERT_EQ(write(writing->fd, "x", 1), 1);
  char byte = 0;
  EXPECT_EQ(read(reading->fd, &byte, 1), 1);
  close(pipes[0]);
  close(pipes[1]);
}

TEST(Frames, ReaderThatRefusesDescriptorsGetsNone) {
  Pair pair;
  std::array<int, 2> pipes{};
  ASSERT_EQ(pipe(pipes.data()), 0);
  ASSERT_TRUE(SendFrame(pair.ends[0], Frame("a"), pipes[1]));
  close(pipes[1]);
  FrameReader reader(pair.ends[1], FrameReader::Descriptors::kRefuse);
  ASSERT_TRUE(*reader.Receive(/*wait=*/true));
  EXPECT_EQ(reader.TakeDescriptor(), nullptr);
  char byte = 0;
  EXPECT_EQ(read(pipes[0], &byte, 1), 0) << "the descriptor on the way was closed";
  close(pipes[0]);
}

TEST(Frames, OverTheBoundAreRefusedByBothEnds) {
  Pair pair;
  EXPECT_EQ(SendFrame(pair.ends[0], Frame(std::string(kMaxFrame, 'x'))).error().code,
            Code::kTooLarge);
  FrameReader reader(pair.ends[1], FrameReader::Descriptors::kRefuse);
  pair.Write(std::string_view("\x01\x00\x10\x00", 4));  // 1 MiB and one byte
  EXPECT_EQ(reader.Receive(/*wait=*/true).error().code, Code::kInvalidArgument);
}

TEST(Frames, OverTheBoundBehindAGoodOneAreRefused) {
  Pair pair;
  ASSERT_TRUE(SendFrame(pair.ends[0], Frame("good")));
  pair.Write(std::string_view("\xff\xff\xff\xff", 4));
  FrameReader reader(pair.ends[1], FrameReader::Descriptors::kRefuse);
  v1::FromWorker frame;
  ASSERT_TRUE(*reader.Receive(/*wait=*/true));
  ASSERT_TRUE(*reader.Receive(/*wait=*/false));
  ASSERT_TRUE(*reader.Next(frame));
  EXPECT_EQ(reader.Next(frame).error().code, Code::kInvalidArgument);
}

TEST(Frames, ThatAreNoMessageAreRefused) {
  Pair pair;
  pair.Write(std::string_view("\x02\x00\x00\x00\xff\xff", 6));
  FrameReader reader(pair.ends[1], FrameReader::Descriptors::kRefuse);
  ASSERT_TRUE(*reader.Receive(/*wait=*/true));
  v1::FromWorker frame;
  EXPECT_EQ(reader.Next(frame).error().code, Code::kInvalidArgument);
}

TEST(Frames, WaitForNoReaderForEver) {
  Pair pair;
  const timeval most{.tv_sec = 0, .tv_usec = 50'000};
  setsockopt(pair.ends[0], SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most);
  Status sent;
  for (int i = 0; i < 100 && sent; ++i) {
    sent = SendFrame(pair.ends[0], Frame(std::string(1 << 19, 'x')));
  }
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().code, Code::kUnavailable);
}

}  // namespace
}  // namespace octavo::server::worker
