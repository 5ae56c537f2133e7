// SPDX-License-Identifier: Apache-2.0
// octavo verify and optimize --certificate: exit codes and what they print.
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "client/cli/program.h"
#include "tests/support/temporary_folder.h"

namespace octavo::cli {
namespace {

namespace fs = std::filesystem;

class VerifyCommand : public testing::Test {
 protected:
  void SetUp() override {
    const Status written = WriteFile(Path("m.graph"), std::string_view(R"(graph(
    %x: tensor<1x4xu8, scale=0.5, zp=128>) -> (%y) {
  %r = Rescale(%x) : tensor<1x4xu8, scale=0.5, zp=128>
  %y = Relu(%r) : tensor<1x4xu8, scale=0.5, zp=128>
}
)"));
    ASSERT_TRUE(written);
  }

  std::string Path(const std::string& name) const { return (folder_ / name).string(); }

  int Run(const std::vector<std::string>& args) {
    out_.str("");
    err_.str("");
    const Host host{
        .out = out_,
        .err = err_,
        .environment = [](const std::string&) { return std::nullopt; },
        .version = "0.1.0",
        .run_job = &job::Run,
        .list_external = [](const job::NamedBlob&) { return std::vector<ExternalFile>(); }};
    return RunProgram(args, host);
  }
  int Optimize(std::vector<std::string> args) {
    args.insert(args.begin(), {"optimize", Path("m.graph"), "-o", Path("out.graph"),
                               "--no-quantize", "--certificate", Path("m.cert"), "--quiet"});
    return Run(args);
  }

  const TemporaryFolder temporary_;
  const fs::path& folder_ = temporary_.path();
  std::ostringstream out_, err_;
};

TEST_F(VerifyCommand, ProvesAResult) {
  ASSERT_EQ(Optimize({}), 0) << err_.str();
  EXPECT_EQ(Run({"verify", Path("m.graph"), Path("out.graph"), Path("m.cert")}), 0) << err_.str();
  EXPECT_NE(out_.str().find("1 exact, 0 rounded, 0 real, 0 not proved"), std::string::npos)
      << out_.str();
  EXPECT_EQ(Run({"verify", Path("m.graph"), Path("out.graph"), Path("m.cert"), "--json"}), 0);
  EXPECT_NE(out_.str().find(R"("proved":true)"), std::string::npos) << out_.str();
}

TEST_F(VerifyCommand, RefusesAnotherResult) {
  ASSERT_EQ(Optimize({}), 0) << err_.str();
  EXPECT_EQ(Run({"verify", Path("m.graph"), Path("m.graph"), Path("m.cert")}), 3);
  EXPECT_NE(err_.str().find("not the result of the certified job"), std::string::npos)
      << err_.str();
  EXPECT_EQ(Run({"verify", Path("m.graph"), Path("out.graph"), Path("m.graph")}), 3);
  EXPECT_NE(err_.str().find("certificate line 1"), std::string::npos) << err_.str();
}

TEST_F(VerifyCommand, IsOfAJobInThisProcess) {
  EXPECT_EQ(Optimize({"--server", "127.0.0.1:1"}), 2);
  EXPECT_NE(err_.str().find("--certificate"), std::string::npos) << err_.str();
}

}  // namespace
}  // namespace octavo::cli
