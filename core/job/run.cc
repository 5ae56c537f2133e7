// The stages of a job in order; each is a member of Job.
#include <algorithm>
#include <set>

#include "core/base/mapped_pages.h"
#include "core/base/sha256.h"
#include "core/job/facts.h"
#include "core/job/load.h"
#include "core/job/prepare.h"
#include "core/job/report_json.h"
#include "core/job/settings.h"
#include "core/job/survey.h"
#include "core/job/synthetic.h"
#include "core/native/native.h"
#include "core/onnx/export.h"
#include "core/profile/collect.h"
#include "core/profile/name_match.h"
#include "core/text/print.h"

namespace octavo::job {
namespace {

using ir::Graph;

constexpr std::string_view kFirstIntegerPass = "quantize";
constexpr int64_t kSyntheticSamples = 8;

// A result that nobody reads before the job ends: out of memory if it is large.
Blob Aside(std::string bytes) {
  if (bytes.size() < kWorthReleasing) return Blob(std::move(bytes));
  Blob copy = CopyToFile(std::as_bytes(std::span(bytes)));
  ReleasePages(copy.bytes());
  return copy;
}

class Job {
 public:
  Job(const Request& request, const StopToken& stop, const Observer& observer)
      : request_(request),
        options_(request.options),
        stop_(stop),
        observer_(observer),
        pool_(request.options.threads) {}

  Result<Outcome> Run() {
    OCTAVO_TRY(settings_, SettingsOf(request_));
    settings_.pool = &pool_;
    settings_.stop = stop_;
    OCTAVO_CHECK(Import());
    OCTAVO_CHECK(Prepare());
    OCTAVO_CHECK(MakeProfile());
    OCTAVO_CHECK(Rewrite());
    OCTAVO_CHECK(Export());
    OCTAVO_CHECK(Compare());
    CheckGates();
    outcome_.report_json = ReportJson(options_, settings_, findings_);
    outcome_.facts = FactsOf(findings_);
    return std::move(outcome_);
  }

 private:
  void Report(std::string_view stage, int64_t done, int64_t total, std::string_view pass = {}) {
    if (observer_) observer_({.stage = stage, .pass = pass, .done = done, .total = total});
  }
  void Warn(std::string_view code, std::string message) {
    findings_.rewrites.warnings.push_back(
        {.code = std::string(code), .message = std::move(message), .node = {}});
  }

  Status Import() {
    Report("import", 0, 1);
    OCTAVO_CHECK(stop_.Check());
    OCTAVO_TRY(Loaded loaded, Load({.model = request_.model,
                                    .external_data = request_.external_data,
                                    .samples = request_.samples,
                                    .shape = options_.shape,
                                    .batch = options_.batch,
                                    .target = &settings_.target,
                                    .limits = request_.limits}));
    graph_ = std::move(loaded.model.graph);
    samples_ = std::move(loaded.samples);
    digest_ = loaded.digest;
    findings_.before = {
        .nodes = loaded.model.nodes, .ops = loaded.model.ops, .bytes = loaded.model.bytes};
    RecordImport(loaded.model, findings_.rewrites);
    quantized_model_ = HasQuantizedValues(graph_);
    const bool wants_profile = !options_.no_quantize && !quantized_model_ && ComputesReals(graph_);
    if (wants_profile && !request_.profile && samples_.batches.empty()) {
      return Fail(Code::kUsage, "a float model needs --data or --profile to be quantized")
          .Field("data");
    }
    if (Gated() && samples_.batches.empty()) {
      return Fail(Code::kUsage, "--require-sqnr and --require-cosine need --data")
          .Field(options_.require_sqnr > 0 ? "require_sqnr" : "require_cosine");
    }
    Report("import", 1, 1);
    return {};
  }

  bool Gated() const { return options_.require_sqnr > 0 || options_.require_cosine > 0; }

