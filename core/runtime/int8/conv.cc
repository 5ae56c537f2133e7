#include "core/runtime/int8/conv.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/runtime/int8/check.h"
#include "core/runtime/int8/dense.h"
#include "core/runtime/int8/depthwise.h"

namespace octavo::runtime::int8 {

using internal::DenseRun;
using internal::DenseWeights;
using internal::DepthwiseWeights;

// How the pixels under the taps reach the tiles.
enum class Path {
  kRows,      // 1x1, stride 1, no padding, one group: the input is the matrix
  kPointers,  // pointers to the taps' pixels; whole quads of channels
  kGather,    // the taps' bytes copied together; few channels
  kDepthwise,
};

struct ConvPlan::State {
  ConvShape shape;
  Storage storage = Storage::kU8;
  Output output = Output::kU8;
  int64_t out_height = 0, out_width = 0;
  Path path = Path::kPointers;
  std::vector<DenseWeights> groups;
  DepthwiseWeights depthwise;
  std::vector<uint8_t> padding;  // zero points as u8, enough for a row of the kernel

  int64_t taps() const { return shape.kernel_height * shape.kernel_width; }
  int64_t group_ins() const { return shape.in_channels / shape.groups; }
  int64_t group_outs() const { return shape.out_channels / shape.groups; }
  int64_t pixels() const { return out_height * out_width; }
  // Rows and gathered bytes are flipped as they are copied; pixels behind pointers beforehand.
  bool flips_input() const {
    return storage == Storage::kS8 && (path == Path::kPointers || path == Path::kDepthwise);
  }
};

namespace {

Path ChoosePath(const ConvPlan::State& plan) {
  const ConvShape& s = plan.shape;
  if (s.groups > 1 && s.groups == s.in_channels && s.groups == s.out_channels) {
    return Path::kDepthwise;
  }
  const bool is_product = plan.taps() == 1 && s.stride_height == 1 && s.stride_width == 1 &&
                          s.pad_top == 0 && s.pad_left == 0 && s.pad_bottom == 0 &&
                          s.pad_right == 0 && s.groups == 1;
  if (is_product) return Path::kRows;
  return plan.group_ins() % 4 == 0 ? Path::kPointers : Path::kGather;
}

Status CheckShape(const ConvShape& s) {
  const int64_t positive[] = {s.batch,         s.in_channels,  s.out_channels,    s.groups,
                              s.in_height,     s.in_width,     s.kernel_height,   s.kernel_width,
                              s.stride_height, s.stride_width, s.dilation_height, s.dilation_width};
  for (const int64_t size : positive) {
    if (size <= 0) {
      return Fail(Code::kInvalidArgument,
                  "integer Conv: sizes, strides and dilations must be positive, one is {}", size);
    }
  }
  if (s.in_channels % s.groups != 0 || s.out_channels % s.groups != 0) {
    return Fail(Code::kInvalidArgument, "integer Conv: {} and {} channels do not make {} groups",
                s.in_channels, s.out_channels, s.groups);
  }
  return {};
}

template <class T>
std::span<const T> PartOf(std::span<const T> values, int64_t begin, int64_t count) {
  if (values.size() <= 1) return values;
  return values.subspan(static_cast<size_t>(begin), static_cast<size_t>(count));
}

// Weights of a group reordered from [out][in][tap] to [out][tap][in], the order of the pixels.
DenseWeights PackGroup(const ConvSpec& spec, const ConvPlan::State& plan, int64_t group) {
  const int64_t outs = plan.group_outs(), ins = plan.group_ins(), taps = plan.taps();
  const auto* data = static_cast<const uint8_t*>(spec.weights.data) + group * outs * ins * taps;
  std::vector<uint8_t> ordered(static_cast<size_t>(outs * ins * taps));
  for (int64_t o = 0; o < outs; ++o) {
    for (int64_t c = 0; c < ins; ++c) {
      for (int64_t t = 0; t < taps; ++t) {
        ordered[(o * taps + t) * ins + c] = data[(o * ins + c) * taps + t];
      }
    }
  }
  const bool by_tap = plan.path == Path::kPointers;
  Finish finish = spec.finish;
  finish.multipliers = PartOf(spec.finish.multipliers, group * outs, outs);
  std::span<const int32_t> bias;
  if (!spec.bias.empty()) bias = spec.bias.subspan(group * outs, outs);
  return internal::PackDense({.weights = {ordered.data(), spec.weights.storage,
                                          PartOf(spec.weights.zero_points, group * outs, outs)},
                              .n = outs,
                              .segments = by_tap ? taps : 1,
                              .segment = by_tap ? ins : ins * taps,
                              .k_stride = 1,
                              .n_stride = ins * taps,
                              .bias = bias},
                             spec.input, finish);
}

// An output pixel; counts on without dividing.
struct Pixel {
  Pixel(const ConvPlan::State& plan, int64_t index)
      : width(plan.out_width), row(index / width), column(index % width) {}
  void Next() {
    if (++column == width) column = 0, ++row;
  }

