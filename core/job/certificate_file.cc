// SPDX-License-Identifier: Apache-2.0
// Edits come from a longest common subsequence of the lines that occur once in each text, found as
// the longest increasing subsequence of their positions.
#include "core/job/certificate_file.h"

#include <algorithm>
#include <unordered_map>

#include "core/text/lexer.h"

namespace octavo::job {
namespace {

using nlohmann::ordered_json;

// Names may hold any bytes and are escaped here and in the text.  What else is not UTF-8 is an
// option's word, which the certified job ignores or refuses.
std::string Dump(const ordered_json& value) {
  return value.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

// Steps are most of the file, so they are written without objects of the library in between.
void Write(std::string_view text, std::string& out) {
  const auto plain = [](char c) { return c >= 0x20 && c < 0x7f; };
  if (!std::ranges::all_of(text, plain)) {
    out += Dump(text);
    return;
  }
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  out += '"';
}

// [write(item),..]
template <class Items, class F>
void WriteList(const Items& items, std::string& out, F&& write) {
  out += '[';
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out += ',';
    write(items[i]);
  }
  out += ']';
}

void Write(const verify::Application& application, std::string& out) {
  out += "{\"pass\":";
  Write(application.pass, out);
  out += ",\"rule\":";
  Write(application.rule, out);
  out += ",\"effect\":";
  Write(application.effect, out);
  out += ",\"node\":";
  Write(text::Escape(application.node), out);
  out += ",\"values\":";
  WriteList(application.values, out,
            [&](const std::string& name) { Write(text::Escape(name), out); });
  out += '}';
}

void Write(const verify::Edit& edit, std::string& out) {
  out += fmt::format("{{\"at\":{},\"before\":", edit.at);
  WriteList(edit.before, out, [&](const std::string& line) { Write(line, out); });
  out += ",\"after\":";
  WriteList(edit.after, out, [&](const std::string& line) { Write(line, out); });
  out += '}';
}

void Write(const verify::Step& step, std::string& out) {
  const auto write = [&](const auto& item) { Write(item, out); };
  out += "{\"applications\":";
  WriteList(step.applications, out, write);
  out += ",\"edits\":";
  WriteList(step.edits, out, write);
  out += "}\n";
}

struct Pair {
  int64_t from = 0, to = 0;
};

// Lines that occur once in both texts, in the order of `from`.
std::vector<Pair> UniquePairs(const std::vector<std::string>& from,
                              const std::vector<std::string>& to) {
  struct Seen {
    int64_t from = -1, to = -1;
    bool repeated = false;
  };
  std::unordered_map<std::string_view, Seen> lines;
  for (size_t i = 0; i < from.size(); ++i) {
    Seen& seen = lines[from[i]];
    seen.repeated |= seen.from >= 0;
    seen.from = static_cast<int64_t>(i);
  }
  for (size_t i = 0; i < to.size(); ++i) {
    Seen& seen = lines[to[i]];
    seen.repeated |= seen.to >= 0;
    seen.to = static_cast<int64_t>(i);
  }
  std::vector<Pair> pairs;
  for (size_t i = 0; i < from.size(); ++i) {
    const Seen& seen = lines[from[i]];
    if (!seen.repeated && seen.to >= 0) pairs.push_back({static_cast<int64_t>(i), seen.to});
  }
  return pairs;
}

std::vector<Pair> LongestIncreasing(const std::vector<Pair>& pairs) {
  std::vector<int64_t> last, previous(pairs.size(), -1);  // indices into `pairs`
  for (size_t i = 0; i < pairs.size(); ++i) {
    const auto at =
        std::lower_bound(last.begin(), last.end(), pairs[i].to,
                         [&](int64_t index, int64_t to) { return pairs[index].to < to; });
    if (at != last.begin()) previous[i] = *(at - 1);
    if (at == last.end()) {
      last.push_back(static_cast<int64_t>(i));
    } else {
      *at = static_cast<int64_t>(i);
    }
  }
  std::vector<Pair> chain;
  for (int64_t i = last.empty() ? -1 : last.back(); i >= 0; i = previous[i]) {
    chain.push_back(pairs[i]);
  }
  std::reverse(chain.begin(), chain.end());
  return chain;
}

}  // namespace

std::vector<verify::Edit> Diff(const std::vector<std::string>& from,
                               const std::vector<std::string>& to) {
  std::vector<Pair> kept = LongestIncreasing(UniquePairs(from, to));
  kept.push_back({static_cast<int64_t>(from.size()), static_cast<int64_t>(to.size())});
  std::vector<verify::Edit> edits;
  int64_t i = 0, j = 0;
  for (const Pair& pair : kept) {
    if (i < pair.from || j < pair.to) {
      edits.push_back({.at = i,
                       .before = {from.begin() + i, from.begin() + pair.from},
                       .after = {to.begin() + j, to.begin() + pair.to}});
    }
    i = pair.from + 1;
    j = pair.to + 1;
  }
  return edits;
}

std::string WriteCertificate(const verify::Certificate& certificate) {
  ordered_json head = {{"octavo_certificate", 1},
                       {"octavo_version", certificate.octavo_version},
                       {"numerics_mode", certificate.numerics_mode},
                       {"options", certificate.options},
                       {"rules", certificate.rules},
                       {"before_sha256", certificate.before_sha256},
                       {"steps", certificate.steps.size()},
                       {"data", ordered_json::array()}};
  size_t size = 0;
  for (const auto& [digest, blob] : certificate.data) {
    head["data"].push_back({{"sha256", digest}, {"bytes", blob.size()}});
    size += blob.size();
  }
  std::string text = Dump(head) + "\n";
  for (const verify::Step& step : certificate.steps) Write(step, text);
  text.reserve(text.size() + size);
  for (const auto& [digest, blob] : certificate.data) text += blob.text();
  return text;
}

}  // namespace octavo::job
