// SPDX-License-Identifier: Apache-2.0
#include "client/cli/progress_printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "client/cli/help.h"
#include "client/cli/terminal_text.h"

namespace octavo::cli {
namespace {

constexpr size_t kNameWidth = 28;
constexpr size_t kNarrowestBar = 10;
constexpr auto kPause = std::chrono::milliseconds(100);

// Stages that are events: each stays as a line of its own, on a terminal too.
bool IsEvent(std::string_view stage) {
  return stage == "retry" || stage == "connect" || stage == "job";
}

bool CountsBytes(std::string_view stage) { return stage == "upload" || stage == "download"; }

// The counts, and the time that the stage has left.
std::string Counts(const job::Progress& progress, double seconds) {
  if (CountsBytes(progress.stage)) return TransferText(progress, seconds);
  if (progress.total <= 0) return {};
  std::string text = fmt::format("{}/{}", progress.done, progress.total);
  if (seconds >= 1 && progress.done > 0 && progress.done < progress.total) {
    const auto left = static_cast<double>(progress.total - progress.done);
    text +=
        fmt::format(", {} left", ClockText(seconds * left / static_cast<double>(progress.done)));
  }
  return text;
}

std::string LineText(const std::string& at, const job::Progress& progress) {
  if (progress.stage == "connect") return ForTerminal(progress.pass);
  if (progress.stage == "job") {
    const std::string before =
        progress.done > 0 ? fmt::format(", position {} in the queue", progress.done) : "";
    return fmt::format("job {}{}", ForTerminal(progress.pass), before);
  }
  return at + (CountsBytes(progress.stage) ? fmt::format(" of {} bytes", progress.total) : "");
}

// Cuts between characters of UTF-8.
std::string Cut(std::string text, size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80) --most;
  text.resize(most);
  return text;
}

}  // namespace

std::string ClockText(double seconds) {
  const auto whole = static_cast<int64_t>(std::ceil(seconds));
  const int64_t hours = whole / 3600, minutes = whole / 60 % 60;
  if (hours > 0) return fmt::format("{}:{:02}:{:02}", hours, minutes, whole % 60);
  return fmt::format("{}:{:02}", minutes, whole % 60);
}

std::string BarText(const std::string& at, const job::Progress& progress, double job_seconds,
                    double stage_seconds, size_t columns) {
  const size_t width = std::max<size_t>(columns, 2) - 1;  // the last column may wrap the line
  std::string after = Counts(progress, stage_seconds);
  after += fmt::format("{}{}", after.empty() ? "" : "  ", ClockText(job_seconds));
  const size_t others = kNameWidth + after.size() + 4;  // " [", "] "
  if (width < others + kNarrowestBar) return Cut(at + "  " + after, width);
  const size_t bar = width - others;
  const double total = static_cast<double>(std::max<int64_t>(progress.total, 1));
  const double part = std::clamp(static_cast<double>(progress.done) / total, 0.0, 1.0);
  const auto filled = progress.total > 0 ? static_cast<size_t>(part * static_cast<double>(bar)) : 0;
  return fmt::format("{:<{}} [{:#<{}}{:-<{}}] {}", Cut(at, kNameWidth), kNameWidth, "", filled, "",
                     bar - filled, after);
}

std::string TransferText(const job::Progress& progress, double seconds) {
  const double mib = static_cast<double>(progress.done) / (1 << 20);
  const double total = static_cast<double>(progress.total) / (1 << 20);
  const double rate = seconds > 0 ? mib / seconds : 0;
  std::string text = fmt::format("{:.1f}/{:.1f} MiB, {:.1f} MiB/s", mib, total, rate);
  // Earlier, the rate says more about the start than about the rest.
  if (seconds >= 1 && rate > 0 && total > mib) {
    text += fmt::format(", {:.0f} s left", std::ceil((total - mib) / rate));
  }
  return text;
}

ProgressPrinter::Style StyleOf(const Invocation& invocation) {
  if (invocation.quiet || invocation.json) return ProgressPrinter::Style::kNone;
  const Host& host = invocation.host;
  const bool moves = host.err_is_terminal && host.environment("TERM") != "dumb";
  return moves ? ProgressPrinter::Style::kBar : ProgressPrinter::Style::kLines;
}

ProgressPrinter::ProgressPrinter(const Invocation& invocation)
    : host_(invocation.host),
      out_(invocation.host.err),
      style_(StyleOf(invocation)),
      names_passes_(style_ == Style::kBar || invocation.verbose) {}

ProgressPrinter::~ProgressPrinter() {
  if (line_open_) out_ << '\n' << std::flush;
}

void ProgressPrinter::Show(const job::Progress& progress) {
  if (style_ == Style::kNone) return;
  const auto now = Clock::now();
  const bool named = names_passes_ || IsEvent(progress.stage);
  std::string at =
      ForTerminal(fmt::format("{} {}", progress.stage, named ? progress.pass : std::string()));
  while (at.ends_with(' ')) at.pop_back();
  const bool fresh = at != at_;
  if (progress.stage != stage_) {
    stage_ = progress.stage;
    stage_begun_ = now;
  }
  at_ = std::move(at);
  if (style_ == Style::kLines || IsEvent(progress.stage)) {
    if (fresh) ShowLine(progress);
    return;
  }
  const bool complete = progress.total > 0 && progress.done >= progress.total;
  if (!fresh && !complete && now - shown_ < kPause) return;
  shown_ = now;
  ShowBar(progress, now);
}

void ProgressPrinter::ShowLine(const job::Progress& progress) {
  out_ << (std::exchange(line_open_, false) ? "\n" : "") << "octavo: " << LineText(at_, progress)
       << '\n'
       << std::flush;
}

void ProgressPrinter::ShowBar(const job::Progress& progress, Clock::time_point now) {
  const auto since = [&](Clock::time_point begin) {
    return std::chrono::duration<double>(now - begin).count();
  };
  out_ << "\r\033[K"
       << BarText(at_, progress, since(begun_), since(stage_begun_), ScreenWidth(host_))
       << std::flush;
  line_open_ = true;
}

}  // namespace octavo::cli
