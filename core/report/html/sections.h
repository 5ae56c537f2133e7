// SPDX-License-Identifier: Apache-2.0
// The sections of the page, in the order of the page.  Each function returns the HTML inside its
// <section>, or an empty text if the report has no data for it.
#pragma once

#include <string>

#include "core/report/html/text.h"

namespace octavo::report::html {

// verdict.cc
std::string Sentence(const v1::Report& report);
std::string Advice(const v1::Report& report);
std::string Weights(const v1::Report& report);
// overview.cc
std::string Cards(const v1::Report& report);
std::string Warnings(const v1::Report& report);
std::string Outputs(const v1::Report& report);
// layers.cc
std::string SqnrAlongNetwork(const v1::Report& report);
std::string AllValues(const v1::Report& report);
// rewrites.cc
std::string Ledger(const v1::Report& report);
std::string KeptRescales(const v1::Report& report);
std::string FloatNodes(const v1::Report& report);
// settings.cc
std::string Operators(const v1::Report& report);
std::string Passes(const v1::Report& report);
std::string Profile(const v1::Report& report);
std::string Equalization(const v1::Report& report);
std::string Search(const v1::Report& report);
std::string Options(const v1::Report& report);

// Helpers of the sections.

// The output with the lowest figure; null if every figure is undefined.
const v1::ValueNumerics* WorstOutput(const Values& outputs, FigureOf figure);
// "4 held-out samples".
std::string SamplesText(const v1::Numerics& numerics);

using Texts = google::protobuf::RepeatedPtrField<std::string>;
// A list with a `<li><code>` for each text.
std::string CodeList(const Texts& list);
// A pair of <dt> and <dd>; `text` is HTML.
std::string Term(std::string_view caption, std::string_view text);

}  // namespace octavo::report::html
