// SPDX-License-Identifier: Apache-2.0
#include "tests/peers/onnx_data/trial.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>

#include "core/data/npy.h"
#include "core/float_exec/run.h"
#include "core/ir/output_channels.h"
#include "core/job/job.h"
#include "core/job/load.h"
#include "core/job/prepare.h"
#include "core/onnx/export/export.h"
#include "core/onnx/import/list_inputs.h"
#include "core/onnx/wire/tensor_proto.h"
#include "core/ops/op_table.h"
#include "core/runtime/plan.h"
#include "tests/support/import_folded.h"

namespace octavo::onnx_data {
namespace {

namespace fs = std::filesystem;
using ir::Graph;
using ir::Tensor;
using Tensors = std::vector<Tensor>;

// ONNX's tolerances for floats (onnx.backend.test.runner); all other types must be equal.
constexpr double kRelative = 1e-3;
constexpr double kAbsolute = 1e-7;

Failure Differs(std::string_view how, size_t output, std::string message) {
  return Fail(Code::kInternal, "{}: output {}: {}", how, output, message);
}

bool Close(double is, double must) {
  if (std::isnan(must)) return std::isnan(is);
  if (std::isinf(must)) return is == must;
  return std::abs(is - must) <= kAbsolute + kRelative * std::abs(must);
}

// ONNX's test data stores bfloat16 as its bits, because numpy lacks the type.
Tensors WithBFloat16(Tensors answers, const Graph& graph) {
  for (size_t i = 0; i < std::min(answers.size(), graph.outputs().size()); ++i) {
    if (graph.type(graph.outputs()[i]).dtype != ir::DType::kBF16) continue;
    if (answers[i].dtype() != ir::DType::kU16) continue;
    answers[i] = Tensor(ir::DType::kBF16, answers[i].shape(), answers[i].ToBlob());
  }
  return answers;
}

// ONNX's data truncates floats to bfloat16; its specification (since) rounds them.
bool OneStep(const Tensor& is, const Tensor& must, int64_t i) {
  return std::abs(is.values<uint16_t>()[i] - must.values<uint16_t>()[i]) <= 1;
}

Status Compare(std::string_view how, const Tensors& is, const Tensors& must) {
  if (is.size() != must.size()) {
    return Fail(Code::kInternal, "{}: {} outputs instead of {}", how, is.size(), must.size());
  }
  for (size_t o = 0; o < must.size(); ++o) {
    if (is[o].dtype() != must[o].dtype() || is[o].shape() != must[o].shape()) {
      return Differs(how, o,
                     fmt::format("{} [{}] instead of {} [{}]", Name(is[o].dtype()),
                                 fmt::join(is[o].shape(), ","), Name(must[o].dtype()),
                                 fmt::join(must[o].shape(), ",")));
    }
    for (int64_t i = 0; i < must[o].size(); ++i) {
      const double a = is[o].FloatAt(i), b = must[o].FloatAt(i);
      if (must[o].dtype() == ir::DType::kBF16 && OneStep(is[o], must[o], i)) continue;
      const bool real = ir::IsFloat(must[o].dtype());
      if (real ? Close(a, b) : is[o].IntAt(i) == must[o].IntAt(i)) continue;
      return Differs(how, o, fmt::format("element {} is {} instead of {}", i, a, b));
    }
  }
  return {};
}

// Whether a product of integers dequantizes its sums.  The definition sums dequantized products,
// and rounds each of them.
bool DequantizesSums(const Graph& graph) {
  for (const ir::NodeId id : graph.nodes()) {
    const ir::ProductOperands operands = ir::ProductOperandsOf(graph.node(id));
    if (!operands.data || !graph.type(operands.data).quantized()) continue;
    if (graph.type(graph.node(id).result()).dtype == ir::DType::kF32) return true;
  }
  return false;
}

// Whether floats differ by float rounding alone: by a small part of the largest.
bool DifferByRounding(const Tensor& is, const Tensor& must) {
  constexpr double kRounding = 1e-5;
  if (is.dtype() != ir::DType::kF32 || is.shape() != must.shape()) return false;
  double most = 0, largest = 0;
  for (int64_t i = 0; i < must.size(); ++i) {
    const double difference = std::abs(is.FloatAt(i) - must.FloatAt(i));
    if (!std::isfinite(difference)) return false;
    most = std::max(most, difference);
    largest = std::max(largest, std::abs(must.FloatAt(i)));
  }
  return most <= kRounding * largest;
}

// Runs one graph with the runtime and checks that the definitions give the same bits, but for
// float rounding where a product dequantizes its sums.
Result<Tensors> Run(const Graph& graph, const Tensors& inputs) {
  ThreadPool pool(1);
  OCTAVO_TRY(const runtime::Plan plan, runtime::Plan::Create(graph, {}, pool));
  OCTAVO_TRY(Tensors results, plan.Run(inputs, pool));
  OCTAVO_TRY(float_exec::Session session, float_exec::Session::Create(graph));
  OCTAVO_TRY(const Tensors defined, session.Run(inputs, pool));
  const bool rounds = DequantizesSums(graph);
  for (size_t o = 0; o < results.size(); ++o) {
    // Compare bytes, because NaN does not equal itself.
    const auto a = results[o].raw_bytes(), b = defined[o].raw_bytes();
    if (rounds && DifferByRounding(results[o], defined[o])) continue;
    if (a.size() != b.size() || (!a.empty() && std::memcmp(a.data(), b.data(), a.size()) != 0)) {
      return Differs("runtime", o, "its bits are not those of the definition");
    }
  }
  return results;
}

// The folders "test_data_set_K", in order.
std::vector<fs::path> DataSets(const std::string& folder) {
  std::vector<fs::path> sets;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.is_directory()) sets.push_back(entry.path());
  }
  std::ranges::sort(sets);
  return sets;
}

