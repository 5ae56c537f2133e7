// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/mutate_message.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace octavo::fuzz {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using Random = std::mt19937;

constexpr int kDeepest = 8;

bool OneIn(Random& random, unsigned count) { return random() % count == 0; }

template <class T>
T Integer(Random& random) {
  const T odd[] = {
      0, 1, 2, T(-1), T(-5), std::numeric_limits<T>::min(), std::numeric_limits<T>::max()};
  if (OneIn(random, 2)) return odd[random() % std::size(odd)];
  return static_cast<T>(random());
}

double Real(Random& random) {
  constexpr double kOdd[] = {0.0,
                             -0.0,
                             1.0,
                             -1.0,
                             1e300,
                             std::numeric_limits<double>::quiet_NaN(),
                             std::numeric_limits<double>::infinity()};
  if (OneIn(random, 2)) return kOdd[random() % std::size(kOdd)];
  return static_cast<double>(random()) / 1e6;
}

std::string Text(std::string text, Random& random) {
  const size_t size = text.size();
  text.resize(size + 32);
  const size_t mutated =
      LLVMFuzzerMutate(reinterpret_cast<uint8_t*>(text.data()), size, text.size());
  text.resize(mutated);
  if (OneIn(random, 8)) text += std::string(1, static_cast<char>(random()));
  return text;
}

void SetScalar(Message& message, const FieldDescriptor& field, Random& random) {
  const Reflection& fields = *message.GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return fields.SetInt32(&message, &field, Integer<int32_t>(random));
    case FieldDescriptor::CPPTYPE_INT64:
      return fields.SetInt64(&message, &field, Integer<int64_t>(random));
    case FieldDescriptor::CPPTYPE_UINT32:
      return fields.SetUInt32(&message, &field, Integer<uint32_t>(random));
    case FieldDescriptor::CPPTYPE_UINT64:
      return fields.SetUInt64(&message, &field, Integer<uint64_t>(random));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return fields.SetDouble(&message, &field, Real(random));
    case FieldDescriptor::CPPTYPE_FLOAT:
      return fields.SetFloat(&message, &field, static_cast<float>(Real(random)));
    case FieldDescriptor::CPPTYPE_BOOL:
      return fields.SetBool(&message, &field, OneIn(random, 2));
    case FieldDescriptor::CPPTYPE_ENUM:
      return fields.SetEnumValue(&message, &field, static_cast<int>(random() % 8));
    case FieldDescriptor::CPPTYPE_STRING:
      return fields.SetString(&message, &field, Text(fields.GetString(message, &field), random));
    case FieldDescriptor::CPPTYPE_MESSAGE:
      break;
  }
}

// Adds an element to a list: a copy of its first one, or an empty message or text.
void Grow(Message& message, const FieldDescriptor& field, Random& random) {
  const Reflection& fields = *message.GetReflection();
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
    Message* added = fields.AddMessage(&message, &field);
    if (fields.FieldSize(message, &field) > 1 && OneIn(random, 2)) {
      added->CopyFrom(fields.GetRepeatedMessage(message, &field, 0));
    }
  } else if (field.cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
    fields.AddString(&message, &field, Text({}, random));
  }
}

void Mutate(Message& message, Random& random, int depth) {
  const auto& type = *message.GetDescriptor();
  if (type.field_count() == 0) return;
  const FieldDescriptor& field = *type.field(static_cast<int>(random() % type.field_count()));
  const Reflection& fields = *message.GetReflection();
  const bool is_message = field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
  if (field.is_repeated()) {
    const int count = fields.FieldSize(message, &field);
    if (count == 0 || OneIn(random, 4)) return Grow(message, field, random);
    if (OneIn(random, 4)) return fields.RemoveLast(&message, &field);
    if (!is_message) return;
    const int at = static_cast<int>(random() % count);
    return Mutate(*fields.MutableRepeatedMessage(&message, &field, at), random, depth + 1);
  }
  if (OneIn(random, 8)) return fields.ClearField(&message, &field);
  if (!is_message) return SetScalar(message, field, random);
  if (depth < kDeepest) Mutate(*fields.MutableMessage(&message, &field), random, depth + 1);
}

void MutateOrder(std::vector<std::string>& messages, Random& random) {
  const size_t at = random() % messages.size();
  const size_t other = random() % messages.size();
  switch (random() % 3) {
    case 0:
      messages.insert(messages.begin() + static_cast<ptrdiff_t>(at), messages[other]);
      break;
    case 1:
      messages.erase(messages.begin() + static_cast<ptrdiff_t>(at));
      break;
    default:
      std::swap(messages[at], messages[other]);
  }
}

}  // namespace

void MutateMessage(Message& message, Random& random) { Mutate(message, random, 0); }

std::vector<std::string> SplitMessages(const uint8_t* data, size_t size) {
  std::vector<std::string> messages;
  uint32_t length = 0;
  while (size >= sizeof(length)) {
    std::memcpy(&length, data, sizeof(length));
    data += sizeof(length);
    size -= sizeof(length);
    if (length > size) break;
    messages.emplace_back(reinterpret_cast<const char*>(data), length);
    data += length;
    size -= length;
  }
  return messages;
}

std::string JoinMessages(const std::vector<std::string>& messages) {
  std::string joined;
  for (const std::string& message : messages) {
    const auto length = static_cast<uint32_t>(message.size());
    joined.append(reinterpret_cast<const char*>(&length), sizeof(length));
    joined += message;
  }
  return joined;
}

size_t MutateMessages(const Message& prototype, uint8_t* data, size_t size, size_t max_size,
                      unsigned seed) {
  Random random(seed);
  std::vector<std::string> messages = SplitMessages(data, size);
  if (messages.empty() || OneIn(random, 2)) return LLVMFuzzerMutate(data, size, max_size);
  std::string& chosen = messages[random() % messages.size()];
  const std::unique_ptr<Message> message(prototype.New());
  if (message->ParsePartialFromString(chosen) && !OneIn(random, 4)) {
    MutateMessage(*message, random);
    chosen = message->SerializePartialAsString();
  } else {
    MutateOrder(messages, random);
  }
  const std::string joined = JoinMessages(messages);
  if (joined.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  std::copy(joined.begin(), joined.end(), data);
  return joined.size();
}

}  // namespace octavo::fuzz
