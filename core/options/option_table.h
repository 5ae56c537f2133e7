// SPDX-License-Identifier: Apache-2.0
// The table of a job's options (options.def).  The command line, the report's `options`,
// --options-from, octavo.v1.Options and the goldens iterate over it.  All checks of single options
// are here, so that the command line and the service apply the same ones.
#pragma once

#include <limits>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/status.h"
#include "core/options/options.h"

namespace octavo {

enum class OptionType { kFlag, kInteger, kReal, kText, kChoice, kNames, kShapes };
std::string_view Name(OptionType type);

// The heading of the option's section in `octavo optimize --help`.
enum class OptionGroup { kQuantization, kRewriting, kModel, kResult, kChecks, kRun };
std::string_view Name(OptionGroup group);

// kByName: --NAME with dashes.  kPerChoice: one flag per choice, and a bool of that name on the
// wire.  kNone: the command line sets the option in another way.
enum class OptionFlag { kByName, kPerChoice, kNone };

struct OptionChoice {
  std::string_view name = {};
  std::string_view help = {};
};

// `open`: `least` itself is excluded.
struct OptionBounds {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  bool open = false;
  bool power_of_two = false;
};

// The value of an option of any type.  A choice is its name; "" means that the target decides.
using OptionValue =
    std::variant<bool, int64_t, double, std::string, std::vector<std::string>, ShapeMap>;

struct OptionRow {
  std::string_view name = {};  // the name of the field, the JSON key and the wire's field
  OptionGroup group = OptionGroup::kQuantization;
  std::string_view value = {};  // placeholder in help texts
  char separator = 0;           // between the names of one argument; each list of names has one
  OptionBounds bounds = {};
  std::string_view otherwise = {};  // the default in words, if the value itself does not show it
  OptionFlag flag = OptionFlag::kByName;
  bool changes_result = true;  // part of the report's `options` and of the action digest
  bool adds_results = false;   // asks for more results: part of the action digest alone
  std::vector<OptionChoice> (*choices)() = nullptr;
  // Returns what a text must be if the text is wrong, else "".
  std::string_view (*check)(const std::string& text) = nullptr;
  std::string_view help = {};

  // The type of the field determines these.
  OptionType type = OptionType::kFlag;
  OptionValue (*get)(const Options& options) = nullptr;
  Status (*set)(const OptionRow& row, Options& options, const OptionValue& value) = nullptr;

  std::string FlagName() const;            // "--numerics-limit"
  std::vector<std::string> Flags() const;  // depends on `flag`: none, one, or one per choice
};

std::span<const OptionRow> OptionTable();
// Null for an unknown name.
const OptionRow* FindOption(std::string_view name);

// Sets the field.  kUsage, with the option as the error's field, if the value has another type, is
// not one of the choices or is out of bounds.
Status SetOption(const OptionRow& row, Options& options, const OptionValue& value);
// The same for one command-line argument; an argument of a list option appends to the list.
Status SetOptionText(const OptionRow& row, Options& options, std::string_view text);
// Whether every option has its default or a value that SetOption would accept: for options that did
// not come through the table.
Status CheckOptions(const Options& options);
// Whether the option has a value that SetOption would accept, rather than "" or 0 for "unset".
bool IsSet(const OptionRow& row, const Options& options);
std::string DefaultText(const OptionRow& row);
// "from 0 to 1", "above 0", "at least 1", "a power of two from 16 to 256"; empty without bounds.
std::string BoundsText(const OptionRow& row);

// "--NAME 'VALUE' must be MUST": kUsage with the option as the error's field.
Failure WrongOption(const OptionRow& row, std::string_view value, std::string_view must);

// The options that can change bytes of the result, in table order.
nlohmann::ordered_json OptionsJson(const Options& options);
// The options that decide which results there are and their bytes, in table order: with all
// defaults, for the action digest.
nlohmann::ordered_json ActionOptionsJson(const Options& options);
// The inverse; ignores unknown keys, and absent keys keep their defaults.  kInvalidArgument for a
// wrong type.
Result<Options> OptionsFromJson(const nlohmann::json& json);

}  // namespace octavo
