// SPDX-License-Identifier: Apache-2.0
// The log, whatever its reader does.
#include "server/log/log.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>

#include "server/log/writer.h"

namespace octavo::server {
namespace {

using std::chrono::milliseconds;

struct Pipe {
  Pipe() { EXPECT_EQ(pipe(ends), 0); }
  ~Pipe() {
    if (ends[0] >= 0) close(ends[0]);
    // The writer's thread may still use the other end.
  }
  void CloseReader() { close(std::exchange(ends[0], -1)); }
  std::string Read() const {
    std::string text(1 << 20, '\0');
    const ssize_t got = read(ends[0], text.data(), text.size());
    text.resize(got > 0 ? static_cast<size_t>(got) : 0);
    return text;
  }
  int ends[2] = {-1, -1};
};

std::string KindOf(int i) { return "kind " + std::to_string(i); }

TEST(LogWriter, LinesArriveInOrder) {
  const Pipe pipe;
  log::Writer writer(pipe.ends[1]);
  for (const char* line : {"a\n", "b\n", "c\n"}) writer.Add("kind", line);
  EXPECT_TRUE(writer.Flush(milliseconds(5000)));
  EXPECT_EQ(pipe.Read(), "a\nb\nc\n");
  EXPECT_EQ(writer.dropped(), 0u);
}

TEST(LogWriter, AReaderThatHangsStopsNoOneAndTheOldestLinesGo) {
  const Pipe pipe;
  log::Writer writer(pipe.ends[1]);
  const std::string line(4095, 'x');
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 2000; ++i) writer.Add(KindOf(i), line + '\n');  // 8 MB
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  EXPECT_GT(writer.dropped(), 900u);
  EXPECT_FALSE(writer.Flush(milliseconds(20)));
  writer.Add("last", "last\n");
  std::string all;
  while (!all.ends_with("last\n")) all += pipe.Read();
  EXPECT_EQ(all.substr(0, line.size()), line);
}

TEST(LogWriter, ADeadReaderCostsLinesOnly) {
  signal(SIGPIPE, SIG_IGN);
  Pipe pipe;
  log::Writer writer(pipe.ends[1]);
  pipe.CloseReader();
  for (int i = 0; i < 10; ++i) writer.Add("kind", "line\n");
  EXPECT_TRUE(writer.Flush(milliseconds(5000)));
  EXPECT_EQ(writer.dropped(), 10u);
}

TEST(LogWriter, AKindOfLineIsBoundedPerSecond) {
  const Pipe pipe;
  log::Writer writer(pipe.ends[1]);
  for (int i = 0; i < 1000; ++i) writer.Add("flood", "f\n");
  writer.Add("other", "o\n");
  EXPECT_TRUE(writer.Flush(milliseconds(5000)));
  const std::string text = pipe.Read();
  EXPECT_TRUE(text.ends_with("o\n"));
  EXPECT_GE(writer.dropped(), 700u);  // a slow machine may need a second or two
}

TEST(Log, ALineHasAtMost4KibibytesAndIsJson) {
  for (const std::string& name : {std::string(3 << 20, 'n'), std::string(5000, '\x01'),
                                  std::string(5000, '\xff'), std::string("short")}) {
    const std::string line = log::LineOf({{"message", name}, {"client", name}, {"seconds", 1.5}});
    EXPECT_LE(line.size(), 4096u);
    EXPECT_TRUE(line.ends_with('\n'));
    const auto object = nlohmann::json::parse(line, nullptr, false);
    ASSERT_TRUE(object.is_object());
    EXPECT_EQ(object["seconds"], 1.5);
  }
  EXPECT_EQ(log::LineOf({{"message", "short"}}), "{\"message\":\"short\"}\n");
}

TEST(Log, ALineIsPrintableAscii) {
  // Escape, delete, the C1 control CSI, the override of the writing direction, a letter, half of
  // one.
  const std::string name = "\x1b[2J \x7f \xc2\x9b \xe2\x80\xae \xc3\xa9 \xc3";
  std::string line = log::LineOf({{"model", name}});
  EXPECT_EQ(line.back(), '\n');
  line.pop_back();
  for (const char c : line) EXPECT_TRUE(c >= ' ' && c <= '~') << static_cast<int>(c);
  EXPECT_EQ(nlohmann::json::parse(line)["model"],
            "\x1b[2J \x7f \xc2\x9b \xe2\x80\xae \xc3\xa9 \xef\xbf\xbd");
}

TEST(Log, TimesAreRfc3339) {
  using std::chrono::system_clock;
  EXPECT_EQ(log::TimeText(system_clock::time_point(milliseconds(951782400005))),
            "2000-02-29T00:00:00.005Z");
  EXPECT_EQ(log::TimeText(system_clock::time_point(std::chrono::microseconds(1'999'999))),
            "1970-01-01T00:00:01.999Z");
}

}  // namespace
}  // namespace octavo::server
