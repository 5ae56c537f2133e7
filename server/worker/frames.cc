// SPDX-License-Identifier: Apache-2.0
#include "server/worker/frames.h"

#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace octavo::server::worker {
namespace {

constexpr size_t kLengthBytes = 4;
constexpr size_t kReadBytes = size_t{64} << 10;

Failure Gone() {
  return Fail(Code::kUnavailable, "the other end does not read: {}", std::strerror(errno));
}

Result<std::string> Encoded(const google::protobuf::MessageLite& message) {
  const size_t size = message.ByteSizeLong();
  if (size > kMaxFrame) {
    return Fail(Code::kTooLarge, "a frame of {} bytes; at most {} are allowed", size, kMaxFrame);
  }
  std::string frame(kLengthBytes, '\0');
  for (size_t i = 0; i < kLengthBytes; ++i) {
    frame[i] = static_cast<char>(static_cast<uint8_t>(size >> (8 * i)));
  }
  if (!message.AppendToString(&frame)) return Fail(Code::kInternal, "a frame cannot be encoded");
  return frame;
}

// One sendmsg: the bytes from `at`, and the descriptor with the first of them.
ssize_t SendSome(int socket, std::string& frame, size_t at, int descriptor) {
  iovec part{.iov_base = frame.data() + at, .iov_len = frame.size() - at};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  if (at == 0 && descriptor >= 0) {
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    cmsghdr* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(rights), &descriptor, sizeof descriptor);
  }
  return sendmsg(socket, &header, MSG_NOSIGNAL);
}

}  // namespace

Status SendFrame(int socket, const google::protobuf::MessageLite& message, int descriptor) {
  OCTAVO_TRY(std::string frame, Encoded(message));
  for (size_t done = 0; done < frame.size();) {
    const ssize_t sent = SendSome(socket, frame, done, descriptor);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return Gone();
    done += static_cast<size_t>(sent);
  }
  return {};
}

Status WriteFrame(int socket, const google::protobuf::MessageLite& message) {
  OCTAVO_TRY(const std::string frame, Encoded(message));
  for (size_t done = 0; done < frame.size();) {
    const ssize_t written = write(socket, frame.data() + done, frame.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return Gone();
    done += static_cast<size_t>(written);
  }
  return {};
}

Result<bool> FrameReader::Receive(bool wait) {
  buffer_.erase(0, std::exchange(begin_, 0));
  const size_t kept = buffer_.size();
  buffer_.resize(kept + kReadBytes);
  iovec part{.iov_base = buffer_.data() + kept, .iov_len = kReadBytes};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  if (descriptors_ == Descriptors::kAccept) {
    header.msg_control = control.data();
    header.msg_controllen = control.size();
  }
  ssize_t received = 0;
  do {
    received = recvmsg(socket_, &header, MSG_CMSG_CLOEXEC | (wait ? 0 : MSG_DONTWAIT));
  } while (received < 0 && errno == EINTR);
  const bool nothing_yet = received < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
  buffer_.resize(kept + static_cast<size_t>(std::max<ssize_t>(received, 0)));
  if (nothing_yet) return true;
  if (received <= 0) return false;
  for (cmsghdr* c = CMSG_FIRSTHDR(&header); c != nullptr; c = CMSG_NXTHDR(&header, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(c), sizeof fd);
    received_.push_back(std::make_unique<Descriptor>(fd));
  }
  OCTAVO_CHECK(CheckLength());
  return true;
}

std::optional<size_t> FrameReader::NextLength() const {
  if (buffer_.size() - begin_ < kLengthBytes) return std::nullopt;
  size_t length = 0;
  for (size_t i = 0; i < kLengthBytes; ++i) {
    length |= size_t{static_cast<uint8_t>(buffer_[begin_ + i])} << (8 * i);
  }
  return length;
}

Status FrameReader::CheckLength() const {
  const auto length = NextLength();
  if (!length || *length <= kMaxFrame) return {};
  return Fail(Code::kInvalidArgument, "a frame of {} bytes; at most {} are allowed", *length,
              kMaxFrame);
}

Result<bool> FrameReader::Next(google::protobuf::MessageLite& message) {
  OCTAVO_CHECK(CheckLength());
  const auto length = NextLength();
  if (!length || buffer_.size() - begin_ - kLengthBytes < *length) return false;
  const bool parsed =
      message.ParseFromArray(buffer_.data() + begin_ + kLengthBytes, static_cast<int>(*length));
  begin_ += kLengthBytes + *length;
  if (!parsed) return Fail(Code::kInvalidArgument, "a frame that is no message");
  return true;
}

std::unique_ptr<Descriptor> FrameReader::TakeDescriptor() {
  if (received_.empty()) return nullptr;
  auto first = std::move(received_.front());
  received_.pop_front();
  return first;
}

}  // namespace octavo::server::worker
