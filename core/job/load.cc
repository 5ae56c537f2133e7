// SPDX-License-Identifier: Apache-2.0
#include "core/job/load.h"

#include <algorithm>

#include "core/base/mapped_pages.h"
#include "core/data/sample_name.h"
#include "core/ir/qdq_notes.h"
#include "core/job/model_form.h"
#include "core/native/native.h"
#include "core/onnx/import/list_inputs.h"
#include "core/onnx/wire/tensor_proto.h"
#include "core/ops/op_table.h"
#include "core/text/parse.h"

namespace octavo::job {
namespace {

// Fills the importer's description for a graph whose shapes are known.
Result<onnx::Imported> Describe(ir::Graph graph, const LoadRequest& request) {
  onnx::Imported imported;
  imported.graph = std::move(graph);
  OCTAVO_CHECK(onnx::CheckNodeCount(imported.graph.node_count(), request.limits.nodes));
  imported.bytes = static_cast<int64_t>(request.model.bytes.size());
  for (const NamedBlob& blob : request.external_data) {
    imported.bytes += static_cast<int64_t>(blob.bytes.size());
  }
  for (const ir::ValueId input : imported.graph.inputs()) {
    const ir::Type& type = imported.graph.type(input);
    onnx::InputSignature signature{.name = imported.graph.name(input), .dtype = type.dtype};
    for (const int64_t extent : type.shape) signature.declared.push_back({extent, {}});
    // The first input's, as import decides for an ONNX model of fixed shapes.
    if (imported.inputs.empty() && !type.shape.empty()) imported.batch = type.shape[0];
    imported.inputs.push_back(std::move(signature));
  }
  for (const ir::ValueId output : imported.graph.outputs()) {
    const ir::Shape& shape = imported.graph.type(output).shape;
    imported.outputs.push_back({.name = imported.graph.name(output),
                                .batched = !shape.empty() && shape[0] == imported.batch});
  }
  imported.nodes = imported.graph.node_count();
  for (const ir::NodeId id : imported.graph.nodes()) {
    ++imported.ops[std::string(imported.graph.node(id).op->name)];
  }
  return imported;
}

Result<onnx::Imported> LoadText(const LoadRequest& request) {
  const text::ParseOptions options{.find_op = FinderFor(request.target),
                                   .payload = [&](std::string_view digest) -> Result<Blob> {
                                     for (const NamedBlob& blob : request.external_data) {
                                       if (blob.name == digest) return blob.bytes;
                                     }
                                     return Fail(Code::kInvalidArgument,
                                                 "constant data file '{}' is missing", digest)
                                         .Field(digest);
                                   }};
  OCTAVO_TRY(ir::Graph graph, text::Parse(request.model.bytes.text(), options));
  return Describe(std::move(graph), request);
}

// Returns a function that reads an input's value from the samples.
auto ValueReader(const data::SampleSource& source, const std::vector<std::string>& inputs,
                 const StopToken& stop) {
  return [&source, &inputs, &stop](const std::string& name, const ir::Type& type) {
    return data::CommonValue(source.Only(inputs, {name}), {.name = name, .type = type}, stop);
  };
}

Result<onnx::Imported> LoadOnnx(const LoadRequest& request,
                                std::optional<data::SampleSource>& source) {
  onnx::ImportOptions options{.batch = request.batch,
                              .max_nodes = request.limits.nodes,
                              .find_op = FinderFor(request.target),
                              .opaque = request.unsupported == LoadRequest::Unsupported::kLeave,
                              .open_extent = request.open_extent};
  for (const auto& [name, shape] : request.shape) options.shapes[name] = shape;
  for (const NamedBlob& blob : request.external_data) options.external[blob.name] = blob.bytes;
  if (!source) return onnx::ImportModel(request.model.bytes, options);
  // The names of the arrays map them to inputs.
  OCTAVO_TRY(const std::vector<std::string> inputs, onnx::ListInputs(request.model.bytes));
  options.sample_shapes = source->Shapes(inputs);
  options.array_of = [&source](const std::string& name) -> std::optional<ir::Type> {
    const data::ArrayPtr array = source->FindValue(name);
    if (!array) return std::nullopt;
    return ir::Type{array->dtype(), array->shape(), {}, {}};
  };
  if (request.deciders == LoadRequest::Deciders::kFromSamples) {
    options.value_of = ValueReader(*source, inputs, request.stop);
  }
  OCTAVO_TRY(onnx::Imported imported, onnx::ImportModel(request.model.bytes, options));
  if (!imported.fixed_inputs.empty()) {
    std::vector<std::string> kept;
    for (const onnx::InputSignature& input : imported.inputs) kept.push_back(input.name);
    source = source->Only(inputs, kept);
  }
  return imported;
}

// The blobs of --data, and those of --evaluate, named as if they were of --data.  Labels are of the
// latter if there are any.
struct SampleBlobs {
  std::vector<data::NamedBlob> data = {}, evaluation = {};
};

Result<SampleBlobs> PartBlobs(const LoadRequest& request) {
  using data::SampleKind;
  SampleBlobs parts;
  std::vector<data::NamedBlob> labels;
  bool values = false;
  for (const NamedBlob& blob : request.samples) {
    const SampleKind kind = data::KindOf(blob.name);
    values |= kind == SampleKind::kValues;
    if (kind == SampleKind::kEvaluation) {
      parts.evaluation.push_back({std::string(data::WithoutWord(blob.name)), blob.bytes});
    } else {
      (kind == SampleKind::kLabels ? labels : parts.data).push_back({blob.name, blob.bytes});
    }
  }
  if (values && !parts.evaluation.empty()) {
    return Fail(Code::kUsage,
                "--values-from has the values of the samples of --data; with --evaluate, those of "
                "its samples are not known")
        .Field("evaluate");
  }
  auto& labelled = parts.evaluation.empty() ? parts.data : parts.evaluation;
  labelled.insert(labelled.end(), labels.begin(), labels.end());
  return parts;
}

Status OpenSamples(const LoadRequest& request, Loaded& loaded) {
  OCTAVO_TRY(const SampleBlobs parts, PartBlobs(request));
  const auto open = [&](const std::vector<data::NamedBlob>& blobs) {
    return data::SampleSource::Open(blobs, &onnx::ParseTensor, request.reading, request.stop);
  };
  if (!parts.data.empty()) {
    OCTAVO_TRY(loaded.source, open(parts.data));
  }
  if (!parts.evaluation.empty()) {
    OCTAVO_TRY(loaded.evaluation_source, open(parts.evaluation));
  }
  return {};
}

// Returns the reason why the samples cannot be read.  The model's error takes precedence if the
// model has inputs that samples cannot contain (sequences, strings).
Failure SamplesOrModel(const LoadRequest& request, Error error) {
  if (FormOf(request.model) == ModelForm::kOnnx) {
    std::optional<data::SampleSource> none;
    auto imported = LoadOnnx(request, none);
    if (!imported && imported.error().code == Code::kUnimplemented) {
      return Forward(std::move(imported).error());
    }
    const onnx::OpaquePart* opaque = imported ? OpaqueOf(imported->contract) : nullptr;
    if (opaque != nullptr && !opaque->input_infos.empty()) {
      const std::string& name = opaque->input_infos.begin()->first;
      return Fail(Code::kUnimplemented, "input '{}' is of a type that samples cannot have", name)
          .Field(name);
    }
  }
  return Forward(std::move(error));
}

// What --shape gives is not open.
std::vector<data::SampleSource::Declared> DeclaredBy(const LoadRequest& request,
                                                     const Loaded& loaded) {
  std::vector<data::SampleSource::Declared> inputs;
  for (const onnx::InputSignature& input : loaded.model.inputs) {
    data::SampleSource::Declared& declared = inputs.emplace_back();
    declared.name = input.name;
    const auto shape = request.shape.find(input.name);
    for (size_t axis = 0; axis < input.declared.size(); ++axis) {
      declared.extents.push_back(input.declared[axis].value);
      if (shape != request.shape.end()) declared.extents.back() = shape->second[axis];
    }
  }
  return inputs;
}

}  // namespace

onnx::OpFinder FinderFor(const target::Target* target) {
  return [target](std::string_view name, std::string_view domain) -> const ir::OpDef* {
    if (const ir::OpDef* op = ops::FindOp(name, domain)) return op;
    if (target == nullptr) return nullptr;
    for (const target::CustomOp& op : target->ops) {
      if (op.name == name && op.domain == domain) return op.def.get();
    }
    return nullptr;
  };
}

LoadRequest RequestOf(const ModelInput& model, const ModelInput& input, const StopToken& stop) {
  return {.model = model.model,
          .external_data = model.external_data,
          .samples = input.samples,
          .shape = input.shape,
          .batch = input.batch,
          .limits = input.limits,
          .unsupported = input.strict_ops ? LoadRequest::Unsupported::kRefuse
                                          : LoadRequest::Unsupported::kLeave,
          .reading = input.reading,
          .stop = stop,
          .non_finite = input.allow_non_finite ? NonFinite::kCount : NonFinite::kRefuse};
}

Result<Loaded> ReadModel(const LoadRequest& request) {
  Loaded loaded;
  loaded.digest = std::async(std::launch::async, [bytes = request.model.bytes] {
                    return Sha256OfMapped(bytes.bytes());
                  }).share();
  if (!request.samples.empty()) {
    auto opened = OpenSamples(request, loaded);
    if (!opened) return SamplesOrModel(request, std::move(opened).error());
  }
  switch (FormOf(request.model)) {
    case ModelForm::kNative: {
      OCTAVO_TRY(ir::Graph graph, native::Read(request.model.bytes, FinderFor(request.target)));
      OCTAVO_TRY(loaded.model, Describe(std::move(graph), request));
      break;
    }
    case ModelForm::kText: {
      OCTAVO_TRY(loaded.model, LoadText(request));
      break;
    }
    case ModelForm::kOnnx: {
      // The samples bind the model's dimensions.
      OCTAVO_TRY(loaded.model,
                 LoadOnnx(request, loaded.source ? loaded.source : loaded.evaluation_source));
      break;
    }
  }
  return loaded;
}

Status TakeSamples(const LoadRequest& request, const ir::Graph& graph, Loaded& loaded) {
  OCTAVO_CHECK(CheckValueBytes(graph, request.limits));
  if (request.use != LoadRequest::Use::kRun) return {};
  if (graph.inputs().empty()) {
    // All samples of a model without inputs are the same one, and need no data.
    loaded.source.reset();
    loaded.evaluation_source.reset();
    loaded.samples = {.batches = {ir::Batches::Batch()}, .count = 1};
    return {};
  }
  if (!loaded.source && !loaded.evaluation_source) return {};
  if (loaded.source && request.several_sizes) {
    std::vector<data::SampleSource> sizes = loaded.source->BySize(DeclaredBy(request, loaded));
    loaded.source = std::move(sizes.front());
    loaded.other_sizes.assign(std::make_move_iterator(sizes.begin() + 1),
                              std::make_move_iterator(sizes.end()));
  }
  const onnx::OpaquePart* opaque = OpaqueOf(loaded.model.contract);
  std::vector<data::SampleInput> inputs;
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const ir::ValueId id = graph.inputs()[i];
    inputs.push_back({.name = graph.name(id),
                      .type = graph.type(id),
                      .dynamic_batch = loaded.model.inputs[i].dynamic_batch,
                      .held = opaque && std::ranges::count(opaque->held, graph.name(id)) > 0});
  }
  const auto cut = [&](std::optional<data::SampleSource>& source, data::Samples& samples,
                       std::shared_ptr<SampleSurvey>& survey) -> Status {
    if (!source) return {};
    OCTAVO_TRY(samples, data::CutSamples(*source, inputs, request.limits.samples_bytes));
    survey = Survey(graph, request.non_finite, samples);
    source.reset();
    return {};
  };
  OCTAVO_CHECK(cut(loaded.source, loaded.samples, loaded.survey));
  return cut(loaded.evaluation_source, loaded.evaluation, loaded.evaluation_survey);
}

