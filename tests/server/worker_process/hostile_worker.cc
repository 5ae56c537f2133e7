// SPDX-License-Identifier: Apache-2.0
// A worker whose job is what its model says: a graph that has taken over the process.
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <map>
#include <thread>

#include "core/base/current_node.h"
#include "octavo/worker/v1/worker.pb.h"
#include "server/worker/frames.h"
#include "server/worker/worker.h"

namespace octavo::server::worker {
namespace {

namespace v1 = octavo::worker::v1;
using Command = Result<job::Outcome> (*)(const job::Request&, const StopToken&);

Result<job::Outcome> Surprise(std::string_view what) {
  return Fail(Code::kInternal, "{} was possible", what);
}

// The model's bytes, and a report that names all inputs.
Result<job::Outcome> Echo(const job::Request& request, const StopToken&) {
  job::Outcome outcome{.model = request.model, .external = request.external_data};
  outcome.report_json = fmt::format("{} samples", request.samples.size());
  return outcome;
}

Result<job::Outcome> Open(const job::Request&, const StopToken&) {
  if (open("/etc/passwd", O_RDONLY) >= 0) return Surprise("open");
  return Fail(Code::kUnimplemented, "{}", std::strerror(errno));
}

Result<job::Outcome> Connect(const job::Request&, const StopToken&) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  const sockaddr_in address{};
  std::ignore = connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  return Surprise("connect");
}

Result<job::Outcome> Fork(const job::Request&, const StopToken&) {
  fork();
  return Surprise("fork");
}

Result<job::Outcome> Trace(const job::Request&, const StopToken&) {
  ptrace(PTRACE_ATTACH, getppid(), 0, 0);
  return Surprise("ptrace");
}

Result<job::Outcome> Signal(const job::Request&, const StopToken&) {
  kill(getppid(), SIGKILL);
  return Surprise("kill");
}

Result<job::Outcome> Allocate(const job::Request&, const StopToken&) {
  std::vector<std::string> blocks;
  for (;;) blocks.emplace_back(size_t{64} << 20, 'x');
}

Result<job::Outcome> AllocateInAThread(const job::Request& request, const StopToken& stop) {
  std::thread thread([&] { std::ignore = Allocate(request, stop); });
  thread.join();
  return Surprise("allocate");
}

Result<job::Outcome> Loop(const job::Request&, const StopToken&) {
  for (volatile uint64_t i = 0;;) i = i + 1;
}

Result<job::Outcome> LoopPolitely(const job::Request&, const StopToken& stop) {
  for (;;) {
    OCTAVO_CHECK(stop.Check());
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

// An honest job that takes some time.
Result<job::Outcome> Work(const job::Request& request, const StopToken& stop) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(40);
  while (std::chrono::steady_clock::now() < end) OCTAVO_CHECK(stop.Check());
  return Echo(request, stop);
}

Result<job::Outcome> CrashInANode(const job::Request&, const StopToken&) {
  const std::string name = "conv\n1" + std::string(300, 'x');
  const CurrentNode current(name);
  raise(SIGSEGV);
  return Surprise("to go on");
}

Result<job::Outcome> AllocateInANode(const job::Request& request, const StopToken& stop) {
  const std::string name = "large";
  const CurrentNode current(name);
  return Allocate(request, stop);
}

// Ends for -1 alone, which nothing makes.
int Deeper(volatile int* above) {
  volatile int here[256] = {*above};
  return *above == -1 ? 0 : Deeper(here) + here[0];
}
Result<job::Outcome> Recurse(const job::Request&, const StopToken&) {
  volatile int top = 1;
  return Fail(Code::kInternal, "{}", Deeper(&top));
}

Result<job::Outcome> Throw(const job::Request&, const StopToken&) {
  std::thread([] { throw std::runtime_error("in a thread"); }).join();
  return Surprise("throw");
}

Result<job::Outcome> Leave(const job::Request&, const StopToken&) { _exit(0); }

// Writes into every descriptor but the socket until the limit ends it.
Result<job::Outcome> FillOutput(const job::Request&, const StopToken&) {
  const std::string block(1 << 20, 'x');
  for (int fd = kSocket + 1; fd < 64; ++fd) {
    while (write(fd, block.data(), block.size()) > 0) {
    }
  }
  return Surprise("to leave the limit");
}

void Send(const v1::FromWorker& frame) { std::ignore = WriteFrame(kSocket, frame); }

Result<job::Outcome> Garbage(const job::Request&, const StopToken& stop) {
  const std::string_view bytes("\x05\x00\x00\x00garbage", 11);
  std::ignore = write(kSocket, bytes.data(), bytes.size());
  return LoopPolitely({}, stop);
}

Result<job::Outcome> LongFrame(const job::Request&, const StopToken& stop) {
  std::ignore = write(kSocket, "\xff\xff\xff\x7f", 4);
  return LoopPolitely({}, stop);
}

Result<job::Outcome> Flood(const job::Request&, const StopToken&) {
  v1::FromWorker frame;
  frame.mutable_progress()->set_stage("import");
  for (;;) Send(frame);
}

Result<job::Outcome> UnknownStage(const job::Request&, const StopToken& stop) {
  v1::FromWorker frame;
  frame.mutable_progress()->set_stage("stage\"} 1");
  Send(frame);
  return LoopPolitely({}, stop);
}

void SendEstimate(int64_t bytes) {
  v1::FromWorker frame;
  frame.mutable_progress()->set_stage("import");
  frame.mutable_progress()->set_memory_bytes(bytes);
  Send(frame);
}

Result<job::Outcome> EstimateAllMemory(const job::Request&, const StopToken& stop) {
  SendEstimate(INT64_MAX);
  return LoopPolitely({}, stop);
}

Result<job::Outcome> EstimateLessThanNothing(const job::Request&, const StopToken& stop) {
  SendEstimate(-1);
  return LoopPolitely({}, stop);
}

Result<job::Outcome> EstimateTwice(const job::Request&, const StopToken& stop) {
  SendEstimate(int64_t{32} << 20);
  SendEstimate(int64_t{64} << 20);
  return LoopPolitely({}, stop);
}

Result<job::Outcome> AllocateBeyondTheEstimate(const job::Request& request, const StopToken& stop) {
  SendEstimate(int64_t{32} << 20);
  std::this_thread::sleep_for(std::chrono::milliseconds(500));  // until the server has read it
  return AllocateInANode(request, stop);
}

Result<job::Outcome> ResultsOutside(const job::Request&, const StopToken&) {
  v1::FromWorker frame;
  frame.mutable_done()->set_offset(1 << 20);
  Send(frame);
  _exit(0);
}

Result<job::Outcome> PathAsName(const job::Request& request, const StopToken&) {
  return job::Outcome{.model = {.name = "../../etc/passwd", .bytes = request.model.bytes}};
}

// Says that it is done, and goes on.  It sleeps: its processor time has a limit that ends it, too.
Result<job::Outcome> NeverEnds(const job::Request&, const StopToken&) {
  v1::FromWorker frame;
  frame.mutable_done();
  Send(frame);
  for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));
}

