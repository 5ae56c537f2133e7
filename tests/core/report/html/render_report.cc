// Renders the report on standard input to standard output, for the browser test.
#include <iostream>

#include "core/report/render_html.h"

int main() {
  std::cout << octavo::report::RenderHtml(nlohmann::json::parse(std::cin));
  return std::cout.good() ? 0 : 1;
}