// "PART_K.pb" or "PART_K.npy" of a set; "" if neither exists.
std::string FileOf(const fs::path& set, std::string_view part, int k) {
  for (const std::string_view suffix : {".pb", ".npy"}) {
    std::string name = fmt::format("{}_{}{}", part, k, suffix);
    if (fs::exists(set / name)) return name;
  }
  return {};
}

Result<Tensors> ReadAnswers(const fs::path& set) {
  Tensors answers;
  for (int i = 0;; ++i) {
    const std::string name = FileOf(set, "output", i);
    if (name.empty()) return answers;
    OCTAVO_TRY(const Blob bytes, Blob::MapFile((set / name).string()));
    OCTAVO_TRY(Tensor tensor,
               name.ends_with(".pb") ? onnx::ParseTensor(bytes) : data::ReadNpy(name, bytes));
    answers.push_back(std::move(tensor));
  }
}

Result<std::vector<job::NamedBlob>> ReadSamples(const fs::path& set) {
  std::vector<job::NamedBlob> samples;
  for (int i = 0;; ++i) {
    const std::string name = FileOf(set, "input", i);
    if (name.empty()) return samples;
    OCTAVO_TRY(Blob bytes, Blob::MapFile((set / name).string()));
    samples.push_back({"0/" + name, std::move(bytes)});
  }
}

// Prepares the graph as before quantization, and writes and reads it: the results must stay.
Status TryRewritten(const Graph& graph, const Tensors& inputs, const Tensors& answers) {
  ThreadPool pool(1);
  Graph prepared = graph;
  OCTAVO_CHECK(job::PrepareFloat(prepared, pool, {}));
  OCTAVO_TRY(const Tensors after, Run(prepared, inputs));
  OCTAVO_CHECK(Compare("prepared", after, answers));
  OCTAVO_TRY(const onnx::Exported exported, onnx::ExportModel(prepared));
  onnx::ImportOptions options{
      .find_op = [](auto name, auto domain) { return ops::FindOp(name, domain); }};
  for (size_t i = 0; i < inputs.size(); ++i) {
    options.sample_shapes[graph.name(graph.inputs()[i])] = inputs[i].shape();
  }
  OCTAVO_TRY(const onnx::Imported again, onnx::ImportModel(Blob(exported.model), options));
  OCTAVO_TRY(const Tensors reread, Run(again.graph, inputs));
  return Compare("exported", reread, answers);
}

