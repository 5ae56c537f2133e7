// SPDX-License-Identifier: Apache-2.0
// Builds the whole page: the header, then the sections of the table below.
#include "core/report/html/sections.h"
#include "core/report/html/style.h"
#include "core/report/render_html.h"
#include "fmt/format.h"

namespace octavo::report {
namespace {

using html::Escape;

struct Section {
  std::string_view id = {};
  std::string_view caption = {};  // in the table of contents
  std::string (*render)(const v1::Report& report) = nullptr;
  std::string_view css = {};
};

constexpr Section kSections[] = {
    {"warnings", "Warnings", &html::Warnings, "notice"},
    {"sqnr", "Noise along the network", &html::SqnrAlongNetwork},
    {"worst", "Worst layers", &html::WorstLayers},
    {"outputs", "Outputs", &html::Outputs},
    {"values", "All values", &html::AllValues},
    {"rewrites", "Rewrites", &html::Ledger},
    {"rescales", "Rescales", &html::KeptRescales},
    {"float", "Float nodes", &html::FloatNodes},
    {"operators", "Operators", &html::Operators},
    {"passes", "Passes", &html::Passes},
    {"profile", "Profile", &html::Profile},
    {"search", "Search", &html::Search},
    {"options", "Options", &html::Options},
};

std::string Samples(const v1::Numerics& numerics) {
  if (numerics.samples() == 0) return "without samples";
  const std::string count = html::Plural(numerics.samples(), "sample");
  const std::string& source = numerics.samples_source();
  if (source != "random" && source != "synthetic") return "on " + count;
  return fmt::format("on <strong class=\"bad\">{} data</strong>: {}", source, count);
}

std::string Header(const v1::Report& report, std::string_view contents) {
  return fmt::format(
      "<header>\n<h1>Octavo report</h1>\n<p class=\"lead\">Quantized for target "
      "<strong>{}</strong> with "
      "numerics mode <strong>{}</strong>; compared with the float model {}.</p>\n"
      "<nav aria-label=\"Contents\"><ul>{}</ul></nav>\n</header>\n",
      Escape(report.target()), Escape(report.numerics_mode()), Samples(report.numerics()),
      contents);
}

}  // namespace

std::string RenderHtml(const v1::Report& report) {
  std::string contents;
  std::string sections;
  for (const Section& section : kSections) {
    const std::string body = section.render(report);
    if (body.empty()) continue;
    contents += fmt::format("<li><a href=\"#{}\">{}</a></li>", section.id, section.caption);
    sections += fmt::format("<section id=\"{}\" class=\"{}\">\n{}\n</section>\n", section.id,
                            section.css, body);
  }
  std::string page = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<title>Octavo report</title>\n<style>{}</style>\n</head>\n<body>\n"
      "<a class=\"skip\" href=\"#main\">Skip to the figures</a>\n",
      html::kStyle);
  page += Header(report, contents);
  page += "<main id=\"main\">\n<div class=\"cards\">\n" + html::Cards(report) + "</div>\n";
  page += sections;
  page += fmt::format(
      "</main>\n<footer>Octavo {} · action digest <span "
      "class=\"mono\">{}</span></footer>\n</body>\n"
      "</html>\n",
      Escape(report.octavo_version()), Escape(report.action_digest()));
  return page;
}

}  // namespace octavo::report
