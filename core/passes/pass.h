// A pass is a row {name, promise, laws, run}; a pipeline is a list of rows, each with the reason
// why it stands there.  The runner verifies the graph after every pass, times it, records it, can
// stop before one, and checks the deadline: passes do none of that.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/parallel.h"
#include "core/base/stop_token.h"
#include "core/ir/graph.h"
#include "core/passes/ledger.h"
#include "core/profile/profile.h"
#include "core/target/target.h"

namespace octavo::passes {

// A node of reals that stays float, and why.
struct FloatNode {
  std::string node = {}, op = {}, reason = {};
};
struct Warning {
  std::string code = {}, message = {}, node = {};
};

// What a job asks of the passes.
struct Settings {
  target::Target target = {};
  Effect limit = Effect::kFewerRoundings;
  std::string calibration = "minmax";
  std::vector<std::string> keep_float = {};
  std::vector<std::string> weights_only = {};  // named alike: float, but for their weights
  bool no_quantize = false;
  bool integer_io = false;
  bool sink_quantize = false;
  bool leave_integers = false;
  bool own_parameters = false;    // values that an op keeps in one type share none
  int64_t fold_budget = 4 << 20;  // bytes
  const profile::Profile* profile = nullptr;
  ThreadPool* pool = nullptr;  // never null
  StopToken stop = {};
  // Called where a pass has applied a law and the graph is whole, for who measures each; at the
  // least at the end of every pass.
  std::function<void(const ir::Graph&)> checkpoint = {};
};

// Rescales and the elements that they convert; fewer elements are less, then fewer Rescales.
struct RescaleTotal {
  int64_t elements = 0;
  int64_t count = 0;

  auto operator<=>(const RescaleTotal&) const = default;
};

// What place-rescales was given, what it left, and what single moves would have left instead.
struct PlacementFigures {
  RescaleTotal before = {}, after = {}, greedy = {};
};

// What the passes say about the job, beside the graph.
struct Findings {
  std::vector<LedgerEntry> ledger = {};
  std::vector<Kept> kept = {};
  // Why a node (by name) of reals stays float; the report lists those that are left at the end.
  std::map<std::string, std::string, std::less<>> float_reasons = {};
  std::vector<Warning> warnings = {};
  // Ranges of values that lowering made, which no profile can know.
  std::map<std::string, ir::Range, std::less<>> derived_ranges = {};
  std::vector<std::string> missing_values = {};
  PlacementFigures placement = {};
  int64_t ranges_from_payload = 0;
  int64_t folded_bytes = 0;  // growth of constants so far, against the fold budget
};

// Handed to a pass: the settings, and the ways to report what it does.
class Context {
 public:
  Context(const Settings& settings, Findings& findings, std::string_view pass)
      : settings_(settings), findings_(findings), pass_(pass) {}

  const Settings& settings() const { return settings_; }
  Findings& findings() { return findings_; }
  const Findings& findings() const { return findings_; }
  // Whether the job's limit allows the effect.
  bool Allows(Effect effect) const;
  // Records an application of a rule of this pass.
  void Applied(const Rule& rule, std::string_view node, std::vector<std::string> values = {});
  // The same where the effect depends on the instance (fewer roundings, or fewer clamps).
  void Applied(const Rule& rule, Effect effect, std::string_view node,
               std::vector<std::string> values = {});
  // The graph is whole between two applications.
  void Checkpoint(const ir::Graph& graph) const {
    if (settings_.checkpoint) settings_.checkpoint(graph);
  }
  void Keep(std::string_view node, std::string reason);
  void KeepFloat(std::string_view node, std::string reason);
  void Warn(std::string_view code, std::string message, std::string_view node = {});
  int64_t applications() const { return applications_; }

 private:
  const Settings& settings_;
  Findings& findings_;
  std::string_view pass_;
  int64_t applications_ = 0;
};

struct Pass {
  std::string_view name = {};
  std::string_view promise = {};  // what holds after it
  std::span<const Rule> rules = {};
  Status (*run)(ir::Graph& graph, Context& context) = nullptr;
};

// All passes in pipeline order.
std::span<const Pass* const> AllPasses();
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
  std::vector<std::string> only = {};  // empty: all
  // Called after each pass, with the graph as it then is.
  std::function<void(const PassRecord&, const ir::Graph&)> after_pass = {};
};

// Runs the passes of `pipeline` on the graph.  An invariant that a pass breaks is kInternal
// naming the pass.
Result<std::vector<PassRecord>> RunPipeline(std::span<const Pass* const> pipeline,
                                            const RunOptions& options, const Settings& settings,
                                            ir::Graph& graph, Findings& findings);

}  // namespace octavo::passes
