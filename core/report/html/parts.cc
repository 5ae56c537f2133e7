// SPDX-License-Identifier: Apache-2.0
#include "core/report/html/sections.h"
#include "fmt/format.h"

namespace octavo::report::html {

std::string CodeList(const Texts& list) {
  std::string html = "<ul class=\"plain\">";
  for (const std::string& text : list) {
    html += fmt::format("<li><code>{}</code></li>", Escape(text));
  }
  return html + "</ul>";
}

std::string Term(std::string_view caption, std::string_view text) {
  return fmt::format("<div><dt>{}</dt><dd>{}</dd></div>", caption, text);
}

}  // namespace octavo::report::html