const std::map<std::string_view, Command> kCommands = {
    {"echo", &Echo},
    {"open", &Open},
    {"connect", &Connect},
    {"fork", &Fork},
    {"ptrace", &Trace},
    {"kill", &Signal},
    {"allocate", &Allocate},
    {"allocate in a thread", &AllocateInAThread},
    {"loop", &Loop},
    {"loop politely", &LoopPolitely},
    {"work", &Work},
    {"crash in a node", &CrashInANode},
    {"allocate in a node", &AllocateInANode},
    {"recurse", &Recurse},
    {"throw", &Throw},
    {"leave", &Leave},
    {"fill output", &FillOutput},
    {"garbage", &Garbage},
    {"long frame", &LongFrame},
    {"flood", &Flood},
    {"unknown stage", &UnknownStage},
    {"estimate all memory", &EstimateAllMemory},
    {"estimate less than nothing", &EstimateLessThanNothing},
    {"estimate twice", &EstimateTwice},
    {"allocate beyond the estimate", &AllocateBeyondTheEstimate},
    {"results outside", &ResultsOutside},
    {"path as name", &PathAsName},
    {"never ends", &NeverEnds},
};

Result<job::Outcome> Obey(const job::Request& request, const StopToken& stop,
                          const job::Observer& observer) {
  observer({.stage = "passes", .pass = "lower", .done = 1, .total = 2});
  const auto command = kCommands.find(request.model.bytes.text());
  return command == kCommands.end() ? Echo(request, stop) : command->second(request, stop);
}

}  // namespace
}  // namespace octavo::server::worker

int main(int argc, char** argv) {
  octavo::server::worker::RunWorker(argc, argv, "hostile", &octavo::server::worker::Obey);
}
