// SPDX-License-Identifier: Apache-2.0
// Optimizes a model in one call: a pure function of its request.  Equal requests give equal bytes
// for any thread count and instruction set; without `deterministic`, only the seconds in the report
// may differ.  Thread-safe: any number of calls may run at once.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/blob.h"
#include "core/base/status.h"
#include "core/base/stop_token.h"
#include "core/job/limits.h"
#include "core/options/options.h"

namespace octavo::job {

// Makes every check of the options that needs neither the model nor the target: kUsage.  Run
// repeats it; a caller may call it first to fail before reading files.
Status CheckJobOptions(const Options& options);

// Bytes and their name.  The name of external data is the `location` that the model uses; the name
// of samples and profiles is the file name, whose extension determines the format.
struct NamedBlob {
  std::string name = {};
  Blob bytes = {};
};

struct Request {
  Options options = {};
  NamedBlob model = {};                       // ONNX, native or text: model_form.h
  std::vector<NamedBlob> external_data = {};  // also the constant data of a text graph
  std::optional<NamedBlob> profile = {};
  // Files of samples (core/data/samples.h), named as core/data/sample_name.h says; or a single blob
  // named "random:SEED[:N]" without bytes.
  std::vector<NamedBlob> samples = {};
  std::optional<NamedBlob> target = {};  // a target file, JSON
  ModelLimits limits = {};               // a model that exceeds them is kTooLarge
  bool certificate = false;              // also return the certificate; changes no other result
};

// Progress of a job.  `stage` is import, prepare, search, profile, budget, passes, export,
// integer-run, advice or report; `pass` is set in stage passes.  `total` is 0 if unknown.
struct Progress {
  std::string_view stage = {};
  std::string_view pass = {};
  int64_t done = 0;
  int64_t total = 0;
  int64_t memory_bytes = 0;  // at the end of stage import: the job's estimate, else 0
};

// Figures of a finished job for the service's metrics.
struct Facts {
  struct Rewrite {
    std::string rule = {};
    std::string effect = {};
    int64_t count = 0;
  };
  struct PassTime {
    std::string pass = {};
    double seconds = 0;
  };
  struct KernelUse {
    std::string kernel = {};
    std::string isa = {};
    double operations = 0;  // a multiply-add counts as two
    double seconds = 0;
  };
  std::vector<Rewrite> rewrites = {};
  std::vector<PassTime> passes = {};
  std::vector<KernelUse> kernels = {};
  std::vector<double> output_sqnr_db = {};
  std::vector<double> value_sqnr_db = {};
  int64_t rescales_removed = 0;
  int64_t saturated_values = 0;
};

struct Outcome {
  NamedBlob model = {};                   // the optimized graph in the form options.emit
  std::vector<NamedBlob> external = {};   // its external data or constant data files, if any
  std::vector<NamedBlob> snapshots = {};  // graph text after each pass, named "03-lower.graph"
  std::string report_json = {};
  std::string certificate = {};  // core/verify/README.md; empty if not requested
  bool gate_failed = false;      // a require_* gate failed; all outputs are written regardless
  std::string message = {};      // the failed gate and its figure
  Facts facts = {};
};

using Observer = std::function<void(const Progress&)>;

Result<Outcome> Run(const Request& request, const StopToken& stop, const Observer& observer);

}  // namespace octavo::job
