// SPDX-License-Identifier: Apache-2.0
#include "core/verify/verify.h"

#include <algorithm>
#include <optional>

#include "core/base/sha256.h"
#include "core/text/print.h"
#include "core/verify/compare.h"

namespace octavo::verify {
namespace {

using ir::Graph;

// The proof that suffices for an effect.
struct Claim {
  std::string_view effect = {};
  Proof weakest = Proof::kExact;
};
// From the weakest to the strongest effect.
constexpr Claim kClaims[] = {{"exact", Proof::kExact},         {"real-exact", Proof::kReal},
                             {"new-arithmetic", Proof::kReal}, {"fewer-roundings", Proof::kRounded},
                             {"fewer-clamps", Proof::kReal},   {"new-parameters", Proof::kReal}};

Result<const Claim*> FindEffect(std::string_view effect) {
  const auto at = std::find_if(std::begin(kClaims), std::end(kClaims),
                               [&](const Claim& claim) { return claim.effect == effect; });
  if (at != std::end(kClaims)) return at;
  return Refuse("no numeric effect is called '{}'", effect);
}

// Choosing parameters and rounding to them is the job itself, which no limit forbids; the rule that
// drops a pair has an option of its own, and float rewrites only the limit `exact`.
bool IsTheJob(const Application& a) {
  return a.pass == "quantize" || a.pass == "round-weights" || a.pass == "specialize-bias" ||
         a.rule == "absorb-rescales/cancel-quantize-dequantize";
}

Result<const Claim*> FindClaim(const Application& application, const Claim& limit) {
  OCTAVO_TRY(const Claim* claim, FindEffect(application.effect));
  const bool rounds = claim->effect != "real-exact" && claim->effect != "new-arithmetic";
  if (claim <= &limit || !rounds || IsTheJob(application)) return claim;
  return Fail(Code::kInvalidArgument, "{} at '{}' claims {}, beyond the job's limit {}",
              application.rule, application.node, claim->effect, limit.effect)
      .Node(application.node);
}

bool BringsParameters(const Application& a, const Claim& claim, const Claim& limit) {
  if (claim.effect != "new-parameters") return false;
  return a.pass == "quantize" || limit.effect == claim.effect || a.rule == "round-weights/bias" ||
         a.rule == "specialize-bias/increase-weight-scale";
}

// What is claimed about a region.
struct RegionClaim {
  const Claim* claim = kClaims;  // the strongest
  bool placed = false;           // an application names a value or node of the region
  bool new_parameters = false;
};

// Proves one step.
class Prover {
 public:
  Prover(const Graph& before, const Graph& after, Mode mode, const Claim& limit)
      : before_(before), after_(after), mode_(mode), regions_(before, after), limit_(limit) {}

  Status Run(int index, const Step& step, Verdict& verdict) {
    OCTAVO_CHECK(Place(step));
    for (const Proof level : {Proof::kExact, Proof::kRounded, Proof::kReal}) {
      OCTAVO_CHECK(Raise(level));
    }
    OCTAVO_CHECK(CheckParameters());
    Proof all = Proof::kExact;
    for (int region = 0; region < regions_.count(); ++region) {
      all = std::max(all, proofs_[region]);
      if (claims_[region].placed || loose_ || proofs_[region] == Proof::kExact) continue;
      verdict.unexplained.push_back(unproved_[region]);
    }
    for (size_t i = 0; i < step.applications.size(); ++i) {
      const int region = region_of_[i];
      Finding finding{.step = index,
                      .application = step.applications[i],
                      .proof = region < 0 ? all : proofs_[region]};
      if (finding.proof == Proof::kNone) finding.reason = ReasonFor(region);
      verdict.findings.push_back(std::move(finding));
    }
    return {};
  }

 private:
  // Assigns each application to a region by the names that it has.  A claim about names of neither
  // graph (the pass made and removed them) is about the regions that no other claims.
  Status Place(const Step& step) {
    claims_.assign(regions_.count(), {});
    proofs_.assign(regions_.count(), Proof::kNone);
    open_.assign(regions_.count(), true);
    unproved_.assign(regions_.count(), "");
    RegionClaim loose;
    for (const Application& application : step.applications) {
      OCTAVO_TRY(const Claim* claim, FindClaim(application, limit_));
      int region = regions_.RegionOfName(application.node);
      for (const std::string& name : application.values) {
        if (region < 0) region = regions_.RegionOfName(name);
      }
      region_of_.push_back(region);
      loose_ |= region < 0;
      RegionClaim& of = region < 0 ? loose : claims_[region];
      of.claim = std::max(of.claim, claim);
      of.placed = true;
      of.new_parameters |= BringsParameters(application, *claim, limit_);
    }
    for (RegionClaim& each : claims_) {
      if (!each.placed) each = {loose.claim, false, loose.new_parameters};
    }
    return {};
  }

