// SPDX-License-Identifier: Apache-2.0
// An image as an array: one sample, decoded when it is read.
#pragma once

#include "core/data/array.h"
#include "core/data/image_spec.h"
#include "core/data/zip_archive.h"

namespace octavo::data {

// `name` is the file's name for messages.  The array is float32, or uint8 for an input of that
// type.
Result<ArrayPtr> OpenImage(std::string name, const ImageSpec& spec, const Blob& bytes);
Result<ArrayPtr> OpenImage(std::string name, const ImageSpec& spec,
                           std::shared_ptr<ZipArchive> archive, const ZipMember& member);

}  // namespace octavo::data
