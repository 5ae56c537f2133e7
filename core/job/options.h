// What a job is asked to do.  Every field is the long flag of `octavo optimize` of the same name
// (interfaces: `--keep-float` is keep_float), with its default; the wire's Options has the same
// fields.  An empty string or list means "the target's own choice" or "none".
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace octavo::job {

// A message of 2 GiB is the most that readers of ONNX take; a model is more than its weights.
inline constexpr int64_t kMostInline = 1'800'000'000;

struct Options {
  std::string target = "cpu-int8";     // a built-in name; a target file comes as Request::target
  std::string emit = "qdq";            // qdq | qlinear | native | text
  std::string schema = {};             // asymmetric | symmetric | symmetric-uint8 | pow2
  std::string activations = {};        // u8 | i8 | i16
  std::string weights = {};            // i8 | i16
  std::string granularity = {};        // per-channel | per-tensor, of weights
  std::string calibration = "minmax";  // minmax | percentile:P | mse | entropy
  std::vector<std::string> keep_float = {};  // value, node or op names
  // The same: what computes in float, but on weights that are stored as integers.
  std::vector<std::string> weights_only = {};
  std::string numerics = {};  // a numerics mode
  std::string numerics_limit = "fewer-roundings";
  bool no_quantize = false;
  std::string stop_before = {};
  std::vector<std::string> skip = {};
  std::vector<std::string> passes = {};
  bool integer_io = false;
  bool sink_quantize = false;
  bool leave_integers = false;
  bool own_parameters = false;
  int64_t fold_budget = 4 << 20;  // bytes
  int opset = 0;                  // 0: keep the model's
  std::map<std::string, std::vector<int64_t>> shape = {};
  int64_t batch = 0;  // 0: the model's own; a dynamic one is 1
  bool strict_profile = false;
  bool snapshots = false;     // return the graph after each pass as SNAPSHOT blobs
  double require_sqnr = 0;    // dB; 0: no gate
  double require_cosine = 0;  // 0: no gate
  // The file name of the model that is written; external data is "NAME.data" beside it.
  std::string output_name = "model.onnx";
  int64_t external_over = kMostInline;  // bytes of weights up to which they lie in the model
  bool deterministic = false;           // leave seconds out of the report
  int threads = 0;                      // 0: one per core; never changes a byte
};

}  // namespace octavo::job
