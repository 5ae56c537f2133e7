// SPDX-License-Identifier: Apache-2.0
// Bounds a message before protobuf converts it.  Conversion multiplies memory: an empty string
// takes two bytes on the wire and forty as an object, so 4 MiB of them become 160.
#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/zero_copy_stream.h>

#include <cstdint>

#include "core/base/status.h"

namespace octavo::server {

struct MessageBounds {
  int64_t bytes = 1 << 20;  // of the bounded field, all its occurrences together
  int64_t items = 4096;     // elements of each repeated field of messages
  int64_t names = 4096;     // elements of all lists of strings and maps together
  int64_t unknown = 4096;   // fields that the type does not have
};

// Reads the tags and lengths of one message and allocates nothing of its size.  The bounds apply to
// the field `bounded`, which is a message; other fields are skipped.  kInvalidArgument:
// INVALID_SPEC with the path of the field that has too many elements, MALFORMED for bytes that are
// no message.
Status CheckMessage(google::protobuf::io::ZeroCopyInputStream& bytes,
                    const google::protobuf::FieldDescriptor& bounded, const MessageBounds& bounds);

// The same for a whole message of `size` bytes, which may have any size.
Status CheckWholeMessage(google::protobuf::io::ZeroCopyInputStream& bytes, uint32_t size,
                         const google::protobuf::Descriptor& type, const MessageBounds& bounds);

}  // namespace octavo::server
