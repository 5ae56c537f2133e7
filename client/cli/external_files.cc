// SPDX-License-Identifier: Apache-2.0
#include "client/cli/external_files.h"

#include <algorithm>
#include <set>
#include <string_view>

namespace octavo::cli {
namespace {

constexpr std::string_view kMark = "data(sha256:";
constexpr size_t kDigits = 64;

bool IsDigest(std::string_view text) {
  return text.size() == kDigits &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace

std::vector<ExternalFile> PayloadFiles(const job::NamedBlob& graph) {
  const std::string_view text = graph.bytes.text();
  std::set<std::string> digests;
  for (size_t at = 0; (at = text.find(kMark, at)) != std::string_view::npos;) {
    at += kMark.size();
    const std::string_view digest = text.substr(at, kDigits);
    if (IsDigest(digest)) digests.emplace(digest);
  }
  std::vector<ExternalFile> files;
  for (const std::string& digest : digests) {
    files.push_back({.name = digest, .path = graph.name + kPayloadFolder + '/' + digest});
  }
  return files;
}

}  // namespace octavo::cli
