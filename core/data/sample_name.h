// SPDX-License-Identifier: Apache-2.0
// The names of samples' blobs.  A name is a path whose extension is the format, with a prefix where
// there are several --data:
//
//   data.npz    img/cat.jpg    0/input_0.pb    3/Input3.npy    of the only --data
//   #1/data.npz                                                of the second --data
//   #1:ids=data.npy                                            of the second, --data ids=data.npy
//   random:SEED[:N]    labels:L.npy                            without a path
//   values:NAME.npy    values:part/all.npz                     within the folder of --values-from
//   evaluate:data.npz  evaluate:#1/data.npz                    of --evaluate, in any of these forms
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace octavo::data {

// kUnread: an image in a format that is not read.
enum class SampleKind {
  kRandom,
  kLabels,
  kValues,
  kEvaluation,
  kNpz,
  kNpy,
  kProto,
  kImage,
  kUnread,
  kZip,
  kOther
};

struct SampleName {
  int64_t set = 0;         // which --data, from 0
  std::string input = {};  // of NAME=FILE; empty: all inputs
  std::string path = {};
};
SampleName ParseSampleName(std::string_view name);
// The inverse; `prefixed` is for one of several --data.
std::string BlobName(const SampleName& name, bool prefixed);

// "a/b.npy" of "values:a/b.npy"; other names as they are.
std::string_view WithoutWord(std::string_view path);
// The name of a blob of --evaluate, from the name that it would have as --data.
std::string EvaluationName(std::string_view name);

// The path of a blob's file, without what else its name says.
std::string FileOf(std::string_view name);

// By the extension or the word before the colon, whatever its case.
SampleKind KindOf(std::string_view path);

// "3/input_1.pb" and "test_data_set_3/Mask.npy": the input's place or its name.  A .npz names its
// inputs itself.
struct NumberedName {
  int64_t sample = 0;
  std::optional<int64_t> place = {};
  std::string input = {};
};
// nullopt for other paths, and for output_K, which the files of expected outputs are called.
std::optional<NumberedName> ParseNumbered(std::string_view path);

// The file name without folder and extension.
std::string StemOf(std::string_view path);

// "3 images, the first of them 'a.webp', are not read: ..", of files of kUnread.
std::string UnreadImages(const std::vector<std::string>& paths);

// A whole number without sign.
std::optional<int64_t> NumberOf(std::string_view text);

}  // namespace octavo::data
