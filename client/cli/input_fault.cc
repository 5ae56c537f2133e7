// SPDX-License-Identifier: Apache-2.0
#include "client/cli/input_fault.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <string_view>

#include "client/cli/exit_code.h"
#include "core/base/mapped_pages.h"
#include "core/base/utf8.h"

namespace octavo::cli {
namespace {

FaultForm fault_form = FaultForm::kLine;
std::atomic_flag handled = ATOMIC_FLAG_INIT;

// A line of text without allocations; what does not fit is cut.
class Line {
 public:
  void Add(std::string_view text) {
    const size_t part = std::min(text.size(), text_.size() - 1 - size_);
    std::copy_n(text.data(), part, text_.data() + size_);
    size_ += part;
  }
  // The path of a file, as ForTerminal or a JSON text has it.
  void AddPath(std::string_view path, FaultForm form) {
    while (!path.empty()) {
      const size_t size = Utf8Length(path);
      const char first = path.front();
      if (static_cast<unsigned char>(first) < 0x20 || first == 0x7f) {
        AddHex(first, form);
      } else if (form == FaultForm::kJson && size == 0) {
        Add("\xEF\xBF\xBD");  // U+FFFD
      } else {
        if (form == FaultForm::kJson && (first == '"' || first == '\\')) Add("\\");
        Add(path.substr(0, std::max<size_t>(size, 1)));
      }
      path.remove_prefix(std::max<size_t>(size, 1));
    }
  }
  void Print() {
    text_[size_++] = '\n';
    // An error is of no use here: the process ends.
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text_.data(), size_);
  }

 private:
  void AddHex(char c, FaultForm form) {
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    const auto byte = static_cast<unsigned char>(c);
    Add(form == FaultForm::kJson ? "\\u00" : "\\x");
    Add(kDigits.substr(byte >> 4, 1));
    Add(kDigits.substr(byte & 15, 1));
  }

  std::array<char, 16384> text_ = {};
  size_t size_ = 0;
};

void AddMessage(Line& line, std::string_view path, const char* change) {
  line.Add(change != nullptr ? "'" : "cannot read '");
  line.AddPath(path, fault_form);
  line.Add(change != nullptr ? "' changed during the job: " : "': the device reports an error");
  if (change != nullptr) line.Add(change);
}

// Does only what a signal handler may do.
void OnBusError(int, siginfo_t* info, void*) {
  const InputFile* input = InputMappedAt(info->si_addr);
  if (input == nullptr) {
    std::signal(SIGBUS, SIG_DFL);  // the access is repeated and ends the process
    return;
  }
  // Threads may meet the same fault at once.
  if (handled.test_and_set()) {
    for (;;) pause();
  }
  const char* change = ChangeOf(*input);
  Line line;
  if (fault_form == FaultForm::kJson) {
    const Code code = change != nullptr ? Code::kInvalidArgument : Code::kInternal;
    line.Add(R"({"code":")");
    line.Add(CodeName(code));
    line.Add(R"(","field":")");
    line.AddPath(input->path, fault_form);
    line.Add(R"(","message":")");
    AddMessage(line, input->path, change);
    line.Add(R"(","node":null,"reason":")");
    line.Add(change != nullptr ? "INPUT_CHANGED" : "IO");
    line.Add(R"("})");
  } else {
    // A progress bar leaves its line open.
    if (isatty(STDERR_FILENO) == 1) line.Add("\n");
    line.Add("octavo: error: ");
    AddMessage(line, input->path, change);
  }
  line.Print();
  _exit(ExitCodeOf(change != nullptr ? Code::kInvalidArgument : Code::kInternal));
}

}  // namespace

void ReportInputFaults(FaultForm form) {
  fault_form = form;
  struct sigaction action = {};
  action.sa_sigaction = &OnBusError;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGBUS, &action, nullptr);
}

}  // namespace octavo::cli
