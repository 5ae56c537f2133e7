// SPDX-License-Identifier: Apache-2.0
// Changes messages by their fields, where a change of bytes would nearly always make them invalid.
#pragma once

#include <google/protobuf/message.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace octavo::fuzz {

// Gives, changes or removes one field somewhere in the message; a list grows or shrinks by one.
void MutateMessage(google::protobuf::Message& message, std::mt19937& random);

// Messages, each after its length in four bytes (little-endian), as in tests/data/recorded.  What
// remains after the last whole message is dropped.
std::vector<std::string> SplitMessages(const uint8_t* data, size_t size);
std::string JoinMessages(const std::vector<std::string>& messages);

// For LLVMFuzzerCustomMutator: changes a field of one of the messages, which are of the type of
// `prototype`, or repeats, drops or swaps messages; every second time bytes, as libFuzzer does.
size_t MutateMessages(const google::protobuf::Message& prototype, uint8_t* data, size_t size,
                      size_t max_size, unsigned seed);

}  // namespace octavo::fuzz