  // Proves regions on this level: one is proved if each of its values that the level compares is
  // equal, here or on a stronger level.
  Status Raise(Proof proof) {
    if (std::find(open_.begin(), open_.end(), true) == open_.end()) return {};
    const Compared compared = Compare(before_, after_, static_cast<Level>(proof), mode_);
    std::vector<const std::string*> left(regions_.count(), nullptr);
    for (const std::string& name : compared.unproved) {
      const int region = regions_.RegionOf(name);
      if (region < 0) return RefuseValue(name, "is not rewritten, but changes");
      if (!equal_.count(name)) left[region] = &name;
      const bool exact = claims_[region].claim->weakest == Proof::kExact;
      if (exact && compared.refuted.count(name)) {
        return RefuseValue(name, "is claimed to stay exact, but gets other elements");
      }
    }
    for (int region = 0; region < regions_.count(); ++region) {
      if (!open_[region] || claims_[region].claim->weakest < proof) continue;
      open_[region] = left[region] != nullptr;
      if (open_[region]) {
        unproved_[region] = *left[region];
      } else {
        proofs_[region] = proof;
      }
    }
    equal_.insert(compared.equal.begin(), compared.equal.end());
    return {};
  }

  static Failure RefuseValue(const std::string& value, std::string_view what) {
    return Fail(Code::kInvalidArgument, "value '{}' {}", value, what).Field(value);
  }

  // Only a claim of new parameters may bring some that no value had.
  Status CheckParameters() const {
    const std::vector<std::string> names = regions_.NewParameters();
    for (int region = 0; region < regions_.count(); ++region) {
      if (names[region].empty() || claims_[region].new_parameters) continue;
      return Fail(Code::kInvalidArgument,
                  "value '{}' gets quantization parameters that no value had, but the claimed "
                  "effect is {}",
                  names[region], claims_[region].claim->effect)
          .Field(names[region]);
    }
    return {};
  }

  std::string ReasonFor(int region) const {
    if (region >= 0)
      return fmt::format("no equation makes '{}' equal to what it was", unproved_[region]);
    return "a rewrite of this step is not proved";
  }

  const Graph &before_, &after_;
  Mode mode_;
  Regions regions_;
  const Claim& limit_;
  std::vector<RegionClaim> claims_;  // of each region
  std::vector<Proof> proofs_;
  std::vector<bool> open_;             // regions that are not proved yet
  std::vector<std::string> unproved_;  // a value of the region
  std::vector<int> region_of_;         // of each application; -1: of none
  bool loose_ = false;                 // an application has no region
  Names equal_;                        // on some level
};

}  // namespace

std::string_view Name(Proof proof) {
  static constexpr std::string_view kNames[] = {"exact", "rounded", "real", "unproved"};
  return kNames[static_cast<size_t>(proof)];
}

bool Verdict::proved() const {
  return unexplained.empty() &&
         std::none_of(findings.begin(), findings.end(),
                      [](const Finding& f) { return f.proof == Proof::kNone; });
}

Result<Verdict> Verify(const Graph& before, const Certificate& certificate,
                       const text::OpLookup& find_op) {
  const std::optional<Mode> mode = ParseMode(certificate.numerics_mode);
  if (!mode) return Refuse("no numerics mode is called '{}'", certificate.numerics_mode);
  OCTAVO_TRY(const Claim* limit,
             FindEffect(certificate.options.value("numerics_limit", std::string())));
  std::map<std::string, Blob, std::less<>> data = certificate.data;
  const std::string text =
      text::Print(before, {.payload = [&](const std::string& digest, const ir::Tensor& tensor) {
                    data.insert_or_assign(digest, tensor.ToBlob());
                  }});
  if (Sha256Of(text) != certificate.before_sha256) {
    return Refuse("the certificate is of another model than BEFORE");
  }
  const text::ParseOptions parse{.find_op = find_op,
                                 .payload = [&](std::string_view digest) -> Result<Blob> {
                                   if (const auto at = data.find(digest); at != data.end())
                                     return at->second;
                                   return Refuse("the certificate lacks constant data {}", digest);
                                 }};
  Verdict verdict;
  std::vector<std::string> lines = LinesOf(text);
  OCTAVO_TRY(verdict.after, text::Parse(text, parse));
  for (size_t i = 0; i < certificate.steps.size(); ++i) {
    const Step& step = certificate.steps[i];
    OCTAVO_TRY(lines, Apply(lines, step.edits));
    OCTAVO_TRY(Graph next, text::Parse(TextOf(lines), parse));
    OCTAVO_CHECK(CheckInterface(verdict.after, next));
    OCTAVO_CHECK(
        Prover(verdict.after, next, *mode, *limit).Run(static_cast<int>(i), step, verdict));
    verdict.after = std::move(next);
  }
  return verdict;
}

}  // namespace octavo::verify
