// SPDX-License-Identifier: Apache-2.0
// Renders the report on standard input to standard output, for the browser test.
#include <iostream>
#include <iterator>

#include "core/report/json/parse.h"
#include "core/report/render_html.h"

int main() {
  const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
  const auto report = octavo::report::ParseReport(text, octavo::report::UnknownKeys::kRefuse);
  if (!report) {
    std::cerr << report.error().message << '\n';
    return 1;
  }
  std::cout << octavo::report::RenderHtml(*report);
  return std::cout.good() ? 0 : 1;
}
