// The parts of the page, in reading order.  Each takes the whole report and gives the HTML inside
// its <section>; an empty one means that the report has nothing for it.
#pragma once

#include <string>

#include "core/report/html/text.h"

namespace octavo::report::html {

// overview.cc
std::string Cards(const Json& report);
std::string Warnings(const Json& report);
std::string Outputs(const Json& report);
// layers.cc
std::string SqnrAlongNetwork(const Json& report);
std::string WorstLayers(const Json& report);
std::string AllValues(const Json& report);
// rewrites.cc
std::string Ledger(const Json& report);
std::string KeptRescales(const Json& report);
std::string FloatNodes(const Json& report);
// settings.cc
std::string Operators(const Json& report);
std::string Passes(const Json& report);
std::string Profile(const Json& report);
std::string Options(const Json& report);

// What several of them are made of.

// The members of list `key`, none where it is absent.
const Json& List(const Json& object, std::string_view key);
// `<li><code>` for each text of `list`.
std::string CodeList(const Json& list);
// A pair of <dt> and <dd>; `text` is HTML already.
std::string Term(std::string_view caption, std::string_view text);

}  // namespace octavo::report::html
