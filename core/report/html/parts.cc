#include "core/report/html/sections.h"
#include "fmt/format.h"

namespace octavo::report::html {

const Json& List(const Json& object, std::string_view key) {
  static const Json kEmpty = Json::array();
  const Json& list = Member(object, key);
  return list.is_array() ? list : kEmpty;
}

std::string CodeList(const Json& list) {
  std::string html = "<ul class=\"plain\">";
  for (const Json& text : list) {
    html += fmt::format("<li><code>{}</code></li>", Escape(String(text)));
  }
  return html + "</ul>";
}

std::string Term(std::string_view caption, std::string_view text) {
  return fmt::format("<div><dt>{}</dt><dd>{}</dd></div>", caption, text);
}

}  // namespace octavo::report::html