  // Runs the passes from `first` (or the beginning) up to `end` (or the last).
  Status RunPasses(std::string_view stage, std::string_view first, std::string_view end) {
    const std::vector<const passes::Pass*> part = PassesBetween(first, end);
    if (stopped_) return {};
    passes::RunOptions run{
        .stop_before = options_.stop_before, .skip = options_.skip, .only = options_.passes};
    run.after_pass = [&](const passes::PassRecord& record, const Graph& graph) {
      ++passes_done_;
      Report(stage, passes_done_, static_cast<int64_t>(passes::AllPasses().size()), record.name);
      if (record.name == kFirstIntegerPass) findings_.rescales_before = CountRescales(graph);
      if (options_.snapshots) Snapshot(record.name, graph);
    };
    OCTAVO_TRY(const std::vector<passes::PassRecord> records,
               passes::RunPipeline(part, run, settings_, graph_, findings_.rewrites));
    findings_.passes.insert(findings_.passes.end(), records.begin(), records.end());
    for (const passes::Pass* pass : part) stopped_ |= pass->name == options_.stop_before;
    changed_ = std::ranges::any_of(records, &passes::PassRecord::changed);
    return {};
  }

  void Snapshot(const std::string& pass, const Graph& graph) {
    const text::PrintOptions print{
        .payload = [&](const std::string& digest, const ir::Tensor& tensor) {
          if (!snapshot_payloads_.insert(digest).second) return;
          outcome_.snapshots.push_back({"data/" + digest, tensor.ToBlob()});
        }};
    outcome_.snapshots.push_back(
        {fmt::format("{:02}-{}.graph", passes_done_, pass), Blob(text::Print(graph, print))});
  }

  Status Prepare() {
    Report("prepare", 0, 1);
    if (request_.profile) names_.emplace(graph_);
    findings_.rescales_before = CountRescales(graph_);
    return RunPasses("prepare", {}, kFirstTargetPass);
  }

  Status MakeProfile() {
    const bool quantizes = !options_.no_quantize && !quantized_model_;
    const bool wanted = quantizes && ComputesReals(graph_);
    if (quantizes && !wanted) {
      Warn("nothing_to_quantize",
           "no value of the model is float32, which is what is quantized: only laws that hold for "
           "its types were applied");
    }
    std::vector<std::string> unmatched;  // Glow's names that mean no value
    if (request_.profile) {
      OCTAVO_TRY(profile_, profile::Parse(request_.profile->bytes.text()));
      OCTAVO_CHECK(CheckProfile());
      if (profile_->glow_names) {
        profile::NameIndex::Matched matched = names_->Match(*profile_);
        profile_ = std::move(matched.profile);
        unmatched = std::move(matched.unmatched);
      }
    } else if (!samples_.batches.empty() && wanted) {
      OCTAVO_TRY(
          profile_,
          profile::Collect(
              graph_, samples_.batches,
              {.samples = samples_.count,
               .progress = [&](int64_t done, int64_t total) { Report("profile", done, total); },
               .kept = KeepValues()},
              pool_, stop_));
    } else {
      return {};
    }
    if (!request_.profile) profile_->model_digest = "sha256:" + digest_.get();
    settings_.profile = &*profile_;
    findings_.profile = MatchProfile(graph_, *profile_);
    auto& entries = findings_.profile.unmatched_entries;
    entries.insert(entries.end(), unmatched.begin(), unmatched.end());
    return CheckMatches();
  }

  // Values that the profile's float run leaves to the report's, which packs fewer weights for them.
  reference::KeptValues* KeepValues() {
    const int64_t count = static_cast<int64_t>(samples_.batches.size());
    kept_.values = reference::CostlyValues(graph_, count, reference::ConstantBytes(graph_) * 2 / 5);
    return &kept_;
  }

