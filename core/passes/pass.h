// SPDX-License-Identifier: Apache-2.0
// A pass is a row {name, postcondition, rules, run}; the pipeline is a list of rows, each with the
// reason for its position.  The runner verifies the graph after every pass, measures and records
// it, can stop before a pass, and checks the deadline; passes do none of that.
#pragma once

#include <functional>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/parallel.h"
#include "core/base/stop_token.h"
#include "core/ir/graph.h"
#include "core/ir/warning.h"
#include "core/options/options.h"
#include "core/passes/ledger.h"
#include "core/passes/weight_rounding.h"
#include "core/profile/profile.h"
#include "core/target/target.h"

namespace octavo::profile {
class MomentSource;
}

namespace octavo::passes {

// A node that stays float, and the reason.
struct FloatNode {
  std::string node = {}, op = {}, reason = {};
};
using Warning = ir::Warning;

// The settings of a job that passes need.
struct Settings {
  target::Target target = {};
  Effect limit = Effect::kFewerRoundings;  // the strongest effect that a rule may have
  // As set by the user; options that change the target have already been applied to `target`.
  Options options = {};
  const profile::Profile* profile = nullptr;
  profile::MomentSource* moments = nullptr;  // of the layers' operands; null: there are none
  ThreadPool* pool = nullptr;                // never null
  StopToken stop = {};
  // Called between applications of rules, when the graph is valid, to measure each of them; also at
  // the end of every pass.
  std::function<void(const ir::Graph&)> checkpoint = {};
};

// Rescales and the number of elements that they convert; totals compare by elements, then by count.
struct RescaleTotal {
  int64_t elements = 0;
  int64_t count = 0;

  auto operator<=>(const RescaleTotal&) const = default;
};

// Rescales before and after place-rescales, and after greedy placement alone.
struct PlacementFigures {
  RescaleTotal before = {}, after = {}, greedy = {};
};

// What the pass equalize divided.
struct Division {
  // Of layers, by the names of their nodes: the divisor of each channel of the operand.
  std::map<std::string, std::vector<float>, std::less<>> layers = {};
  // Of divided values, by their new names: the old name, and the range where it is known.
  std::map<std::string, std::string, std::less<>> names = {};
  std::map<std::string, ir::Range, std::less<>> ranges = {};
  // Whether these ranges are what calibration of the new graph would measure.
  bool measured = true;
};

// The passes' output in addition to the graph.
struct Findings {
  std::vector<LedgerEntry> ledger = {};
  std::vector<Kept> kept = {};
  // Why a node (by name) stays float; the report lists those that are still float at the end.
  std::map<std::string, std::string, std::less<>> float_reasons = {};
  std::vector<Warning> warnings = {};
  // Ranges of values that lowering created; a profile cannot contain them.
  std::map<std::string, ir::Range, std::less<>> derived_ranges = {};
  std::vector<std::string> missing_values = {};
  PlacementFigures placement = {};
  Division division = {};
  std::vector<WeightRounding> weights = {};
  int64_t ranges_from_payload = 0;
  int64_t folded_bytes = 0;  // growth of constants so far, against the fold budget
};

// A pass's access to the settings, and functions to report what it does.
class Context {
 public:
  Context(const Settings& settings, Findings& findings, std::string_view pass)
      : settings_(settings), findings_(findings), pass_(pass) {}

  const Settings& settings() const { return settings_; }
  Findings& findings() { return findings_; }
  const Findings& findings() const { return findings_; }
  // Whether the job's limit allows the numeric effect.
  bool Allows(Effect effect) const;
  // Records one application of a rule of this pass.
  void Applied(const Rule& rule, std::string_view node, std::vector<std::string> values = {});
  // The same if the effect depends on the instance (fewer-roundings or fewer-clamps).
  void Applied(const Rule& rule, Effect effect, std::string_view node,
               std::vector<std::string> values = {});
  // Call this between two applications, when the graph is valid.
  void Checkpoint(const ir::Graph& graph) const {
    if (settings_.checkpoint) settings_.checkpoint(graph);
  }
  // Records why a rule does not apply to the node.
  void Keep(std::string_view node, std::string reason);
  void KeepFloat(std::string_view node, std::string reason);
  void Warn(ir::WarningCode code, std::string message, std::string_view node = {});
  int64_t applications() const { return applications_; }

 private:
  const Settings& settings_;
  Findings& findings_;
  std::string_view pass_;
  int64_t applications_ = 0;
};

// The phases of the pipeline, in order.  A job does other work between some of them.
enum class Phase {
  kImport,    // part of reading a model: always runs, cannot be skipped
  kPrepare,   // float graph, independent of the target; `octavo profile` runs these too
  kLower,     // float graph: the target's choice of ops
  kEqualize,  // float graph: other ranges, for which samples calibrate again
  kQuantize,  // values get integer types
  kOptimize,  // rewrites of the integer graph
  kRound,     // weights, at their final scales
  kFinish,    // biases and constants get their final values; required before running
};

struct Pass {
  std::string_view name = {};
  Phase phase = Phase::kOptimize;
  std::string_view postcondition = {};
  std::span<const Rule> rules = {};         // defined by this pass; each id is `NAME/RULE`
  std::span<const Rule> also_applies = {};  // rules of other passes
  Status (*run)(ir::Graph& graph, Context& context) = nullptr;
};

// All passes in pipeline order.
std::span<const Pass* const> AllPasses();
// The passes of the given phases, in pipeline order.
std::vector<const Pass*> PassesOf(std::initializer_list<Phase> phases);
const Pass* FindPass(std::string_view name);

struct PassRecord {
  std::string name = {};
  double seconds = 0;
  int64_t changed = 0;
  int64_t nodes_after = 0;
};

struct RunOptions {
  std::string_view stop_before = {};
  std::vector<std::string> skip = {};
  std::vector<std::string> only = {};  // empty: all; passes of Phase::kImport need not be listed
  // Called after each pass with the graph.
  std::function<void(const PassRecord&, const ir::Graph&)> after_pass = {};
};

// kUsage for an unknown pass name and for a pass that cannot be skipped.
Status CheckRunOptions(const RunOptions& options);

// Runs the passes of `pipeline` on the graph.  If a pass breaks an invariant, returns kInternal
// with the pass's name.
Result<std::vector<PassRecord>> RunPipeline(std::span<const Pass* const> pipeline,
                                            const RunOptions& options, const Settings& settings,
                                            ir::Graph& graph, Findings& findings);

}  // namespace octavo::passes
