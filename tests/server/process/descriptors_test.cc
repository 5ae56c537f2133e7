// SPDX-License-Identifier: Apache-2.0
// Connections and blobs cannot take all descriptors of the service.
#include <grpcpp/create_channel.h>
#include <sys/resource.h>

#include <iterator>

#include "octavo/v1/optimizer.grpc.pb.h"
#include "tests/server/process/process.h"

namespace octavo::server {
namespace {

using std::chrono::milliseconds;

class Descriptors : public Process {
 protected:
  void TearDown() override {
    for (const int fd : open_) close(fd);
    Process::TearDown();
  }
  // Connects from 127.0.0.N and sends nothing.
  int Connect(const std::string& to, uint8_t n = 1) {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in from = {};
    from.sin_family = AF_INET;
    from.sin_addr.s_addr = htonl((127u << 24) | n);
    EXPECT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&from), sizeof from), 0);
    sockaddr_in at = {};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    at.sin_port = htons(static_cast<uint16_t>(std::stoi(to.substr(to.rfind(':') + 1))));
    EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&at), sizeof at), 0);
    open_.push_back(fd);
    return fd;
  }
  std::filesystem::path Proc(const std::string& name) const {
    return std::filesystem::path("/proc") / std::to_string(pid_) / name;
  }
  int64_t Open() const {
    return std::distance(std::filesystem::directory_iterator(Proc("fd")),
                         std::filesystem::directory_iterator());
  }
  // Processor time of the server in ticks of 10 ms.
  int64_t Ticks() const {
    std::ifstream file(Proc("stat"));
    std::string text(std::istreambuf_iterator<char>(file), {});
    std::istringstream rest(text.substr(text.rfind(')') + 2));
    std::string word;
    int64_t user = 0;
    int64_t system = 0;
    for (int field = 3; field < 14; ++field) rest >> word;
    rest >> user >> system;
    return user + system;
  }
  void SetFiles(rlim_t soft) const {
    rlimit limit = {};
    ASSERT_EQ(prlimit(pid_, RLIMIT_NOFILE, nullptr, &limit), 0);
    limit.rlim_cur = soft;
    ASSERT_EQ(prlimit(pid_, RLIMIT_NOFILE, &limit, nullptr), 0);
  }
  std::string Metrics() const { return HttpGet(metrics_, "/metrics"); }

  std::vector<int> open_;
};

TEST_F(Descriptors, TheSoftLimitIsRaised) {
  rlimit own = {};
  getrlimit(RLIMIT_NOFILE, &own);
  const rlimit low = {.rlim_cur = 256, .rlim_max = own.rlim_max};
  setrlimit(RLIMIT_NOFILE, &low);
  Serve();
  setrlimit(RLIMIT_NOFILE, &own);
  rlimit now = {};
  ASSERT_EQ(prlimit(pid_, RLIMIT_NOFILE, nullptr, &now), 0);
  EXPECT_EQ(now.rlim_cur, own.rlim_max);
}

TEST_F(Descriptors, AnAddressCannotTakeAllConnections) {
  Serve({"--max-connections", "60"});
  for (int i = 0; i < 200; ++i) Connect(address_, 2);
  std::this_thread::sleep_for(milliseconds(200));
  EXPECT_TRUE(client::CheckHealth(address_, client::DeadlineIn(10)));
  EXPECT_TRUE(Run("model"));
  const std::string text = Metrics();
  EXPECT_NE(text.find("\noctavo_connections_rejected_total{reason=\"address\"} 170\n"),
            std::string::npos)
      << text;
  // Three addresses of 30 meet the limit of all.
  for (int i = 0; i < 40; ++i) Connect(address_, 3);
  std::this_thread::sleep_for(milliseconds(200));
  EXPECT_EQ(Metrics().find("octavo_connections_rejected_total{reason=\"total\"} 0\n"),
            std::string::npos);
  // Closed connections make room.
  for (const int fd : open_) close(fd);
  open_.clear();
  std::this_thread::sleep_for(milliseconds(200));
  EXPECT_TRUE(client::CheckHealth(address_, client::DeadlineIn(10)));
  for (int tries = 0; tries < 40; ++tries) {
    if (Metrics().find("\noctavo_connections 0\n") != std::string::npos) return;
    std::this_thread::sleep_for(milliseconds(100));
  }
  FAIL() << "connections that are closed still count: " << Metrics();
}

