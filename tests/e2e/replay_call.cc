// SPDX-License-Identifier: Apache-2.0
// Sends the recorded messages of a call of Optimizer.Optimize, byte for byte, and prints a line for
// each event and for the status:  replay_call HOST:PORT FILE  (tests/data/recorded/README.md).
#include <fmt/format.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

#include "octavo/v1/optimizer.pb.h"

namespace {

std::vector<std::string> Messages(const char* path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::string> messages;
  for (size_t at = 0; at + sizeof(uint32_t) <= bytes.size();) {
    uint32_t size = 0;
    std::memcpy(&size, bytes.data() + at, sizeof(size));
    at += sizeof(size);
    messages.push_back(bytes.substr(at, size));
    at += size;
  }
  return messages;
}

// Waits for one operation of the call.
bool Done(grpc::CompletionQueue& queue) {
  void* tag = nullptr;
  bool ok = false;
  return queue.Next(&tag, &ok) && ok;
}

std::string TextOf(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  std::string text;
  if (!buffer.Dump(&slices).ok()) return text;
  for (const grpc::Slice& slice : slices) {
    text.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return text;
}

void Print(const octavo::v1::OptimizeEvent& event) {
  using octavo::v1::OptimizeEvent;
  if (event.has_accepted()) fmt::print("accepted\n");
  if (event.has_result()) {
    fmt::print("result {} {}\n", octavo::v1::BlobInfo::Role_Name(event.result().role()),
               event.result().name());
  }
  if (event.has_finished()) fmt::print("finished {}\n", event.finished().gate_failed());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::vector<std::string> messages = Messages(argv[2]);
  grpc::GenericStub stub(grpc::CreateChannel(argv[1], grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  grpc::CompletionQueue queue;
  const auto call = stub.PrepareCall(&context, "/octavo.v1.Optimizer/Optimize", &queue);
  call->StartCall(nullptr);
  bool open = Done(queue);
  for (const std::string& message : messages) {
    if (!open) break;
    const grpc::Slice slice(message);
    call->Write(grpc::ByteBuffer(&slice, 1), nullptr);
    open = Done(queue);
  }
  if (open) {
    call->WritesDone(nullptr);
    open = Done(queue);
  }
  for (grpc::ByteBuffer buffer; open;) {
    call->Read(&buffer, nullptr);
    open = Done(queue);
    octavo::v1::OptimizeEvent event;
    if (open && event.ParseFromString(TextOf(buffer))) Print(event);
  }
  grpc::Status status;
  call->Finish(&status, nullptr);
  Done(queue);
  fmt::print("status {} {}\n", static_cast<int>(status.error_code()), status.error_message());
  return status.ok() ? 0 : 1;
}
