// SPDX-License-Identifier: Apache-2.0
// Error handling.  A fallible function returns Status or Result<T>; both are [[nodiscard]].  The
// message of an Error names the offending thing and what it must be; its code tells who must act.
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
  kTooLarge,           // can never fit the limits
  kUnavailable,        // the service cannot be reached, or its answer was cut off
  kDeadlineExceeded,   // time ran out
  kCancelled,          // the caller or the client cancelled it
  kAborted,            // the job's worker died
  kInternal,           // a bug in Octavo
};

// `reason` is one upper-case word that a program can match (ErrorInfo.reason on the wire);
// `node` and `field` name the offending thing where there is one.
struct Error {
  Code code = Code::kInternal;
  std::string message = {};
  std::string reason = {};
  std::string node = {};
  std::string field = {};

  bool operator==(const Error&) const = default;
};

// The reason of an error with this code that sets no more specific one.
std::string_view DefaultReason(Code code);

template <class T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using tl::expected<T, Error>::expected;
};
using Status = Result<void>;

// What Fail returns: converts to any Result; details are added by chained calls:
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

// Returns the error of a callee to the caller.
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
