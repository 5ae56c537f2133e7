// SPDX-License-Identifier: Apache-2.0
// The stages of a job.  Each is a function from the previous stage's value to its own value:
//
//   Request
//      |  ImportModel  read the model, passes of Phase::kImport; options that need data or a
//      profile |               are refused
//   Imported          graph of the model, samples
//      |  Prepare      passes of Phase::kPrepare
//   Prepared          float graph; a profile refers to the names and ranges of its values
//      |  Calibrate    read the profile, or run the float graph on the samples
//   Profiled          ranges; empty if nothing is quantized
//      |  Quantize     the other passes
//   Quantized         integer graph, and the float graph to compare it with
//      |  Export
//   Exported          bytes of the model, action digest
//      |  Compare      run both graphs on the samples
//   Compared          figures of every value
//
// Calibrate and Compare run different samples where some are held back (sample_sets.h).  With
// --search, the stages Calibrate and Quantize run on some of the samples before, as trials
// (search.h), whose outcome decides options of the job.  So does Quantize where --equalize is auto
// (equalize_trial.h).
//
// `Run` (job.h) runs all of them; `Replay` (replay.h) stops before Export and observes the
// passes one application at a time.
#pragma once

#include <future>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/float_exec/kept_values.h"
#include "core/job/action_digest.h"
#include "core/job/certificate.h"
#include "core/job/float_names.h"
#include "core/job/job.h"
#include "core/job/load.h"
#include "core/job/open_sizes.h"
#include "core/job/report_json.h"
#include "core/job/sample_sets.h"
#include "core/passes/pass.h"
#include "core/profile/collect.h"
#include "core/profile/moments.h"
#include "core/profile/name_match.h"
#include "core/profile/profile.h"
#include "core/report/diff.h"

namespace octavo::job {

// Shared by all stages of one job.
struct JobContext {
  const Request& request;
  const passes::Settings& settings;  // with `pool` and `stop`; its options are resolved
  const Observer& observer;
  CertificateRecorder* certificate = nullptr;  // null: none is requested