  int64_t width;
  int64_t row;
  int64_t column;
};

// The pixels of one image under the taps of output pixels.
class Window {
 public:
  // `image` begins at the first channel of the group; `padding` is a pixel of zero points.
  Window(const ConvShape& shape, const uint8_t* image, const uint8_t* padding)
      : shape_(shape), image_(image), padding_(padding) {}

  // Sets out[t * step] for every tap of the output pixel.
  void Find(const Pixel& at, int64_t step, const uint8_t** out) const {
    const ConvShape& s = shape_;
    const int64_t top = at.row * s.stride_height - s.pad_top;
    const int64_t left = at.column * s.stride_width - s.pad_left;
    const bool inside_columns = InsideColumns(left);
    for (int64_t i = 0; i < s.kernel_height; ++i) {
      const int64_t row = top + i * s.dilation_height;
      const bool inside = row >= 0 && row < s.in_height;
      const int64_t first = row * s.in_width + left;
      for (int64_t j = 0; j < s.kernel_width; ++j, out += step) {
        const int64_t column = left + j * s.dilation_width;
        const bool valid = inside && (inside_columns || (column >= 0 && column < s.in_width));
        *out = valid ? image_ + (first + j * s.dilation_width) * s.in_channels : padding_;
      }
    }
  }

  // True if the taps of each kernel row are adjacent bytes of the image, wherever the row is.
  bool IsWhole(const Pixel& at) const {
    return shape_.dilation_width == 1 && shape_.groups == 1 &&
           InsideColumns(at.column * shape_.stride_width - shape_.pad_left);
  }

 private:
  bool InsideColumns(int64_t left) const {
    return left >= 0 && left + (shape_.kernel_width - 1) * shape_.dilation_width < shape_.in_width;
  }

