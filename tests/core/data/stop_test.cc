// SPDX-License-Identifier: Apache-2.0
// A stop must be heard within 100 ms while samples are read.  The bound here is 400 ms of
// processor time, so that a busy machine does not fail, for one batch of 200 MB.
#include <gtest/gtest.h>
#include <png.h>

#include <atomic>
#include <ctime>
#include <thread>

#include "tests/core/data/cases.h"

namespace octavo::data {
namespace {

constexpr int64_t kElements = 50'000'000;
constexpr double kMost = 0.4;  // seconds of processor time

double ProcessSeconds() {
  timespec now = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

struct Stopped {
  bool in_time = false;    // the stop came while the batch was read
  double seconds = 0;      // processor time from the stop, or the begin, to the end
  std::string error = {};  // other than that of the stop
};

// Reads the first batch and stops it after this processor time; negative: never.
Stopped ReadAndStop(const Samples& samples, double after) {
  const StopToken stop;
  std::atomic<double> since = ProcessSeconds();
  std::atomic<bool> done = false;
  const double begin = since;
  std::thread stopper([&] {
    while (!done && (after < 0 || ProcessSeconds() - begin < after)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (done) return;
    since = ProcessSeconds();
    stop.RequestStop();
  });
  const auto batch = samples.batches.Read(0, stop);
  const double end = ProcessSeconds();
  done = true;
  stopper.join();
  if (batch) return {.seconds = end - since};
  if (batch.error().code == Code::kCancelled) return {.in_time = true, .seconds = end - since};
  return {.error = batch.error().message};
}

void ExpectHeard(const Result<Samples>& samples) {
  ASSERT_TRUE(samples) << samples.error().message;
  const Stopped whole = ReadAndStop(*samples, -1);
  ASSERT_EQ(whole.error, "");
  int heard = 0;
  for (const double share : {0.05, 0.4, 0.75}) {
    const Stopped stopped = ReadAndStop(*samples, share * whole.seconds);
    ASSERT_EQ(stopped.error, "");
    if (!stopped.in_time) continue;
    ++heard;
    EXPECT_LT(stopped.seconds, kMost) << "stopped at " << share << " of " << whole.seconds;
  }
  EXPECT_GT(heard, 0);
}

ir::Tensor Ones(ir::DType dtype, int64_t count) {
  ir::Tensor tensor(dtype, {1, count});
  if (dtype == ir::DType::kF64) {
    std::ranges::fill(tensor.mutable_values<double>(), 1.0);
  } else {
    std::fill_n(tensor.mutable_raw(), tensor.bytes(), std::byte{1});
  }
  return tensor;
}

TEST(Stop, IsHeardWhileSamplesAreDrawn) {
  ExpectHeard(Cut({{"random:1:1", Blob()}}, {FloatInput("x", {1, kElements})}));
}

TEST(Stop, IsHeardWhileNumbersAreConverted) {
  for (const ir::DType dtype : {ir::DType::kU8, ir::DType::kF64}) {
    ExpectHeard(Cut({Npy("x.npy", Ones(dtype, kElements))}, {FloatInput("x", {1, kElements})},
                    {.cast = true}));
  }
}

TEST(Stop, IsHeardWhileElementsOfAnArchiveAreCheckedAndSwapped) {
  ExpectHeard(Cut({Npz({{"x", Ones(ir::DType::kBool, 4 * kElements)}})},
                  {Input("x", ir::DType::kBool, {1, 4 * kElements})}));
  std::string npy = WriteNpy(Ones(ir::DType::kU32, kElements));
  npy[npy.find("'<u4'") + 1] = '>';
  const auto packed = PackZip({{"x.npy", Blob(std::move(npy))}});
  ASSERT_TRUE(packed) << packed.error().message;
  ExpectHeard(Cut({{"d.npz", *packed}}, {Input("x", ir::DType::kU32, {1, kElements})}));
}

std::string GreyPng(uint32_t side) {
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  image.width = image.height = side;
  image.format = PNG_FORMAT_GRAY;
  const std::string pixels(size_t{side} * side, '\x55');
  png_alloc_size_t bytes = 0;
  EXPECT_TRUE(png_image_write_to_memory(&image, nullptr, &bytes, 0, pixels.data(), 0, nullptr));
  std::string file(bytes, '\0');
  EXPECT_TRUE(png_image_write_to_memory(&image, file.data(), &bytes, 0, pixels.data(), 0, nullptr));
  return file;
}

// Decodes 48 MB of pixels, scales them and stores 200 MB of floats.
TEST(Stop, IsHeardWhileAnImageIsDecodedScaledAndStored) {
  const Blob file(GreyPng(4000));
  ExpectHeard(
      Cut({{"x.png", file}}, {FloatInput("x", {1, 3, 4096, 4096})}, {.image = "size=4096"}));
}

}  // namespace
}  // namespace octavo::data
