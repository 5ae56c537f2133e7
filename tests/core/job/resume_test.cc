// SPDX-License-Identifier: Apache-2.0
// What a second job makes of a first one's result, on random graphs.  Where the first one stopped
// before a pass, the second one finishes it: together they give the bytes of one job, for every
// pass and every form of the result between.  Names stay those of the model.  OCTAVO_SEED=N runs
// that seed alone, OCTAVO_GRAPHS=N so many.
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>

#include "core/job/job.h"
#include "core/onnx/wire/onnx.pb.h"
#include "core/text/print.h"
#include "tests/core/job/without_stamp.h"
#include "tests/core/properties/dice.h"
#include "tests/core/properties/random_graph.h"
#include "tests/support/sanitized.h"

namespace octavo::job {
namespace {

constexpr uint64_t kGraphs = test::kSanitized ? 5 : 60;

struct Stop {
  std::string_view pass = {};
  bool quantized = true;  // whether the second job gets integers
};
constexpr Stop kStops[] = {{"lower", false},    {"quantize", false}, {"move-quantize"},
                           {"absorb-rescales"}, {"place-rescales"},  {"fuse-activations"},
                           {"remove-noops"},    {"specialize-bias"}, {"merge-constants"}};
constexpr EmitForm kForms[] = {EmitForm::kQdq, EmitForm::kNative, EmitForm::kText};

Request JobOf(uint64_t seed) {
  test::Dice dice(seed ^ 0x4e5u);
  const ir::Graph graph = test::RandomFloatGraph(seed);
  const std::string text = text::Print(graph, {.literal_elements = 4096, .old_names = false});
  Request request{.model = {"net.graph", Blob(text)}};
  request.samples = {{"random:7:2", Blob(std::string())}};
  request.options.threads = 1;
  // The moments of the first job's calibration are not in its result.
  request.options.rounding = Rounding::kNearest;
  request.options.deterministic = true;
  static const std::vector<NumericsLimit> kLimits = {
      NumericsLimit::kExact, NumericsLimit::kFewerRoundings, NumericsLimit::kFewerRoundings,
      NumericsLimit::kFewerClamps};
  request.options.numerics_limit = dice.Pick(kLimits);
  return request;
}

// The bytes of the finished model, whose jobs are not the same action; an error names the job that
// failed.
Result<std::string> Resumed(const Request& request, const Stop& stop, EmitForm form) {
  Request first = request;
  first.options.stop_before = stop.pass;
  first.options.emit = form;
  OCTAVO_TRY(Outcome half, job::Run(first, {}, {}));
  Request second = request;
  second.model = std::move(half.model);
  second.external_data = std::move(half.external);
  if (stop.quantized) {
    second.options.no_quantize = true;
    second.samples.clear();
  }
  OCTAVO_TRY(const Outcome whole, job::Run(second, {}, {}));
  return WithoutStamp(whole.model.bytes);
}

struct Count {
  int64_t differ = 0, all = 0;
};

void CheckSeed(uint64_t seed, Count& count) {
  const Request request = JobOf(seed);
  const auto whole = job::Run(request, {}, {});
  ASSERT_TRUE(whole) << "seed " << seed << ": " << whole.error().message;
  for (const Stop& stop : kStops) {
    for (const EmitForm form : kForms) {
      ++count.all;
      const auto again = Resumed(request, stop, form);
      if (again && *again == WithoutStamp(whole->model.bytes)) continue;
      if (++count.differ > 3) continue;
      ADD_FAILURE() << "seed " << seed << ", stopped before " << stop.pass << " as form "
                    << static_cast<int>(form) << ": "
                    << (again ? "other bytes" : again.error().message) << "\n"
                    << request.model.bytes.text();
    }
  }
}

TEST(Resume, GivesTheBytesOfOneJob) {
  Count count;
  if (const char* seed = std::getenv("OCTAVO_SEED")) {
    return CheckSeed(std::strtoull(seed, nullptr, 10), count);
  }
  const char* graphs = std::getenv("OCTAVO_GRAPHS");
  const uint64_t seeds = graphs ? std::strtoull(graphs, nullptr, 10) : kGraphs;
  for (uint64_t seed = 0; seed < seeds; ++seed) CheckSeed(seed, count);
  EXPECT_EQ(count.differ, 0) << "of " << count.all << " resumed jobs";
}

// ------------------------------------------------------------ names

std::set<std::string> NamesOf(const Blob& model) {
  onnx_wire::Model message;
  EXPECT_TRUE(message.ParseFromString(std::string(model.text())));
  std::set<std::string> names;
  for (const auto& each : message.graph().initializer()) names.insert(each.name());
  for (const auto& node : message.graph().node()) {
    names.insert(node.output().begin(), node.output().end());
  }
  return names;
}

TEST(RoundTrip, AppendsNothingToNames) {
  int64_t grown = 0, all = 0;
  for (uint64_t seed = 0; seed < kGraphs; ++seed) {
    const Request request = JobOf(seed);
    auto first = job::Run(request, {}, {});
    ASSERT_TRUE(first) << "seed " << seed << ": " << first.error().message;
    Request again = request;
    again.model = first->model;
    again.samples.clear();
    again.options.no_quantize = true;
    const auto second = job::Run(again, {}, {});
    ASSERT_TRUE(second) << "seed " << seed << ": " << second.error().message;
    const std::set<std::string> old = NamesOf(first->model.bytes);
    for (const std::string& name : NamesOf(second->model.bytes)) {
      ++all;
      if (old.contains(name)) continue;
      if (++grown <= 3) ADD_FAILURE() << "seed " << seed << ": new name " << name;
    }
  }
  EXPECT_EQ(grown, 0) << "of " << all << " names";
}

TEST(Report, ComparesOnlyValuesOfTheModel) {
  constexpr std::string_view kScaled = ".equalized";
  int64_t strange = 0, all = 0;
  for (uint64_t seed = 0; seed < kGraphs; ++seed) {
    const ir::Graph graph = test::RandomFloatGraph(seed);
    const auto outcome = job::Run(JobOf(seed), {}, {});
    ASSERT_TRUE(outcome) << "seed " << seed << ": " << outcome.error().message;
    const auto report = nlohmann::json::parse(outcome->report_json);
    for (const auto& value : report["numerics"]["values"]) {
      ++all;
      std::string name = value["name"];
      // A scaled value stands for the model's.
      if (name.ends_with(kScaled)) name.resize(name.size() - kScaled.size());
      if (graph.Find(name)) continue;
      if (++strange <= 3) ADD_FAILURE() << "seed " << seed << ": value " << name;
    }
  }
  EXPECT_EQ(strange, 0) << "of " << all << " values";
}

}  // namespace
}  // namespace octavo::job
