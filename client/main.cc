// SPDX-License-Identifier: Apache-2.0
// octavo: the command line.  Connects the core to the program.
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <iostream>

#include "client/cli/external_files.h"
#include "client/cli/input_fault.h"
#include "client/cli/program.h"
#include "core/base/revision.h"
#include "core/base/version.h"
#include "core/job/execute.h"
#include "core/job/model_form.h"
#include "core/onnx/wire/external_data.h"
#include "core/report/json/parse.h"
#include "core/report/render_html.h"

namespace {

using namespace octavo;

// Signals come before main, too: loading the libraries takes longer than many a job.  The handler
// does only relaxed stores and needs nothing that is constructed.
constinit std::atomic<bool> signalled = false;
constinit std::atomic<const StopToken*> stopped_by_signals = nullptr;

void OnSignal(int) {
  signalled.store(true, std::memory_order_relaxed);
  const StopToken* stop = stopped_by_signals.load(std::memory_order_relaxed);
  if (stop != nullptr) stop->RequestStop();
}

void HandleSignals(int, char**, char**) {
  std::signal(SIGINT, &OnSignal);
  std::signal(SIGTERM, &OnSignal);
  std::signal(SIGXFSZ, SIG_IGN);  // a file beyond the limit is an error of write()
}

// Called before the constructors of all libraries.
[[gnu::section(".preinit_array"), gnu::used]] void (*const handle_signals)(int, char**,
                                                                           char**) = &HandleSignals;

// The token that SIGINT and SIGTERM stop, whenever they came.
const StopToken& Stop() {
  static const StopToken stop;
  stopped_by_signals.store(&stop, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (signalled.load(std::memory_order_relaxed)) stop.RequestStop();
  return stop;
}

std::optional<std::string> Environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr) return std::nullopt;
  return value;
}

size_t TerminalColumns() {
  for (const int descriptor : {STDERR_FILENO, STDOUT_FILENO}) {
    winsize size = {};
    if (ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  }
  return 0;
}

Result<std::vector<cli::ExternalFile>> ListExternal(const job::NamedBlob& model) {
  const job::ModelForm form = job::FormOf(model);
  if (form == job::ModelForm::kText) return cli::PayloadFiles(model);
  if (form == job::ModelForm::kNative) return std::vector<cli::ExternalFile>{};
  OCTAVO_TRY(const auto locations, onnx::ListExternalData(model.bytes));
  std::vector<cli::ExternalFile> files;
  for (const std::string& location : locations) files.push_back({location, location});
  return files;
}

Result<std::string> RenderHtml(std::string_view report_json) {
  OCTAVO_TRY(const v1::Report report,
             report::ParseReport(report_json, report::UnknownKeys::kIgnore));
  return report::RenderHtml(report);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  // Known before the arguments are parsed, as for an error in them.
  const bool json = std::find(args.begin(), args.end(), "--json") != args.end();
  cli::ReportInputFaults(json ? cli::FaultForm::kJson : cli::FaultForm::kLine);
  return cli::RunProgram(args, {.out = std::cout,
                                .err = std::cerr,
                                .err_is_terminal = isatty(STDERR_FILENO) == 1,
                                .terminal_columns = &TerminalColumns,
                                .environment = &Environment,
                                .stop = Stop(),
                                .version = VersionText(Revision()),
                                .run_job = &job::Run,
                                .add_by_rule = &job::AddByRule,
                                .list_external = &ListExternal,
                                .render_html = &RenderHtml});
}
