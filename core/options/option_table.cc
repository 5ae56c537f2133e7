// SPDX-License-Identifier: Apache-2.0
#include "core/options/option_table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "core/base/nearest_name.h"
#include "core/options/option_words.h"

namespace octavo {
namespace {

constexpr size_t kMaxNameBytes = 1024;

std::vector<OptionChoice> ActivationTypes() {
  return {{"u8", "unsigned 8 bits"}, {"i8", "signed 8 bits"}, {"i16", "signed 16 bits"}};
}
std::vector<OptionChoice> WeightTypes() {
  return {{"i8", "signed 8 bits"},
          {"i16", "signed 16 bits"},
          {"i4", "signed 4 bits in blocks, of the matrices that --weights-only names"}};
}

std::string_view CheckFileName(const std::string& text) {
  const bool plain = text.find_first_of("/\\") == std::string::npos && text != "..";
  return plain && text.size() <= kMaxNameBytes ? "" : "a file name without a folder";
}

Status WrongType(const OptionRow& row) {
  return WrongOption(row, "", fmt::format("a {}", Name(row.type)));
}

std::string MustBeWithin(const OptionRow& row) {
  const std::string_view what = row.type == OptionType::kInteger ? "a whole number" : "a number";
  return fmt::format("{}, {}", what, BoundsText(row));
}

bool Within(const OptionBounds& bounds, double value) {
  int exponent = 0;
  if (bounds.power_of_two && std::frexp(value, &exponent) != 0.5) return false;
  return (bounds.open ? value > bounds.least : value >= bounds.least) && value <= bounds.most;
}

template <class T>
Status SetNumber(const OptionRow& row, T& field, const OptionValue& value) {
  const auto* whole = std::get_if<int64_t>(&value);
  const auto* real = std::get_if<double>(&value);
  if (whole == nullptr && (real == nullptr || !std::is_same_v<T, double>)) return WrongType(row);
  const double number = whole != nullptr ? static_cast<double>(*whole) : *real;
  const bool fits = number <= static_cast<double>(std::numeric_limits<T>::max());
  if (!fits || !Within(row.bounds, number)) {
    return WrongOption(row, fmt::format("{}", number), MustBeWithin(row));
  }
  field = whole != nullptr ? static_cast<T>(*whole) : static_cast<T>(*real);
  return {};
}

Status CheckChoice(const OptionRow& row, std::string_view name) {
  std::vector<std::string_view> names;
  for (const OptionChoice& choice : row.choices()) names.push_back(choice.name);
  if (std::ranges::find(names, name) != names.end()) return {};
  return WrongOption(row, name,
                     fmt::format("one of {}{}", fmt::join(names, ", "), DidYouMean(name, names)));
}

Status WrongCalibration(const OptionRow& row, std::string_view text) {
  // A percentile keeps the number that was given.
  const std::string percentile =
      fmt::format("percentile{}", text.substr(std::min(text.find(':'), text.size())));
  const std::array<std::string_view, 4> names = {"minmax", "mse", "entropy", percentile};
  const bool known = std::ranges::find(names, text) != names.end();
  return WrongOption(row, text,
                     fmt::format("{}{}", profile::kCalibrationMustBe,
                                 known ? std::string() : DidYouMean(text, names)));
}

Status WrongHoldout(const OptionRow& row, std::string_view text) {
  return WrongOption(row, text, profile::kHoldoutMustBe);
}

Status CheckShapes(const OptionRow& row, const ShapeMap& shapes) {
  for (const auto& [name, dims] : shapes) {
    if (std::ranges::all_of(dims, [](int64_t dim) { return dim > 0; })) continue;
    return WrongOption(row, fmt::format("{}={}", name, fmt::join(dims, ",")),
                       "NAME=D,D,.. with positive dimensions");
  }
  return {};
}

// How to get and set a field, by its type.  `value` is the text of a choice or the text itself.
template <class T>
struct FieldType {  // an enum
  using Enum = T;
  static constexpr OptionType kType = OptionType::kChoice;
  static OptionValue Get(const T& field) { return std::string(WordOf(field)); }
  static Status Set(const OptionRow& row, T& field, const OptionValue& value) {
    const auto* name = std::get_if<std::string>(&value);
    if (name == nullptr) return WrongType(row);
    OCTAVO_CHECK(CheckChoice(row, *name));
    field = *FindWord<T>(*name);
    return {};
  }
};
template <class T>
struct FieldType<std::optional<T>> {  // an enum; without a value the target chooses
  using Enum = T;
  static constexpr OptionType kType = OptionType::kChoice;
  static OptionValue Get(const std::optional<T>& field) {
    return field ? FieldType<T>::Get(*field) : OptionValue(std::string());
  }
  static Status Set(const OptionRow& row, std::optional<T>& field, const OptionValue& value) {
    T chosen = {};
    OCTAVO_CHECK(FieldType<T>::Set(row, chosen, value));
    field = chosen;
    return {};
  }
};
template <class T, OptionType kItsType, class Stored = T>
struct PlainField {
  static constexpr OptionType kType = kItsType;
  static OptionValue Get(const T& field) { return static_cast<Stored>(field); }
  static Status Set(const OptionRow& row, T& field, const OptionValue& value) {
    if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
      return SetNumber(row, field, value);
    } else {
      const auto* given = std::get_if<Stored>(&value);
      if (given == nullptr) return WrongType(row);
      field = *given;
      return {};
    }
  }
};
template <>
struct FieldType<bool> : PlainField<bool, OptionType::kFlag> {};
template <>
struct FieldType<int> : PlainField<int, OptionType::kInteger, int64_t> {};
template <>
struct FieldType<int64_t> : PlainField<int64_t, OptionType::kInteger> {};
template <>
struct FieldType<double> : PlainField<double, OptionType::kReal> {};
template <>
struct FieldType<std::string> : PlainField<std::string, OptionType::kText> {};
template <>
struct FieldType<std::vector<std::string>>
    : PlainField<std::vector<std::string>, OptionType::kNames> {};
template <>
struct FieldType<ShapeMap> : PlainField<ShapeMap, OptionType::kShapes> {};
// A text that `kParse` reads and Name prints; `kWrong` says what another text must be.
template <class T, std::optional<T> (*kParse)(std::string_view),
          Status (*kWrong)(const OptionRow&, std::string_view)>
struct ParsedField {
  static constexpr OptionType kType = OptionType::kText;
  static OptionValue Get(const T& field) { return Name(field); }
  static Status Set(const OptionRow& row, T& field, const OptionValue& value) {
    const auto* text = std::get_if<std::string>(&value);
    if (text == nullptr) return WrongType(row);
    const auto parsed = kParse(*text);
    if (!parsed) return kWrong(row, *text);
    field = *parsed;
    return {};
  }
};
template <>
struct FieldType<profile::Calibration>
    : ParsedField<profile::Calibration, profile::ParseCalibration, WrongCalibration> {};
template <>
struct FieldType<profile::Holdout>
    : ParsedField<profile::Holdout, profile::ParseHoldout, WrongHoldout> {};

template <class T>
T FieldTypeOf(T Options::*);

template <auto kField>
constexpr OptionRow Row(OptionRow row) {
  using T = decltype(FieldTypeOf(kField));
  row.type = FieldType<T>::kType;
  row.get = [](const Options& options) { return FieldType<T>::Get(options.*kField); };
  row.set = [](const OptionRow& own, Options& options, const OptionValue& value) {
    return FieldType<T>::Set(own, options.*kField, value);
  };
  if constexpr (FieldType<T>::kType == OptionType::kChoice) {
    if (row.choices == nullptr) row.choices = &ChoicesOf<typename FieldType<T>::Enum>;
  }
  return row;
}

constexpr OptionRow kRows[] = {
#define OCTAVO_OPTION(field_type, field, initial, ...) \
  Row<&Options::field>({.name = #field, __VA_ARGS__}),
#include "core/options/options.def"
#undef OCTAVO_OPTION
};

template <class T>
bool ParseNumber(std::string_view text, T& number) {
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && rest == end && !text.empty();
}

// Adds "NAME=1,3,224,224"; the name may contain '='.
Status AddShape(const OptionRow& row, ShapeMap& shapes, std::string_view text) {
  const auto wrong = [&] { return WrongOption(row, text, "NAME=D,D,.. with positive dimensions"); };
  const size_t equals = text.rfind('=');
  if (equals == std::string_view::npos || equals == 0) return wrong();
  std::vector<int64_t> dims;
  for (size_t at = equals + 1; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    if (end == at && dims.empty() && end == text.size()) break;  // "x=": a scalar
    int64_t dim = 0;
    if (!ParseNumber(text.substr(at, end - at), dim) || dim <= 0) return wrong();
    dims.push_back(dim);
    at = end + 1;
  }
  const std::string name(text.substr(0, equals));
  if (!shapes.emplace(name, std::move(dims)).second) {
    return Fail(Code::kUsage, "{} names '{}' twice", row.FlagName(), name).Field(row.name);
  }
  return {};
}

// Adds "A,B" as A and B.  A separator after '\\' is part of a name.
Status AddNames(const OptionRow& row, std::vector<std::string>& names, std::string_view text) {
  std::string name;
  const auto end = [&]() -> Status {
    if (name.empty()) {
      return WrongOption(row, text, fmt::format("names with '{}' between them", row.separator));
    }
    names.push_back(std::exchange(name, {}));
    return {};
  };
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == row.separator) {
      name += text[++i];
    } else if (text[i] == row.separator) {
      OCTAVO_CHECK(end());
    } else {
      name += text[i];
    }
  }
  return end();
}

// The value that an argument's text sets, given the value from earlier arguments of the same flag.
Result<OptionValue> ValueOf(const OptionRow& row, OptionValue before, std::string_view text) {
  switch (row.type) {
    case OptionType::kFlag:
      if (text == "true" || text.empty()) return OptionValue(true);
      if (text == "false") return OptionValue(false);
      return WrongOption(row, text, "true or false");
    case OptionType::kInteger: {
      int64_t number = 0;
      if (!ParseNumber(text, number)) return WrongOption(row, text, MustBeWithin(row));
      return OptionValue(number);
    }
    case OptionType::kReal: {
      double number = 0;
      if (!ParseNumber(text, number)) return WrongOption(row, text, MustBeWithin(row));
      return OptionValue(number);
    }
    case OptionType::kText:
    case OptionType::kChoice:
      return OptionValue(std::string(text));
    case OptionType::kNames:
      OCTAVO_CHECK(AddNames(row, std::get<std::vector<std::string>>(before), text));
      return before;
    case OptionType::kShapes:
      OCTAVO_CHECK(AddShape(row, std::get<ShapeMap>(before), text));
      return before;
  }
  return before;
}

}  // namespace

