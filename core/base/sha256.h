// SPDX-License-Identifier: Apache-2.0
// SHA-256 (libcrypto's), in one call or in pieces.  Digests are 64 lower-case hexadecimal digits.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace octavo {

class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;

  void Update(std::span<const std::byte> bytes);
  void Update(std::string_view text);
  // The digest of all updates; the object must not be used afterwards.
  std::string Finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::string Sha256Of(std::span<const std::byte> bytes);
std::string Sha256Of(std::string_view text);

}  // namespace octavo
