#include "client/wire.h"

#include "core/base/sha256.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

namespace octavo::client {
namespace {

void Add(Parcel& parcel, v1::BlobInfo::Role role, const job::NamedBlob& blob) {
  v1::BlobInfo& info = *parcel.spec.add_blobs();
  info.set_role(role);
  info.set_name(blob.name);
  info.set_size_bytes(blob.bytes.size());
  info.set_sha256(Sha256Of(blob.bytes.bytes()));
  parcel.blobs.push_back(blob.bytes);
  parcel.total_bytes += blob.bytes.size();
}

Code CodeFrom(grpc::StatusCode code) {
  switch (code) {
    case grpc::StatusCode::INVALID_ARGUMENT:
      return Code::kInvalidArgument;
    case grpc::StatusCode::UNIMPLEMENTED:
      return Code::kUnimplemented;
    case grpc::StatusCode::UNAVAILABLE:
      return Code::kUnavailable;
    case grpc::StatusCode::DEADLINE_EXCEEDED:
      return Code::kDeadlineExceeded;
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
      return Code::kResourceExhausted;
    case grpc::StatusCode::FAILED_PRECONDITION:
      return Code::kTooLarge;
    case grpc::StatusCode::CANCELLED:
      return Code::kCancelled;
    case grpc::StatusCode::ABORTED:
      return Code::kAborted;
    default:
      return Code::kInternal;
  }
}

void ReadErrorInfo(const google::rpc::ErrorInfo& info, Error& error) {
  if (info.domain() != "octavo") return;
  error.reason = info.reason();
  const auto& metadata = info.metadata();
  if (const auto it = metadata.find("node"); it != metadata.end()) error.node = it->second;
  if (const auto it = metadata.find("field"); it != metadata.end()) error.field = it->second;
}

}  // namespace

v1::Options OptionsToWire(const job::Options& options) {
  v1::Options wire;
  wire.set_target(options.target);
  wire.set_emit(options.emit);
  wire.set_schema(options.schema);
  wire.set_activations(options.activations);
  wire.set_weights(options.weights);
  wire.set_per_channel(options.granularity == "per-channel");
  wire.set_per_tensor(options.granularity == "per-tensor");
  wire.set_calibration(options.calibration);
  wire.mutable_keep_float()->Assign(options.keep_float.begin(), options.keep_float.end());
  wire.mutable_weights_only()->Assign(options.weights_only.begin(), options.weights_only.end());
  wire.set_numerics(options.numerics);
  wire.set_numerics_limit(options.numerics_limit);
  wire.set_no_quantize(options.no_quantize);
  wire.set_stop_before(options.stop_before);
  wire.mutable_skip()->Assign(options.skip.begin(), options.skip.end());
  wire.mutable_passes()->Assign(options.passes.begin(), options.passes.end());
  wire.set_integer_io(options.integer_io);
  wire.set_sink_quantize(options.sink_quantize);
  wire.set_leave_integers(options.leave_integers);
  wire.set_own_parameters(options.own_parameters);
  wire.set_fold_budget(options.fold_budget);
  wire.set_opset(options.opset);
  for (const auto& [name, dims] : options.shape) {
    (*wire.mutable_shape())[name].mutable_dims()->Assign(dims.begin(), dims.end());
  }
  wire.set_batch(options.batch);
  wire.set_strict_profile(options.strict_profile);
  wire.set_snapshots(options.snapshots);
  wire.set_require_sqnr(options.require_sqnr);
  wire.set_require_cosine(options.require_cosine);
  wire.set_deterministic(options.deterministic);
  wire.set_threads(options.threads);
  wire.set_output_name(options.output_name);
  wire.set_external_over(options.external_over);
  return wire;
}

Parcel Pack(const job::Request& request) {
  Parcel parcel;
  *parcel.spec.mutable_options() = OptionsToWire(request.options);
  Add(parcel, v1::BlobInfo::ROLE_MODEL, request.model);
  for (const auto& blob : request.external_data) Add(parcel, v1::BlobInfo::ROLE_EXTERNAL, blob);
  if (request.profile) Add(parcel, v1::BlobInfo::ROLE_PROFILE, *request.profile);
  for (const auto& blob : request.samples) Add(parcel, v1::BlobInfo::ROLE_SAMPLES, blob);
  if (request.target) Add(parcel, v1::BlobInfo::ROLE_TARGET, *request.target);
  return parcel;
}

CallFailure FailureFrom(const grpc::Status& status) {
  CallFailure failure;
  failure.error.code = CodeFrom(status.error_code());
  failure.error.message = status.error_message();
  failure.error.reason = DefaultReason(failure.error.code);
  if (status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED) {
    failure.error.message = "the deadline of the call passed";
  }
  google::rpc::Status details;
  if (!details.ParseFromString(status.error_details())) return failure;
  for (const auto& any : details.details()) {
    google::rpc::ErrorInfo info;
    google::rpc::RetryInfo retry;
    if (any.UnpackTo(&info)) {
      ReadErrorInfo(info, failure.error);
    } else if (any.UnpackTo(&retry)) {
      failure.retry_after = std::chrono::milliseconds(retry.retry_delay().seconds() * 1000 +
                                                      retry.retry_delay().nanos() / 1'000'000);
    }
  }
  // The wire has one code for a wrong model and for a wrong option; the reason tells them apart.
  if (failure.error.reason == DefaultReason(Code::kUsage)) failure.error.code = Code::kUsage;
  return failure;
}

}  // namespace octavo::client