  Status CheckProfile() {
    const std::string own = "sha256:" + digest_.get();
    if (profile_->model_digest.empty() || profile_->model_digest == own) return {};
    std::string message =
        fmt::format("the profile is of model {}, but the model is {}", profile_->model_digest, own);
    if (options_.strict_profile) {
      return Fail(Code::kInvalidArgument, "{}", message)
          .Field("model_digest")
          .Reason("PROFILE_MISMATCH");
    }
    Warn("profile_digest", std::move(message));
    return {};
  }

  Status CheckMatches() {
    const ProfileFigures& figures = findings_.profile;
    if (figures.matched == 0) {
      return Fail(Code::kInvalidArgument, "{}",
                  figures.unmatched_entries.empty()
                      ? "the profile has no entries"
                      : fmt::format("no entry of the profile names a value of the model (the first "
                                    "is '{}')",
                                    figures.unmatched_entries.front()))
          .Field("profile")
          .Reason("PROFILE_MISMATCH");
    }
    if (options_.strict_profile && !figures.unmatched_entries.empty()) {
      return Fail(Code::kInvalidArgument, "the profile's entry '{}' names no value of the model",
                  figures.unmatched_entries.front())
          .Field(figures.unmatched_entries.front())
          .Reason("PROFILE_MISMATCH");
    }
    return {};
  }

  Status Rewrite() {
    OCTAVO_CHECK(RunPasses("passes", kFirstTargetPass, kFirstIntegerPass));
    // Another graph computes its values in another way.
    if (changed_) kept_ = {};
    float_graph_ = graph_;
    OCTAVO_CHECK(RunPasses("passes", kFirstIntegerPass, {}));
    if (options_.strict_profile && !findings_.rewrites.missing_values.empty()) {
      const std::string& name = findings_.rewrites.missing_values.front();
      return Fail(Code::kInvalidArgument, "the profile has no entry for '{}'", name)
          .Field(name)
          .Reason("PROFILE_MISMATCH");
    }
    findings_.rescales_after = CountRescales(graph_);
    findings_.kept_rescales = KeptRescales(graph_, findings_.rewrites);
    findings_.float_nodes = FloatNodes(graph_, findings_.rewrites);
    WarnOfDoubleQdq(graph_, findings_.rewrites.warnings);
    findings_.after.nodes = graph_.node_count();
    for (const ir::NodeId id : graph_.nodes()) {
      ++findings_.after.ops[std::string(graph_.node(id).op->name)];
    }
    return {};
  }

  Status Export() {
    Report("export", 0, 1);
    if (options_.emit == "text") {
      const text::PrintOptions print{
          .payload = [&](const std::string& digest, const ir::Tensor& tensor) {
            outcome_.external.push_back({digest, tensor.ToBlob()});
          }};
      outcome_.model = {"model.graph", Blob(text::Print(graph_, print))};
    } else if (options_.emit == "native") {
      outcome_.model = {"model.octavo", Aside(native::Write(graph_))};
    } else {
      OCTAVO_TRY(
          onnx::Exported exported,
          onnx::ExportModel(
              graph_, {.form = options_.emit == "qlinear" ? onnx::Form::kQLinear : onnx::Form::kQdq,
                       .opset = options_.opset,
                       .external_name = ExternalName(),
                       .external_limit = options_.external_over}));
      outcome_.model = {"model.onnx", Aside(std::move(exported.model))};
      if (!exported.external.empty()) {
        outcome_.external.push_back({ExternalName(), Aside(std::move(exported.external))});
        names_output_ = true;
      }
    }
    if (!names_output_) options_.output_name.clear();  // no byte depends on it
    findings_.after.bytes = static_cast<int64_t>(outcome_.model.bytes.size());
    for (const NamedBlob& blob : outcome_.external) {
      findings_.after.bytes += static_cast<int64_t>(blob.bytes.size());
    }
    findings_.action_digest = ActionDigest();
    Report("export", 1, 1);
    return {};
  }

  std::string ExternalName() const { return options_.output_name + ".data"; }