std::string OptionRow::FlagName() const {
  std::string flag = "--" + std::string(name);
  std::ranges::replace(flag, '_', '-');
  return flag;
}

std::vector<std::string> OptionRow::Flags() const {
  std::vector<std::string> flags;
  if (flag == OptionFlag::kByName) flags.push_back(FlagName());
  if (flag == OptionFlag::kPerChoice) {
    for (const OptionChoice& choice : choices()) flags.push_back(fmt::format("--{}", choice.name));
  }
  return flags;
}

std::span<const OptionRow> OptionTable() { return kRows; }

const OptionRow* FindOption(std::string_view name) {
  const auto* row = std::ranges::find(kRows, name, &OptionRow::name);
  return row == std::end(kRows) ? nullptr : row;
}

std::string BoundsText(const OptionRow& row) {
  const OptionBounds& bounds = row.bounds;
  if (std::isfinite(bounds.most)) {
    return fmt::format("{}from {} to {}", bounds.power_of_two ? "a power of two " : "",
                       bounds.least, bounds.most);
  }
  if (!std::isfinite(bounds.least)) return "";
  return fmt::format("{} {}", bounds.open ? "above" : "at least", bounds.least);
}

Failure WrongOption(const OptionRow& row, std::string_view value, std::string_view must) {
  return Fail(Code::kUsage, "{} '{}' must be {}", row.FlagName(), value, must).Field(row.name);
}

