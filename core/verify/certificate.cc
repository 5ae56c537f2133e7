// SPDX-License-Identifier: Apache-2.0
// Reading treats the file as hostile: the text part is bounded, nesting is bounded while it is
// parsed, and each count is bounded by the bytes that spell it out.
#include "core/verify/certificate.h"

#include "core/base/sha256.h"
#include "core/text/lexer.h"

namespace octavo::verify {
namespace {

using nlohmann::json;

constexpr size_t kMaxLine = size_t{1} << 30;
constexpr int64_t kMaxSteps = 256;
constexpr int kMaxDepth = 8;

class Reader {
 public:
  explicit Reader(const Blob& bytes) : bytes_(bytes) {}

  Result<Certificate> Run() {
    Certificate result;
    OCTAVO_TRY(const json head, TakeLine());
    if (head.value("octavo_certificate", json()) != 1) {
      return Wrong("'octavo_certificate' is not 1: not a certificate of version 1");
    }
    OCTAVO_CHECK(ReadHead(head, result));
    OCTAVO_TRY(const int64_t steps, Count(head, "steps", kMaxSteps));
    for (int64_t i = 0; i < steps; ++i) {
      OCTAVO_TRY(const json row, TakeLine());
      OCTAVO_TRY(Step step, ReadStep(row));
      result.steps.push_back(std::move(step));
    }
    OCTAVO_CHECK(ReadData(head, result));
    return result;
  }

 private:
  Failure Wrong(std::string_view what) const {
    return Refuse("certificate line {}: {}", line_, what);
  }

  Result<json> TakeLine() {
    ++line_;
    const std::string_view rest = bytes_.text().substr(at_);
    const size_t end = rest.substr(0, kMaxLine).find('\n');
    if (end == std::string_view::npos) {
      if (rest.size() < kMaxLine) return Wrong("the file ends within it");
      return Fail(Code::kTooLarge, "certificate line {} has more than 1 GiB", line_);
    }
    bool deep = false;
    const auto watch = [&](int depth, json::parse_event_t, json&) {
      deep |= depth > kMaxDepth;
      return !deep;
    };
    at_ += end + 1;
    json row = json::parse(rest.substr(0, end), watch, /*allow_exceptions=*/false);
    if (deep) return Wrong("nested too deep");
    if (!row.is_object()) return Wrong("not a JSON object");
    return row;
  }

  Result<int64_t> Count(const json& row, const char* field, int64_t most) const {
    const auto at = row.find(field);
    if (at == row.end() || !at->is_number_unsigned()) {
      return Wrong(fmt::format("'{}' is not a count", field));
    }
    const uint64_t count = at->get<uint64_t>();
    if (count > static_cast<uint64_t>(most)) {
      return Fail(Code::kTooLarge, "certificate line {}: '{}' is {}, more than {}", line_, field,
                  count, most);
    }
    return static_cast<int64_t>(count);
  }
  Result<std::string> Text(const json& row, const char* field) const {
    const auto at = row.find(field);
    if (at == row.end() || !at->is_string()) {
      return Wrong(fmt::format("'{}' is not a string", field));
    }
    return at->get<std::string>();
  }
  // Names are written as core/text escapes them, because JSON is UTF-8 and a name may be any bytes.
  Status Unescape(std::string& name) const {
    std::optional<std::string> plain = text::Unescape(name);
    if (!plain) return Wrong(fmt::format("'{}' is no escaped name", name));
    name = *std::move(plain);
    return {};
  }
  Result<const json*> List(const json& row, const char* field,
                           json::value_t of = json::value_t::object) const {
    const auto at = row.find(field);
    if (at == row.end() || !at->is_array()) return Wrong(fmt::format("'{}' is no list", field));
    for (const json& each : *at) {
      if (each.type() != of) {
        return Wrong(fmt::format("'{}' lists no {}s", field, json(of).type_name()));
      }
    }
    return &*at;
  }
  Result<std::vector<std::string>> Texts(const json& row, const char* field) const {
    OCTAVO_TRY(const json* list, List(row, field, json::value_t::string));
    return list->get<std::vector<std::string>>();
  }

  Status ReadHead(const json& head, Certificate& result) const {
    OCTAVO_TRY(result.octavo_version, Text(head, "octavo_version"));
    OCTAVO_TRY(result.numerics_mode, Text(head, "numerics_mode"));
    OCTAVO_TRY(result.before_sha256, Text(head, "before_sha256"));
    const auto options = head.find("options");
    if (options == head.end() || !options->is_object()) return Wrong("'options' is no object");
    OCTAVO_CHECK(Text(*options, "numerics_limit"));
    result.options = *options;
    OCTAVO_TRY(const json* rules, List(head, "rules"));
    result.rules = *rules;
    return {};
  }

  Result<Step> ReadStep(const json& row) const {
    Step step;
    OCTAVO_TRY(const json* applications, List(row, "applications"));
    for (const json& each : *applications) {
      Application application;
      OCTAVO_TRY(application.pass, Text(each, "pass"));
      OCTAVO_TRY(application.rule, Text(each, "rule"));
      OCTAVO_TRY(application.effect, Text(each, "effect"));
      OCTAVO_TRY(application.node, Text(each, "node"));
      OCTAVO_TRY(application.values, Texts(each, "values"));
      OCTAVO_CHECK(Unescape(application.node));
      for (std::string& name : application.values) OCTAVO_CHECK(Unescape(name));
      step.applications.push_back(std::move(application));
    }
    OCTAVO_TRY(const json* edits, List(row, "edits"));
    for (const json& each : *edits) {
      Edit edit;
      OCTAVO_TRY(edit.at, Count(each, "at", INT64_MAX));
      OCTAVO_TRY(edit.before, Texts(each, "before"));
      OCTAVO_TRY(edit.after, Texts(each, "after"));
      step.edits.push_back(std::move(edit));
    }
    return step;
  }

  Status ReadData(const json& head, Certificate& result) {
    line_ = 1;  // which lists the data
    OCTAVO_TRY(const json* rows, List(head, "data"));
    for (const json& row : *rows) {
      OCTAVO_TRY(std::string digest, Text(row, "sha256"));
      OCTAVO_TRY(const int64_t size, Count(row, "bytes", INT64_MAX));
      if (static_cast<size_t>(size) > bytes_.size() - at_) {
        return Refuse("the certificate ends within data {}", digest);
      }
      const Blob data = bytes_.Slice(at_, static_cast<size_t>(size));
      at_ += static_cast<size_t>(size);
      if (Sha256Of(data.bytes()) != digest) {
        return Refuse("data of the certificate do not have digest {}", digest);
      }
      result.data.insert_or_assign(std::move(digest), data);
    }
    if (at_ == bytes_.size()) return {};
    return Refuse("{} bytes follow the certificate", bytes_.size() - at_);
  }

  const Blob& bytes_;
  size_t at_ = 0;
  int line_ = 0;
};

}  // namespace

Result<Certificate> Read(const Blob& bytes) { return Reader(bytes).Run(); }

}  // namespace octavo::verify