  const Options& options() const { return settings.options; }
  void Report(std::string_view stage, int64_t done, int64_t total,
              std::string_view pass = {}) const {
    if (observer) observer({.stage = stage, .pass = pass, .done = done, .total = total});
  }
};

// A graph during the pipeline, and the passes' findings so far.
struct Rewriting {
  ir::Graph graph = {};
  passes::Findings findings = {};
  std::vector<passes::PassRecord> records = {};
  bool stopped = false;                      // --stop-before was reached
  std::vector<NamedBlob> snapshots = {};     // after each pass, if the options request them
  std::set<std::string> snapshot_data = {};  // digests of the constants in the snapshots
  std::vector<FloatName> float_names = {};   // of --keep-float
  onnx::Contract contract = {};              // of the model
  Interface interface = {};                  // of the model
};

// Records a pass that has run on the graph: its snapshot, its record, its step of the certificate
// and the job's progress, which repeated passes do not take beyond its end.
void RecordPass(const JobContext& job, std::string_view stage, const passes::PassRecord& record,
                Rewriting& rewriting);

// Runs the passes of the phases in pipeline order, unless --stop-before was reached.
Status RunPhases(const JobContext& job, std::string_view stage,
                 std::initializer_list<passes::Phase> phases, Rewriting& rewriting);

// Names of a model's values.
using Names = std::set<std::string, std::less<>>;

struct Imported {
  Loaded loaded = {};       // its graph has moved to `rewriting`
  SampleSets samples = {};  // of `loaded`, which has only those of other sizes left
  Names names = {};         // of the model, before any pass
  Rewriting rewriting = {};
};
// kUsage if the options need samples or a profile and the request has none.
Result<Imported> ImportModel(const JobContext& job);

// How the job reads its model and samples.
LoadRequest LoadRequestOf(const JobContext& job);

struct Prepared {
  Rewriting rewriting = {};
  SampleSets samples = {};
  std::vector<data::SampleSource> other_sizes = {};  // samples that calibrate only
  std::shared_future<std::string> digest = {};
  Names model_names = {};
  ModelFigures model = {};       // as imported
  RescaleFigures rescales = {};  // as imported
  bool quantized_model = false;  // it had quantized values at import
  // The names at import: names of a Glow profile may refer to values that passes removed.  Empty
  // without a profile.
  std::optional<profile::NameIndex> names = {};
};
Result<Prepared> Prepare(const JobContext& job, Imported imported);

// Whether Calibrate may keep float values that Compare would otherwise recompute: those of samples
// that also evaluate.
enum class Reuse { kNothing, kFloatValues };

struct Profiled {
  Prepared prepared = {};
  std::optional<profile::Profile> profile = {};
  ProfileFigures figures = {};
  int64_t other_samples = 0;  // those of `prepared.other_sizes`
  float_exec::KeptValues kept = {};
  // Of the calibrated graph's layers; null unless samples calibrate and --rounding asks for them.
  std::shared_ptr<profile::MomentSource> moments = {};
  // Of the calibration batches, and the moments of the even ones; where --equalize auto may try
  // what it gains.
  std::optional<profile::Halves> halves = {};
  std::shared_ptr<profile::MomentSource> even_moments = {};
};
Result<Profiled> Calibrate(const JobContext& job, Prepared prepared, Reuse reuse);

struct Quantized {
  Rewriting rewriting = {};
  ir::Graph float_graph = {};  // just before quantization
  SampleSets samples = {};
  std::shared_future<std::string> digest = {};
  Names model_names = {};
  ModelFigures before = {}, after = {};
  RescaleFigures rescales_before = {}, rescales_after = {};
  bool quantized_model = false;
  std::optional<profile::Profile> profile = {};
  ProfileFigures profile_figures = {};
  int64_t other_samples = 0;  // of other sizes, which calibrated only
  // Those that chose the ranges; 0 where a profile did, or nothing had to.
  int64_t calibration_samples() const { return samples.calibration.count + other_samples; }
  float_exec::KeptValues kept = {};  // of `float_graph` on samples that calibrate and evaluate
  std::optional<v1::AccuracyBudget> budget = {};  // of --accuracy-budget
};
// With --accuracy-budget, the other passes run several times.
Result<Quantized> Quantize(const JobContext& job, Profiled profiled);
// Without a budget, and with 16-bit integers for the values of the names `wide` as well.
Result<Quantized> QuantizeOnce(const JobContext& job, Profiled profiled,
                               const std::vector<std::string>& wide);

struct Exported {
  NamedBlob model = {};
  std::vector<NamedBlob> external = {};
  int64_t bytes = 0;     // of all of them
  Options options = {};  // the options that the bytes depend on
  std::string action_digest = {};
  std::vector<DeclaredInput> inputs = {};
  // Entries of an ONNX model's metadata that say how it came about.
  std::map<std::string, std::string> stamp = {};
  std::vector<passes::Warning> warnings = {};
};
// What an ONNX model has in addition to its graph: the contract of its source model, and entries
// of metadata that replace the graph's.
struct ModelNotes {
  onnx::Contract contract = {};
  std::map<std::string, std::string> metadata = {};
  const onnx::OpenSizes* open = nullptr;  // of an ONNX model
};
// The graph in the form that `exported.options` names.
Status WriteGraph(const ir::Graph& graph, const Request& request, Exported& exported,
                  const ModelNotes& notes = {});
// The same with the sizes of `open`, which become fixed if the ONNX operators of a node depend on
// them.  `graph` is the graph of the job's own sizes.
Status WriteOpenGraph(const ir::Graph& graph, const Request& request, const Interface& interface,
                      OpenModel& open, Exported& exported, ModelNotes notes);
bool IsOnnx(EmitForm form);
Result<Exported> Export(const JobContext& job, const Quantized& quantized);

struct Compared {
  std::optional<report::DiffResult> figures = {};  // empty: no baseline to compare with
  int64_t samples = 0;
  std::string samples_source = {};
  std::string samples_role = {};
  std::optional<ErrorShares> shares = {};  // with --advise
  std::vector<passes::Warning> warnings = {};
};
Result<Compared> Compare(const JobContext& job, const Quantized& quantized);

}  // namespace octavo::job