const onnx::OpaquePart* OpaqueOf(const onnx::Contract& contract) { return contract.opaque.get(); }

Status CheckComputes(const Loaded& loaded) {
  const onnx::OpaquePart* opaque = OpaqueOf(loaded.model.contract);
  const auto computed = [](const onnx::OutputSignature& output) { return !output.handed; };
  if (opaque == nullptr || std::ranges::any_of(loaded.model.outputs, computed)) return {};
  const onnx::OpaqueNode& first = opaque->nodes.front();
  return Fail(Code::kUnimplemented,
              "node '{}': {}; no output of the model can be computed without it", first.name,
              first.reason)
      .Node(first.name)
      .Reason("UNSUPPORTED_OPERATOR");
}

Result<Loaded> LoadToRun(const LoadRequest& request, std::string_view command) {
  OCTAVO_TRY(Loaded loaded, Load(request));
  if (loaded.samples.batches.empty()) {
    return Fail(Code::kUsage, "{} needs --data", command).Field("data");
  }
  return loaded;
}

namespace {

// The rest of Load, once the model is read.
Status Finish(const LoadRequest& request, Loaded& loaded) {
  ThreadPool pool(1);
  const passes::Settings settings{.pool = &pool};
  passes::Findings findings;
  OCTAVO_CHECK(passes::RunPipeline(passes::PassesOf({passes::Phase::kImport}), {}, settings,
                                   loaded.model.graph, findings));
  // No pass follows that reads them.
  loaded.model.graph.metadata.erase(ir::kQdqFloatsKey);
  loaded.model.graph.metadata.erase(ir::kKeptFloatKey);
  return TakeSamples(request, loaded.model.graph, loaded);
}

}  // namespace

Result<Loaded> Load(const LoadRequest& request) {
  OCTAVO_TRY(Loaded loaded, ReadModel(request));
  OCTAVO_CHECK(Finish(request, loaded));
  return loaded;
}

Result<Loaded> LoadAtSize(const LoadRequest& request, const data::SampleSource& samples) {
  OCTAVO_CHECK(request.stop.Check());
  Loaded loaded;
  loaded.source = samples;
  OCTAVO_TRY(loaded.model, LoadOnnx(request, loaded.source));
  OCTAVO_CHECK(Finish(request, loaded));
  return loaded;
}

}  // namespace octavo::job