  Status Compare() {
    if (const ir::Node* node = WithoutMeaning(float_graph_); node != nullptr && !Gated()) {
      Warn("no_figures",
           fmt::format("the report has no figures: only target {} knows what {} '{}' computes",
                       settings_.target.name, node->op->name, node->name));
      return {};
    }
    if (samples_.batches.empty()) {
      if (!profile_ || quantized_model_) return {};
      samples_ = DrawSamples(float_graph_, *profile_, /*seed=*/0, kSyntheticSamples);
      findings_.samples_source = "synthetic";
      Warn("synthetic_samples",
           "no data was given: the report's figures come from samples drawn from the profile");
    } else {
      findings_.samples_source = "data";
    }
    findings_.samples = samples_.count;
    OCTAVO_TRY(findings_.numerics,
               report::Diff(float_graph_, graph_, samples_.batches,
                            {.numerics = std::string(target::Name(settings_.target.numerics)),
                             .progress = [&](int64_t done,
                                             int64_t total) { Report("integer-run", done, total); },
                             .kept = kept_.samples.empty() ? nullptr : &kept_},
                            pool_, stop_));
    return {};
  }

  void CheckGates() {
    if (!findings_.numerics) return;
    for (const report::ValueReport& output : findings_.numerics->outputs) {
      const auto& figures = output.figures;
      if (options_.require_sqnr > 0 && figures.sqnr_db &&
          *figures.sqnr_db < options_.require_sqnr) {
        outcome_.gate_failed = true;
        outcome_.message = fmt::format("output '{}' has an SQNR of {:.2f} dB, below {}",
                                       output.name, *figures.sqnr_db, options_.require_sqnr);
      }
      if (options_.require_cosine > 0 && figures.cosine &&
          *figures.cosine < options_.require_cosine) {
        outcome_.gate_failed = true;
        outcome_.message = fmt::format("output '{}' has a cosine of {:.6f}, below {}", output.name,
                                       *figures.cosine, options_.require_cosine);
      }
    }
  }

  // What a result is filed under: everything that its bytes depend on.
  std::string ActionDigest() const {
    Sha256 hash;
    const auto add_digest = [&](std::string_view name, const std::string& digest) {
      hash.Update(fmt::format("{} {} ", name.size(), name));
      hash.Update(digest);
    };
    const auto add = [&](std::string_view name, const Blob& bytes) {
      add_digest(name, Sha256OfMapped(bytes.bytes()));
    };
    hash.Update(std::string_view("octavo " OCTAVO_VERSION " "));
    hash.Update(OptionsJson(options_, settings_).dump());
    add_digest("model", digest_.get());
    for (const NamedBlob& blob : request_.external_data) add(blob.name, blob.bytes);
    if (request_.profile) add("profile", request_.profile->bytes);
    for (const NamedBlob& blob : request_.samples) add(blob.name, blob.bytes);
    if (request_.target) add("target", request_.target->bytes);
    return "sha256:" + hash.Finish();
  }

  const Request& request_;
  Options options_;
  const StopToken& stop_;
  const Observer& observer_;
  ThreadPool pool_;
  passes::Settings settings_;
  Graph graph_, float_graph_;
  data::Samples samples_;
  std::shared_future<std::string> digest_;
  std::optional<profile::NameIndex> names_;  // as imported
  std::optional<profile::Profile> profile_;
  bool quantized_model_ = false;
  reference::KeptValues kept_;
  bool changed_ = false;  // by the last part of the passes
  bool stopped_ = false;
  bool names_output_ = false;
  int64_t passes_done_ = 0;
  std::set<std::string> snapshot_payloads_;
  Findings findings_;
  Outcome outcome_;
};

}  // namespace

Result<Outcome> Run(const Request& request, const StopToken& stop, const Observer& observer) {
  try {
    return Job(request, stop, observer).Run();
  } catch (const std::bad_alloc&) {
    return Fail(Code::kTooLarge, "not enough memory for this job");
  } catch (const std::exception& error) {
    return Fail(Code::kInternal, "{}", error.what());
  }
}

}  // namespace octavo::job