TEST_F(Descriptors, AThousandIdleConnectionsLeaveRoomWithFewFiles) {
  rlimit own = {};
  getrlimit(RLIMIT_NOFILE, &own);
  const rlimit most = {.rlim_cur = own.rlim_max, .rlim_max = own.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &most), 0);
  before_ = "ulimit -n 1024";
  Serve();
  for (int i = 0; i < 1000; ++i) Connect(address_, 2);
  std::this_thread::sleep_for(milliseconds(200));
  EXPECT_TRUE(client::CheckHealth(address_, client::DeadlineIn(10)));
  EXPECT_TRUE(Run("model"));
  EXPECT_FALSE(Metrics().empty());
  setrlimit(RLIMIT_NOFILE, &own);
}

TEST_F(Descriptors, ASpecOfManyBlobsOpensNoFiles) {
  Serve();
  const int64_t before = Open();
  const auto channel = grpc::CreateChannel(address_, grpc::InsecureChannelCredentials());
  const auto stub = v1::Optimizer::NewStub(channel);
  grpc::ClientContext context;
  const auto call = stub->Optimize(&context);
  v1::OptimizeRequest request;
  for (int i = 0; i < 980; ++i) {
    v1::BlobInfo& blob = *request.mutable_spec()->add_blobs();
    blob.set_role(i == 0 ? v1::BlobInfo::ROLE_MODEL : v1::BlobInfo::ROLE_EXTERNAL);
    blob.set_name(std::to_string(i));
    blob.set_size_bytes(5);
    blob.set_sha256(std::string(64, '0'));
  }
  ASSERT_TRUE(call->Write(request));
  v1::OptimizeEvent event;
  ASSERT_TRUE(call->Read(&event));
  EXPECT_TRUE(event.has_accepted());
  EXPECT_LT(Open() - before, 50);
  context.TryCancel();
}

TEST_F(Descriptors, TheMetricsPortWaitsForDescriptorsWithoutSpinning) {
  Serve();
  ASSERT_FALSE(Metrics().empty());
  std::this_thread::sleep_for(milliseconds(1200));  // gRPC's own timers
  SetFiles(static_cast<rlim_t>(Open()));
  for (int i = 0; i < 3; ++i) Connect(metrics_);
  const int64_t before = Ticks();
  std::this_thread::sleep_for(milliseconds(1000));
  const int64_t used = Ticks() - before;
  std::printf("%ld ms of processor time in a second\n", static_cast<long>(used * 10));
  EXPECT_LT(used, 30);
  SetFiles(1000);
  std::this_thread::sleep_for(milliseconds(300));
  EXPECT_FALSE(Metrics().empty());
}

TEST_F(Descriptors, SilentConnectionsDoNotShutOutTheProbes) {
  Serve();
  for (int i = 0; i < 200; ++i) Connect(metrics_);
  EXPECT_NE(HttpGet(metrics_, "/livez").find("alive"), std::string::npos);
  EXPECT_NE(HttpGet(metrics_, "/readyz").find("ready"), std::string::npos);
}

TEST_F(Descriptors, AStateFolderThatCannotBeUsedIsExit2) {
  for (const char* folder : {"/nonexistent/octavo", "/proc"}) {
    Start({"--listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0", "--state-dir", folder});
    EXPECT_EQ(Wait(), 2);
    EXPECT_NE(Text("err").find(std::string("--state-dir: cannot write to '") + folder + "'"),
              std::string::npos)
        << Text("err");
  }
}

}  // namespace
}  // namespace octavo::server
