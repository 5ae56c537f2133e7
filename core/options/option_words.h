// SPDX-License-Identifier: Apache-2.0
// The names of the enumerators that options use: for each one, its name and its meaning.
#pragma once

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "core/options/option_table.h"

namespace octavo {

template <class E>
struct OptionWord {
  E value = {};
  OptionChoice choice = {};
};

template <class E>
std::vector<OptionWord<E>> WordsOf();
template <>
std::vector<OptionWord<EmitForm>> WordsOf();
template <>
std::vector<OptionWord<WeightScales>> WordsOf();
template <>
std::vector<OptionWord<Rounding>> WordsOf();
template <>
std::vector<OptionWord<Equalize>> WordsOf();
template <>
std::vector<OptionWord<OutputType>> WordsOf();
template <>
std::vector<OptionWord<NumericsLimit>> WordsOf();
template <>
std::vector<OptionWord<target::SchemeKind>> WordsOf();
template <>
std::vector<OptionWord<const numerics::Mode*>> WordsOf();
template <>
std::vector<OptionWord<ir::DType>> WordsOf();

template <class E>
std::vector<OptionChoice> ChoicesOf() {
  std::vector<OptionChoice> choices;
  for (const OptionWord<E>& word : WordsOf<E>()) choices.push_back(word.choice);
  return choices;
}

template <class E>
std::string_view WordOf(E value) {
  const auto words = WordsOf<E>();
  const auto at = std::ranges::find(words, value, &OptionWord<E>::value);
  return at == words.end() ? std::string_view() : at->choice.name;
}

template <class E>
std::optional<E> FindWord(std::string_view name) {
  for (const OptionWord<E>& word : WordsOf<E>()) {
    if (word.choice.name == name) return word.value;
  }
  return std::nullopt;
}

}  // namespace octavo
