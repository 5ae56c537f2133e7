// SPDX-License-Identifier: Apache-2.0
#include "client/cli/progress_printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "client/cli/terminal_text.h"

namespace octavo::cli {
namespace {

constexpr int kBarWidth = 30;
constexpr auto kPause = std::chrono::milliseconds(100);

bool CountsBytes(std::string_view stage) { return stage == "upload" || stage == "download"; }

std::string Counts(const job::Progress& progress, double seconds) {
  if (!CountsBytes(progress.stage)) {
    return progress.total > 0 ? fmt::format("{}/{}", progress.done, progress.total) : std::string();
  }
  return TransferText(progress, seconds);
}

}  // namespace

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
  return invocation.host.err_is_terminal ? ProgressPrinter::Style::kBar
                                         : ProgressPrinter::Style::kLines;
}

ProgressPrinter::~ProgressPrinter() {
  if (line_open_) out_ << '\n' << std::flush;
}

void ProgressPrinter::Show(const job::Progress& progress) {
  if (style_ == Style::kNone) return;
  const auto now = Clock::now();
  std::string at = ForTerminal(fmt::format("{} {}", progress.stage, progress.pass));
  while (at.ends_with(' ')) at.pop_back();
  const bool fresh = at != at_;
  if (progress.stage != stage_) {
    stage_ = progress.stage;
    stage_begun_ = now;
  }
  at_ = std::move(at);
  if (style_ == Style::kLines || progress.stage == "retry") {
    if (fresh) ShowLine(progress);
    return;
  }
  const bool complete = progress.total > 0 && progress.done >= progress.total;
  if (!fresh && !complete && now - shown_ < kPause) return;
  shown_ = now;
  ShowBar(progress, now);
}

void ProgressPrinter::ShowLine(const job::Progress& progress) {
  out_ << (std::exchange(line_open_, false) ? "\n" : "") << "octavo: " << at_;
  if (CountsBytes(progress.stage)) out_ << fmt::format(" of {} bytes", progress.total);
  out_ << '\n' << std::flush;
}

void ProgressPrinter::ShowBar(const job::Progress& progress, Clock::time_point now) {
  const double seconds = std::chrono::duration<double>(now - stage_begun_).count();
  const double part =
      progress.total > 0
          ? std::clamp(static_cast<double>(progress.done) / static_cast<double>(progress.total),
                       0.0, 1.0)
          : 0;
  const int filled = static_cast<int>(part * kBarWidth);
  out_ << fmt::format("\r\033[K{:<28} [{:#<{}}{:-<{}}] {}", at_, "", filled, "", kBarWidth - filled,
                      Counts(progress, seconds))
       << std::flush;
  line_open_ = true;
}

}  // namespace octavo::cli