Status SetOption(const OptionRow& row, Options& options, const OptionValue& value) {
  if (const auto* text = std::get_if<std::string>(&value); text != nullptr && row.check) {
    if (const std::string_view must = row.check(*text); !must.empty()) {
      return WrongOption(row, *text, must);
    }
  }
  if (const auto* shapes = std::get_if<ShapeMap>(&value)) OCTAVO_CHECK(CheckShapes(row, *shapes));
  return row.set(row, options, value);
}

Status SetOptionText(const OptionRow& row, Options& options, std::string_view text) {
  OCTAVO_TRY(const OptionValue value, ValueOf(row, row.get(options), text));
  return SetOption(row, options, value);
}

Status CheckOptions(const Options& options) {
  const Options defaults;
  for (const OptionRow& row : kRows) {
    const OptionValue value = row.get(options);
    if (value == row.get(defaults)) continue;
    Options copy;
    OCTAVO_CHECK(SetOption(row, copy, value));
  }
  return {};
}

bool IsSet(const OptionRow& row, const Options& options) {
  const OptionValue value = row.get(options);
  switch (row.type) {
    case OptionType::kFlag:
      return std::get<bool>(value);
    case OptionType::kInteger:
      return Within(row.bounds, static_cast<double>(std::get<int64_t>(value)));
    case OptionType::kReal:
      return Within(row.bounds, std::get<double>(value));
    case OptionType::kText:
    case OptionType::kChoice:
      return !std::get<std::string>(value).empty();
    case OptionType::kNames:
      return !std::get<std::vector<std::string>>(value).empty();
    case OptionType::kShapes:
      return !std::get<ShapeMap>(value).empty();
  }
  return false;
}

}  // namespace octavo
