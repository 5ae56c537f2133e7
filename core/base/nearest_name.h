// SPDX-License-Identifier: Apache-2.0
// The name that a misspelt one was probably meant to be.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace octavo {

// The name that is the fewest edits away from `word`: an edit inserts, deletes or replaces a
// character or swaps two neighbours, and case does not count.  Empty if each name is more than a
// third of the word's length away.  The first of equally near names.
std::string_view NearestName(std::string_view word, std::span<const std::string_view> names);

// "; did you mean 'NAME'?" to append to an error; empty without a near name.
std::string DidYouMean(std::string_view word, std::span<const std::string_view> names);
std::string DidYouMean(std::string_view word, std::span<const std::string> names);

}  // namespace octavo
