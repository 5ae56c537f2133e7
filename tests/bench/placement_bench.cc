// SPDX-License-Identifier: Apache-2.0
// Measures what place-rescales saves compared with single moves, for the networks of
// quantized_nets.h and for the models in the folders given as arguments (model.onnx and samples.npz
// in each).
#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "core/ir/verify.h"
#include "core/job/job.h"
#include "core/options/option_words.h"
#include "core/passes/passes.h"
#include "tests/bench/quantized_nets.h"
#include "tests/bench/timing.h"

namespace octavo::bench {
namespace {

void PrintRow(std::string_view name, const passes::RescaleTotal& before,
              const passes::RescaleTotal& greedy, const passes::RescaleTotal& after) {
  const double gain =
      greedy.elements == 0
          ? 0
          : 100.0 * static_cast<double>(greedy.elements - after.elements) / double(greedy.elements);
  fmt::print("{:<34}{:>9}{:>12}{:>9}{:>12}{:>9}{:>12}{:>8.1f} %\n", name, before.count,
             before.elements, greedy.count, greedy.elements, after.count, after.elements, gain);
}

// Measures moves of Rescales only: `limit` exact forbids rules that fold Rescales into ops.
Status Measure(Net net, passes::Effect limit) {
  OCTAVO_CHECK(ir::Verify(net.graph));
  ThreadPool pool(1);
  const passes::Settings settings{.limit = limit, .pool = &pool};
  passes::Findings findings;
  const passes::Pass* pipeline[] = {passes::FindPass("move-quantize"),
                                    passes::FindPass("absorb-rescales"),
                                    passes::FindPass("place-rescales")};
  const double start = ThreadSeconds();
  OCTAVO_TRY(const std::vector<passes::PassRecord> records,
             passes::RunPipeline(pipeline, {}, settings, net.graph, findings));
  const passes::PlacementFigures& figures = findings.placement;
  PrintRow(fmt::format("{} {}", net.name, limit == passes::Effect::kExact ? "exact" : ""),
           figures.before, figures.greedy, figures.after);
  for (const passes::Warning& warning : findings.warnings) fmt::print("  {}\n", warning.message);
  fmt::print(stderr, "{} ms in {} passes\n", static_cast<int>(1e3 * (ThreadSeconds() - start)),
             records.size());
  return {};
}

Result<Blob> Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Fail(Code::kInvalidArgument, "'{}' cannot be read", path);
  return Blob(std::string(std::istreambuf_iterator<char>(file), {}));
}

// Gives every value its own parameters, as in the networks above.  A job by default shares
// parameters, so step_counts Rescales arise.
Status MeasureModel(const std::string& folder, passes::Effect limit) {
  job::Request request;
  OCTAVO_TRY(request.model.bytes, Read(folder + "/model.onnx"));
  request.model.name = "model.onnx";
  OCTAVO_TRY(Blob samples, Read(folder + "/samples.npz"));
  request.samples.push_back({"samples.npz", std::move(samples)});
  request.options.own_parameters = true;
  request.options.numerics_limit = *FindWord<NumericsLimit>(Name(limit));
  request.options.stop_before = "merge-constants";
  OCTAVO_TRY(const job::Outcome outcome, job::Run(request, {}, {}));
  const auto rescales = nlohmann::json::parse(outcome.report_json).at("rescales");
  const auto total = [&](const char* count, const char* elements) {
    return passes::RescaleTotal{rescales.at(elements), rescales.at(count)};
  };
  const std::string name = folder.substr(folder.find_last_of('/') + 1);
  PrintRow(fmt::format("{} {}", name, Name(limit)), total("before", "elements_before"),
           total("greedy_after", "greedy_elements_after"), total("after", "elements_after"));
  return {};
}

Status Run(const std::vector<std::string>& folders) {
  fmt::print("{:<34}{:>9}{:>12}{:>9}{:>12}{:>9}{:>12}{:>10}\n", "", "before", "elements", "greedy",
             "elements", "placed", "elements", "gain");
  for (const passes::Effect limit : {passes::Effect::kFewerRoundings, passes::Effect::kExact}) {
    for (Net& net : QuantizedNets()) OCTAVO_CHECK(Measure(std::move(net), limit));
  }
  for (const std::string& folder : folders) {
    for (const passes::Effect limit :
         {passes::Effect::kExact, passes::Effect::kFewerRoundings, passes::Effect::kFewerClamps}) {
      OCTAVO_CHECK(MeasureModel(folder, limit));
    }
  }
  return {};
}

}  // namespace
}  // namespace octavo::bench

int main(int argc, char** argv) {
  const octavo::Status done = octavo::bench::Run(std::vector<std::string>(argv + 1, argv + argc));
  if (!done) fmt::print(stderr, "{}\n", done.error().message);
  return done ? 0 : 1;
}
