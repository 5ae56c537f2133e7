// SPDX-License-Identifier: Apache-2.0
// Builds the whole page: the header, then the sections of the table below.
#include "core/report/html/script.h"
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
    {"advice", "What to do", &html::Advice},
    {"sqnr", "Noise along the network", &html::SqnrAlongNetwork},
    {"summary", "Summary", &html::Cards, "cards"},
    {"warnings", "Warnings", &html::Warnings, "notice"},
    {"values", "Values", &html::AllValues},
    {"weights", "Weights", &html::Weights},
    {"outputs", "Outputs", &html::Outputs},
    {"rewrites", "Rewrites", &html::Ledger},
    {"rescales", "Rescales", &html::KeptRescales},
    {"float", "Float nodes", &html::FloatNodes},
    {"operators", "Operators", &html::Operators},
    {"passes", "Passes", &html::Passes},
    {"profile", "Profile", &html::Profile},
    {"search", "Search", &html::Search},
    {"equalization", "Equalization", &html::Equalization},
    {"options", "Options", &html::Options},
};

// Says where figures are not of data.
std::string NoData(const v1::Numerics& numerics) {
  const std::string& source = numerics.samples_source();
  if (source != "random" && source != "synthetic") return {};
  return fmt::format(", on <strong class=\"bad\">{} data</strong>", source);
}

std::string Header(const v1::Report& report, std::string_view contents) {
  return fmt::format(
      "<header>\n<p class=\"lead\">Octavo report: quantized for target <strong>{}</strong> with "
      "numerics mode <strong>{}</strong>, compared with the float model{}</p>\n<h1>{}</h1>\n"
      "<nav aria-label=\"Contents\"><ul>{}</ul></nav>\n</header>\n",
      Escape(report.target()), Escape(report.numerics_mode()), NoData(report.numerics()),
      html::Sentence(report), contents);
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
  page += "<main id=\"main\">\n" + sections;
  page += fmt::format(
      "</main>\n<footer>Octavo {} · action digest <span "
      "class=\"mono\">{}</span></footer>\n<script>{}</script>\n</body>\n"
      "</html>\n",
      Escape(report.octavo_version()), Escape(report.action_digest()), html::kScript);
  return page;
}

}  // namespace octavo::report
