// SPDX-License-Identifier: Apache-2.0
// Errors.  A fallible function returns Status or Result<T>; both are [[nodiscard]].  An Error's
// code says who caused the failure; its message says what was found and what is required.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace octavo {

enum class Code {
  kInvalidArgument,    // the model, the profile or the data is wrong
  kUsage,              // the command or the options are wrong
  kUnimplemented,      // valid, but not supported
  kResourceExhausted,  // too much at this moment; the same job may fit later
  kTooLarge,           // can never fit within the limits
  kUnavailable,        // cannot reach the service, or its reply was incomplete
  kDeadlineExceeded,   // time ran out
  kCancelled,          // a caller requested the stop
  kAborted,            // the job's worker died
  kInternal,           // a defect in Octavo
};

// `reason` is one upper-case word for programs to match (ErrorInfo.reason on the wire); `node` and
// `field` name the offending node and field, if any.
struct Error {
  Code code = Code::kInternal;
  std::string message = {};
  std::string reason = {};
  std::string node = {};
  std::string field = {};

  bool operator==(const Error&) const = default;
};

// The reason reported for a code if no more specific one is known.
std::string_view DefaultReason(Code code);

template <class T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using tl::expected<T, Error>::expected;
};
using Status = Result<void>;

// The return type of Fail: converts to any Result and accepts details in a chain:
//   return Fail(Code::kInvalidArgument, "Conv '{}': ...", name).Node(name).Field("strides");
class [[nodiscard]] Failure {
 public:
  explicit Failure(Error error) : error_(std::move(error)) {}

  Failure&& Node(std::string_view node) && {
    error_.node = node;
    return std::move(*this);
  }
  Failure&& Field(std::string_view field) && {
    error_.field = field;
    return std::move(*this);
  }
  Failure&& Reason(std::string_view reason) && {
    error_.reason = reason;
    return std::move(*this);
  }

  template <class T>
  operator Result<T>() && {  // NOLINT(google-explicit-constructor): that is its purpose
    return tl::unexpected<Error>(std::move(error_));
  }
  template <class T>
  operator Result<T>() const& {  // NOLINT(google-explicit-constructor)
    return tl::unexpected<Error>(error_);
  }
  const Error& error() const { return error_; }

 private:
  Error error_;
};

template <class... Args>
Failure Fail(Code code, fmt::format_string<Args...> format, Args&&... args) {
  return Failure(Error{.code = code,
                       .message = fmt::format(format, std::forward<Args>(args)...),
                       .reason = std::string(DefaultReason(code))});
}

// Passes a callee's error on to the caller.
inline Failure Forward(Error error) { return Failure(std::move(error)); }

}  // namespace octavo

// OCTAVO_TRY(auto x, F());  binds x to F's value or returns F's error.
#define OCTAVO_CONCAT_(a, b) a##b
#define OCTAVO_CONCAT(a, b) OCTAVO_CONCAT_(a, b)
#define OCTAVO_TRY_(tmp, decl, ...)                           \
  auto tmp = (__VA_ARGS__);                                   \
  if (!tmp) return ::octavo::Forward(std::move(tmp).error()); \
  decl = std::move(*tmp)
#define OCTAVO_TRY(decl, ...) OCTAVO_TRY_(OCTAVO_CONCAT(try_, __COUNTER__), decl, __VA_ARGS__)
// OCTAVO_CHECK(F());  returns F's error if it failed.
#define OCTAVO_CHECK(...)                                                                          \
  do {                                                                                             \
    if (auto check_ = (__VA_ARGS__); !check_) return ::octavo::Forward(std::move(check_).error()); \
  } while (false)
