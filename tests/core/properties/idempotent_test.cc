// SPDX-License-Identifier: Apache-2.0
// A job finds all that it can do: given its own result, with the same options, it changes no byte.
// Results that change are printed by the way they change.  OCTAVO_SEED=N runs that seed alone,
// OCTAVO_GRAPHS=N so many of each case, OCTAVO_SHOW=N shows the smallest graphs found for the
// first N (1).
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <regex>

#include "core/job/job.h"
#include "core/onnx/export/export.h"
#include "core/onnx/wire/onnx.pb.h"
#include "core/passes/pass.h"
#include "core/text/print.h"
#include "tests/core/properties/check_pass.h"
#include "tests/core/properties/qdq_form.h"
#include "tests/core/properties/random_graph.h"
#include "tests/support/sanitized.h"

namespace octavo::test {
namespace {

using ir::Graph;

constexpr uint64_t kGraphs = kSanitized ? 20 : 150;  // of each case, for each limit

// What a job is given: a model, and samples where it is of floats.
struct Source {
  job::NamedBlob model = {};
  std::vector<job::NamedBlob> external_data = {};
  std::vector<job::NamedBlob> samples = {};
};

// As import gives it: constants are rounded.  (A job that was stopped before merge-constants keeps
// its parameters under the limit new-parameters, which a finished one may still change.)
Graph RandomImportedGraph(uint64_t seed) {
  Graph graph = RandomQuantizedGraph(seed);
  ThreadPool pool(1);
  passes::Settings settings{.target = *target::BuiltIn("cpu-int8"), .pool = &pool};
  passes::Findings findings;
  const passes::Pass* pipeline[] = {passes::FindPass("merge-constants")};
  EXPECT_TRUE(passes::RunPipeline(pipeline, {}, settings, graph, findings)) << seed;
  return graph;
}

Source AsText(const Graph& graph) {
  return {.model = {"m.graph", Blob(text::Print(graph, {.literal_elements = 1 << 20}))}};
}

Source Quantized(const Graph& graph, uint64_t) { return AsText(graph); }

Source Float(const Graph& graph, uint64_t) {
  Source source = AsText(graph);
  source.samples = {{"random:7:2", Blob(std::string())}};
  return source;
}

// As another tool writes it.
Source Foreign(const Graph& graph, uint64_t seed) {
  const auto written = onnx::ExportModel(QdqForm(graph, seed));
  if (!written) return {};
  std::string bytes = written->model;
  const size_t producer = bytes.find("\x12\x06octavo");
  bytes.replace(producer + 2, 6, "others");
  return {.model = {"m.onnx", Blob(std::move(bytes))}};
}

// How the second result differs from the first.
enum class Change { kNone, kRefused, kBytes, kNames, kTypes, kOps };
constexpr std::array<std::string_view, 6> kChangeNames = {
    "none", "refused", "bytes alone", "names alone", "types or data", "ops"};

struct Case {
  std::string_view name = {};
  Graph (*draw)(uint64_t seed) = nullptr;
  Source (*source)(const Graph& graph, uint64_t seed) = nullptr;
  EmitForm emit = EmitForm::kQdq;
};
void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }

constexpr Case kCases[] = {
    {"quantized_graphs", &RandomImportedGraph, &Quantized, EmitForm::kQdq},
    {"qdq_models_of_other_tools", &RandomImportedGraph, &Foreign, EmitForm::kQdq},
    {"float_graphs", &RandomFloatGraph, &Float, EmitForm::kQdq},
    {"quantized_graphs_as_text", &RandomImportedGraph, &Quantized, EmitForm::kText},
    {"quantized_graphs_in_qlinear_form", &RandomImportedGraph, &Quantized, EmitForm::kQlinear},
    {"float_graphs_in_qlinear_form", &RandomFloatGraph, &Float, EmitForm::kQlinear},
};
constexpr NumericsLimit kLimits[] = {NumericsLimit::kExact, NumericsLimit::kFewerRoundings,
                                     NumericsLimit::kFewerClamps, NumericsLimit::kNewParameters};

Result<job::Outcome> RunJob(const Case& one, NumericsLimit limit, const Source& source) {
  job::Request request;
  request.model = source.model;
  request.external_data = source.external_data;
  request.samples = source.samples;
  request.options.no_quantize = source.samples.empty();
  request.options.emit = one.emit;
  request.options.numerics_limit = limit;
  request.options.deterministic = true;
  request.options.threads = 1;
  return job::Run(request, {}, {});
}

// One line for each tensor, node and entry of metadata.
std::string InText(const job::Outcome& result) {
  onnx_wire::Model model;
  if (!model.ParseFromString(std::string(result.model.bytes.text()))) {
    return std::string(result.model.bytes.text());  // a graph in text form
  }
  std::string text;
  for (const auto& entry : model.metadata_props()) {
    text += fmt::format("  metadata {} {}\n", entry.key(), entry.value());
  }
  for (const auto& tensor : model.graph().initializer()) {
    text += fmt::format("  const %{} {} {:x}\n", tensor.name(), tensor.data_type(),
                        std::hash<std::string>()(tensor.raw_data()));
  }
  const auto names = [](const auto& list) {
    std::string joined;
    for (const std::string& name : list) joined += (joined.empty() ? "%" : ", %") + name;
    return joined;
  };
  for (const auto& node : model.graph().node()) {
    std::string attributes;
    for (const auto& attribute : node.attribute()) attributes += attribute.SerializeAsString();
    text += fmt::format("  {} = {}@\"{}\"({}) {:x}\n", names(node.output()), node.op_type(),
                        node.name(), names(node.input()), std::hash<std::string>()(attributes));
  }
  return text;
}

// Values by number, in order of appearance, and nodes without names.
std::string WithoutNames(const std::string& text) {
  static const std::regex kName("%[^ ,()\"]+|@\"[^\"]*\"");
  std::map<std::string, size_t> numbers;
  std::string out;
  auto from = text.cbegin();
  for (std::sregex_iterator at(text.begin(), text.end(), kName), end; at != end; ++at) {
    out.append(from, text.cbegin() + at->position());
    from = text.cbegin() + at->position() + at->length();
    if (at->str()[0] == '%') {
      out += fmt::format("%{}", numbers.emplace(at->str(), numbers.size()).first->second);
    }
  }
  return out.append(from, text.cend());
}

// The names of the ops alone.
std::string OpsOf(const std::string& text) {
  static const std::regex kOp("= (\\w+)(@|\\()");
  std::string ops;
  for (std::sregex_iterator at(text.begin(), text.end(), kOp), end; at != end; ++at) {
    ops += at->str(1) + " ";
  }
  return ops;
}

struct Compared {
  Change change = Change::kNone;
  std::string text = {};  // both results
  bool refused = false;   // by the first job
};

// kNone also where the first job refuses the model.
Compared Compare(const Case& one, NumericsLimit limit, const Graph& graph, uint64_t seed) {
  Source source = one.source(graph, seed);
  if (source.model.bytes.empty()) return {};
  const auto first = RunJob(one, limit, source);
  if (!first) return {.refused = true};
  source.model = first->model;
  source.external_data = first->external;
  const auto second = RunJob(one, limit, source);
  if (!second) return {Change::kRefused, second.error().message + "\n"};
  if (first->model.bytes.text() == second->model.bytes.text()) return {};
  const std::string was = InText(*first), is = InText(*second);
  Compared compared{Change::kOps, fmt::format("first:\n{}second:\n{}", was, is)};
  if (OpsOf(was) == OpsOf(is)) compared.change = Change::kTypes;
  if (WithoutNames(was) == WithoutNames(is)) compared.change = Change::kNames;
  if (was == is) compared.change = Change::kBytes;
  return compared;
}

// The smallest graph found whose result changes in that way.
std::string Smallest(const Case& one, NumericsLimit limit, uint64_t seed, Change change) {
  const Graph small = Minimize(one.draw(seed), [&](const Graph& part) -> Status {
    if (Compare(one, limit, part, seed).change != change) return {};
    return Fail(Code::kInternal, "it changes");
  });
  return fmt::format("seed {}, limit {}: {}\n{}{}\n", seed, static_cast<int>(limit),
                     kChangeNames[static_cast<size_t>(change)],
                     text::Print(small, {.literal_elements = 64, .old_names = false}),
                     Compare(one, limit, small, seed).text);
}

int64_t FromEnvironment(const char* name, int64_t fallback) {
  const char* text = std::getenv(name);
  return text ? std::strtoll(text, nullptr, 10) : fallback;
}

class Job : public testing::TestWithParam<Case> {};

TEST_P(Job, LeavesItsOwnResultAsItIs) {
  const int64_t one_seed = FromEnvironment("OCTAVO_SEED", -1);
  const auto begin = static_cast<uint64_t>(std::max<int64_t>(one_seed, 0));
  const auto count = static_cast<uint64_t>(
      one_seed >= 0 ? 1 : FromEnvironment("OCTAVO_GRAPHS", static_cast<int64_t>(kGraphs)));
  int64_t runs = 0, changed = 0, refused = 0;
  std::map<Change, std::string> seeds;
  for (uint64_t seed = begin; seed < begin + count; ++seed) {
    for (const NumericsLimit limit : kLimits) {
      ++runs;
      const Compared compared = Compare(GetParam(), limit, GetParam().draw(seed), seed);
      const Change change = compared.change;
      if (compared.refused) ++refused;
      if (change == Change::kNone) continue;
      ++changed;
      seeds[change] += fmt::format(" {}/{}", seed, static_cast<int>(limit));
      if (changed <= FromEnvironment("OCTAVO_SHOW", 1)) {
        fmt::print("{}", Smallest(GetParam(), limit, seed, change));
      }
    }
  }
  fmt::print("{} of {} results change, {} models are refused\n", changed, runs, refused);
  for (const auto& [change, list] : seeds) {
    fmt::print("{}, {}:{}\n", kChangeNames[static_cast<size_t>(change)],
               std::ranges::count(list, '/'), list);
  }
  EXPECT_EQ(changed, 0) << "of " << runs;
  EXPECT_LE(10 * refused, runs) << "too few results were compared";
}
INSTANTIATE_TEST_SUITE_P(Cases, Job, testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace octavo::test
