// SPDX-License-Identifier: Apache-2.0
// Frames on a stream socket: the length of a message in 4 bytes, little endian, then the message. A
// descriptor may accompany a frame.  The other end is not trusted: a frame has at most kMaxFrame
// bytes, and only a reader that expects descriptors receives them.
#pragma once

#include <google/protobuf/message_lite.h>

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "core/base/descriptor.h"
#include "core/base/status.h"

namespace octavo::server::worker {

inline constexpr size_t kMaxFrame = size_t{1} << 20;

// Sends a frame, with `descriptor` unless it is negative.  Fails with kTooLarge for a frame over
// the bound and kUnavailable if the other end is gone or, on a socket with a send timeout, does not
// read.
Status SendFrame(int socket, const google::protobuf::MessageLite& message, int descriptor = -1);
// The same without a descriptor and by write(2) alone, which a worker may call.
Status WriteFrame(int socket, const google::protobuf::MessageLite& message);

class FrameReader {
 public:
  enum class Descriptors { kRefuse, kAccept };
  FrameReader(int socket, Descriptors descriptors) : socket_(socket), descriptors_(descriptors) {}

  // Receives what has come, at most 64 KiB; blocks until something does if `wait`.  False at the
  // end of the stream.  kInvalidArgument if the next frame's length exceeds the bound.
  Result<bool> Receive(bool wait);
  // The next complete frame, if any; parses it into `message`.  kInvalidArgument if it is none.
  Result<bool> Next(google::protobuf::MessageLite& message);
  // The descriptors received, in the order of their frames; null if there is none.
  std::unique_ptr<Descriptor> TakeDescriptor();

 private:
  std::optional<size_t> NextLength() const;
  Status CheckLength() const;

  int socket_;
  Descriptors descriptors_;
  std::string buffer_;
  size_t begin_ = 0;  // of the next frame in buffer_
  std::deque<std::unique_ptr<Descriptor>> received_;
};

}  // namespace octavo::server::worker