// Quantizes with default options: the result must be readable and its integers must equal the
// definitions'.
Status TryOptimized(const job::NamedBlob& model, const std::vector<job::NamedBlob>& samples,
                    const Tensors& inputs) {
  job::Request request{.model = model, .samples = samples};
  request.options.threads = 1;
  request.options.strict_ops = true;
  request.options.allow_non_finite = true;  // the data of IsNaN, IsInf and Cast
  const auto outcome = job::Run(request, {}, {});
  if (!outcome) {
    // In an optimized model, no input may determine a shape.  A graph without floats or without
    // inputs has no profile.
    if (outcome.error().code == Code::kUnimplemented || outcome.error().code == Code::kUsage ||
        outcome.error().reason == "PROFILE_MISMATCH") {
      return {};
    }
    return Fail(Code::kInternal, "optimize: {}", outcome.error().message);
  }
  onnx::ImportOptions options{
      .find_op = [](auto name, auto domain) { return ops::FindOp(name, domain); }};
  OCTAVO_TRY(const std::vector<std::string> names, onnx::ListInputs(outcome->model.bytes));
  for (size_t i = 0; i < std::min(names.size(), inputs.size()); ++i) {
    options.sample_shapes[names[i]] = inputs[i].shape();
  }
  auto again = test::ImportFolded(outcome->model.bytes, options);
  if (!again) return Fail(Code::kInternal, "optimized: {}", again.error().message);
  if (again->graph.inputs().size() != inputs.size()) return {};
  auto results = Run(again->graph, inputs);
  if (!results) return Fail(Code::kInternal, "optimized: {}", results.error().message);
  return {};
}

Status TrySet(const job::NamedBlob& model, const fs::path& set) {
  OCTAVO_TRY(const std::vector<job::NamedBlob> samples, ReadSamples(set));
  const std::vector<job::NamedBlob> no_external;
  OCTAVO_TRY(const job::Loaded loaded,
             job::Load({.model = model,
                        .external_data = no_external,
                        .samples = samples,
                        .deciders = job::LoadRequest::Deciders::kFromSamples}));
  Tensors inputs;
  if (!loaded.samples.batches.empty()) inputs = loaded.samples.batches.Read(0, {}).value();
  OCTAVO_TRY(Tensors answers, ReadAnswers(set));
  answers = WithBFloat16(std::move(answers), loaded.model.graph);
  OCTAVO_TRY(const Tensors results, Run(loaded.model.graph, inputs));
  OCTAVO_CHECK(Compare("run", results, answers));
  OCTAVO_CHECK(TryRewritten(loaded.model.graph, inputs, answers));
  return TryOptimized(model, samples, inputs);
}

Verdict VerdictOf(Code code) {
  if (code == Code::kUnimplemented) return Verdict::kUnsupported;
  return code == Code::kInvalidArgument ? Verdict::kRefused : Verdict::kFailed;
}

}  // namespace

Outcome Try(const Case& entry) {
  auto model = Blob::MapFile(entry.folder + "/model.onnx");
  if (!model) return {Verdict::kFailed, model.error().message};
  const job::NamedBlob named{"model.onnx", std::move(*model)};
  for (const fs::path& set : DataSets(entry.folder)) {
    const Status status = TrySet(named, set);
    if (status) continue;
    return {VerdictOf(status.error().code), status.error().message};
  }
  return {};
}

// ---------------------------------------------------------------- in a child process

Trial::Trial(const Case& entry, int seconds) {
  int ends[2] = {-1, -1};
  if (pipe(ends) != 0) return;
  pid_ = fork();
  if (pid_ != 0) {
    close(ends[1]);
    pipe_ = ends[0];
    return;
  }
  close(ends[0]);
  alarm(static_cast<unsigned>(seconds));
  const Outcome outcome = Try(entry);
  const std::string text = std::to_string(static_cast<int>(outcome.verdict)) + outcome.message;
  const bool written =
      write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
  _exit(written ? 0 : 1);
}

Trial::Trial(Trial&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), pipe_(std::exchange(other.pipe_, -1)) {}

Trial::~Trial() {
  if (pipe_ >= 0) close(pipe_);
  if (pid_ > 0) waitpid(pid_, nullptr, 0);
}

Outcome Trial::Finish() {
  if (pid_ < 0) return {Verdict::kCrashed, "no process could be started"};
  std::string text;
  char buffer[4096];
  for (ssize_t size = 0; (size = read(pipe_, buffer, sizeof(buffer))) > 0;) {
    text.append(buffer, static_cast<size_t>(size));
  }
  int status = 0;
  waitpid(std::exchange(pid_, -1), &status, 0);
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    return {Verdict::kCrashed, signal == SIGALRM ? "took too long" : strsignal(signal)};
  }
  if (text.empty()) return {Verdict::kCrashed, "ended without an answer"};
  return {static_cast<Verdict>(text[0] - '0'), text.substr(1)};
}

}  // namespace octavo::onnx_data