  const ConvShape& shape_;
  const uint8_t* image_;
  const uint8_t* padding_;
};

void FindPointers(const ConvPlan::State& plan, const Window& window, int64_t height, int64_t begin,
                  int64_t end, const uint8_t** pointers) {
  const int64_t taps = plan.taps();
  Pixel pixel(plan, begin);
  for (int64_t tile = begin; tile < end; tile += height, pointers += height * taps) {
    const int64_t rows = std::min(height, end - tile);
    for (int64_t r = 0; r < rows; ++r, pixel.Next()) window.Find(pixel, height, pointers + r);
  }
}

// Copies `count` bytes for each of `pixels`, which are `step` apart in that list.
uint8_t* CopyPixels(const std::vector<const uint8_t*>& pixels, int64_t step, int64_t count,
                    uint8_t flip, uint8_t* to) {
  for (size_t i = 0; i < pixels.size(); i += static_cast<size_t>(step), to += count) {
    const uint8_t* from = pixels[i];
    for (int64_t c = 0; c < count; ++c) to[c] = static_cast<uint8_t>(from[c] ^ flip);
  }
  return to;
}

// The bytes of all taps side by side, as u8.
void Gather(const ConvPlan::State& plan, const Window& window, int64_t begin, int64_t end,
            int64_t depth, uint8_t* bytes, const uint8_t** pointers) {
  const int64_t ins = plan.group_ins(), width = plan.shape.kernel_width;
  const uint8_t flip = internal::FlipOf(plan.storage);
  std::vector<const uint8_t*> pixels(static_cast<size_t>(plan.taps()));
  Pixel pixel(plan, begin);
  for (int64_t index = begin; index < end; ++index, bytes += depth, pixel.Next()) {
    window.Find(pixel, 1, pixels.data());
    uint8_t* to = window.IsWhole(pixel) ? CopyPixels(pixels, width, width * ins, flip, bytes)
                                        : CopyPixels(pixels, 1, ins, flip, bytes);
    std::memset(to, 0, static_cast<size_t>(bytes + depth - to));
    *pointers++ = bytes;
  }
}

void RunGroup(const ConvPlan::State& plan, int64_t group, const uint8_t* image, uint8_t* output,
              ThreadPool& pool) {
  const DenseWeights& weights = plan.groups[static_cast<size_t>(group)];
  // Gathered bytes are flipped after they are read, so they want the padding unflipped.
  std::vector<uint8_t> padding = plan.padding;
  if (plan.path == Path::kGather) {
    for (uint8_t& byte : padding) byte ^= internal::FlipOf(plan.storage);
  }
  const Window window(plan.shape, image + group * plan.group_ins(), padding.data());
  DenseRun run{.weights = &weights,
               .rows = plan.pixels(),
               .out = output + group * plan.group_outs() * OutputSize(plan.output),
               .out_stride = plan.shape.out_channels};
  if (plan.path == Path::kGather) {
    const int64_t depth = 4 * weights.quads;
    run.scratch_per_row = depth;
    run.find = [&, depth](int64_t begin, int64_t end, uint8_t* bytes, const uint8_t** pointers) {
      Gather(plan, window, begin, end, depth, bytes, pointers);
    };
  } else {
    run.find = [&](int64_t begin, int64_t end, uint8_t*, const uint8_t** pointers) {
      FindPointers(plan, window, weights.tiles->rows, begin, end, pointers);
    };
  }
  internal::RunDense(run, pool);
}

void RunDepthwise(const ConvPlan::State& plan, const uint8_t* image, uint8_t* output,
                  ThreadPool& pool) {
  const DepthwiseWeights& weights = plan.depthwise;
  const Window window(plan.shape, image, plan.padding.data());
  const int64_t pixel_bytes = plan.shape.out_channels * OutputSize(plan.output);
  const int64_t grain = std::max<int64_t>(16, 65536 / (weights.groups * 4 * weights.channels));
  pool.For(plan.pixels(), grain, [&](int64_t begin, int64_t end) {
    std::vector<const uint8_t*> taps(static_cast<size_t>(4 * weights.groups), plan.padding.data());
    internal::DepthwiseCall call = weights.Call();
    call.taps = taps.data();
    Pixel pixel(plan, begin);
    for (int64_t index = begin; index < end; ++index, pixel.Next()) {
      window.Find(pixel, 1, taps.data());
      call.out = output + index * pixel_bytes;
      weights.function(call);
    }
  });
}

void RunRows(const ConvPlan::State& plan, const uint8_t* input, void* output, ThreadPool& pool) {
  DenseRun run{.weights = &plan.groups.front(),
               .rows = plan.shape.batch * plan.pixels(),
               .out = output,
               .out_stride = plan.shape.out_channels};
  internal::SetRows(run, input, plan.shape.in_channels, plan.storage);
  internal::RunDense(run, pool);
}

}  // namespace

Result<ConvPlan> ConvPlan::Prepare(const ConvSpec& spec) {
  OCTAVO_CHECK(CheckShape(spec.shape));
  OCTAVO_CHECK(internal::CheckOperands("integer Conv", spec.input, spec.weights, spec.bias,
                                       spec.finish, spec.shape.out_channels));
  auto state = std::make_shared<State>();
  state->shape = spec.shape;
  state->storage = spec.input.storage;
  state->output = spec.finish.output;
  state->out_height = reference::ConvOutHeight(spec.shape);
  state->out_width = reference::ConvOutWidth(spec.shape);
  state->path = ChoosePath(*state);
  state->padding.assign(static_cast<size_t>(spec.shape.in_channels * spec.shape.kernel_width),
                        static_cast<uint8_t>(internal::ZeroAsU8(spec.input)));
  if (state->path == Path::kDepthwise) {
    state->depthwise = internal::PackDepthwise(spec.weights, spec.shape.out_channels, state->taps(),
                                               spec.bias, spec.input, spec.finish);
  } else {
    for (int64_t g = 0; g < spec.shape.groups; ++g) {
      state->groups.push_back(PackGroup(spec, *state, g));
    }
  }
  ConvPlan plan;
  plan.state_ = std::move(state);
  return plan;
}

int64_t ConvPlan::out_height() const { return state_->out_height; }
int64_t ConvPlan::out_width() const { return state_->out_width; }

int64_t ConvPlan::workspace_bytes() const {
  const ConvShape& s = state_->shape;
  return state_->flips_input() ? s.batch * s.in_height * s.in_width * s.in_channels : 0;
}

void ConvPlan::Run(const void* input, void* output, void* workspace, ThreadPool& pool) const {
  const State& plan = *state_;
  const ConvShape& s = plan.shape;
  if (plan.pixels() == 0) return;
  const auto* codes = static_cast<const uint8_t*>(input);
  if (plan.flips_input()) {
    auto* flipped = static_cast<uint8_t*>(workspace);
    pool.For(workspace_bytes(), 1 << 16, [&](int64_t begin, int64_t end) {
      internal::CopyFlipped(codes + begin, end - begin, 0x80, flipped + begin);
    });
    codes = flipped;
  }
  if (plan.path == Path::kRows) return RunRows(plan, codes, output, pool);
  const int64_t out_bytes = plan.pixels() * s.out_channels * OutputSize(plan.output);
  for (int64_t n = 0; n < s.batch; ++n) {
    const uint8_t* image = codes + n * s.in_height * s.in_width * s.in_channels;
    uint8_t* to = static_cast<uint8_t*>(output) + n * out_bytes;
    if (plan.path == Path::kDepthwise) {
      RunDepthwise(plan, image, to, pool);
      continue;
    }
    for (int64_t g = 0; g < s.groups; ++g) RunGroup(plan, g, image, to, pool);
  }
}

}  // namespace octavo::runtime::int8
