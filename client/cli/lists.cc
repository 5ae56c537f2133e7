// SPDX-License-Identifier: Apache-2.0
// octavo passes, ops, targets, options: prints the tables of the core.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "client/cli/commands.h"
#include "client/cli/exit_code.h"
#include "client/cli/model_arguments.h"
#include "client/cli/table.h"
#include "core/job/ops_legend.h"

namespace octavo::cli {
namespace {

std::string CellOf(const nlohmann::ordered_json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (!value.is_array()) return value.dump();
  std::string text;
  for (const auto& item : value) text += (text.empty() ? "" : ",") + CellOf(item);
  return text;
}

// Prints the table as JSON lines, or in columns with their keys as headings.
void Print(const Invocation& invocation, const std::string& table) {
  if (invocation.json) {
    invocation.host.out << table;
    return;
  }
  std::vector<nlohmann::ordered_json> rows;
  std::vector<std::string> keys;
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) {
    rows.push_back(nlohmann::ordered_json::parse(line));
    for (const auto& [key, value] : rows.back().items()) {
      if (std::ranges::find(keys, key) == keys.end()) keys.push_back(key);
    }
  }
  std::vector<std::string> headings = keys;
  for (std::string& heading : headings) std::ranges::replace(heading, '_', ' ');
  Table columns(std::move(headings));
  for (const auto& row : rows) {
    std::vector<std::string> cells;
    for (const std::string& key : keys) {
      cells.push_back(row.contains(key) ? CellOf(row[key]) : std::string());
    }
    columns.Add(std::move(cells));
  }
  invocation.host.out << columns.Text();
}

void PrintOps(const Invocation& invocation, const std::string& table) {
  Print(invocation, table);
  if (!invocation.json) invocation.host.out << '\n' << job::OpsLegend();
}

// Prints each pass with its postcondition, then its rules.
void PrintPasses(const Invocation& invocation, const std::string& table) {
  if (invocation.json) {
    invocation.host.out << table;
    return;
  }
  std::istringstream lines(table);
  std::string pass;
  for (std::string line; std::getline(lines, line);) {
    const auto rule = nlohmann::json::parse(line);
    const auto text = [&](const char* key) { return rule.at(key).get<std::string>(); };
    if (text("pass") != pass) {
      invocation.host.out << fmt::format("{}{}: {}\n", pass.empty() ? "" : "\n", text("pass"),
                                         text("postcondition"));
      pass = text("pass");
    }
    std::string remarks = text("effect");
    for (const auto& other : rule.at("also_applied_by")) {
      remarks += ", also applied by " + other.get<std::string>();
    }
    invocation.host.out << fmt::format("  {} ({})\n    {}  ->  {}\n", text("rule"), remarks,
                                       text("pattern"), text("replacement"));
    if (!text("condition").empty()) {
      invocation.host.out << fmt::format("    condition: {}\n", text("condition"));
    }
  }
}

// What a person has to know of an option's values: "choice of u8, i8; default the target's".
std::string ValuesOf(const nlohmann::ordered_json& option) {
  std::string text = option.at("type").get<std::string>();
  if (const std::string choices = CellOf(option.at("choices")); !choices.empty()) {
    text += " of " + choices;
  }
  const auto bounds = option.at("bounds").get<std::string>();
  if (!bounds.empty()) text += ' ' + bounds;
  text += "; default " + option.at("default").get<std::string>();
  return text + (option.at("changes_result").get<bool>() ? "" : "; does not change the result");
}

// A table would be wider than any screen.
void PrintOptions(const Invocation& invocation, const std::string& table) {
  if (invocation.json) {
    invocation.host.out << table;
    return;
  }
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) {
    const auto option = nlohmann::ordered_json::parse(line);
    const std::string flags = CellOf(option.at("flags"));
    invocation.host.out << fmt::format(
        "{}{}\n    {}\n    {}\n", option.at("name").get<std::string>(),
        flags.empty() ? "" : "  " + flags, option.at("help").get<std::string>(), ValuesOf(option));
  }
}

using Printer = void (*)(const Invocation& invocation, const std::string& table);

void AddList(CLI::App& program, Invocation& invocation, const char* name, const char* help,
             std::string (*table)(), Printer print = &Print) {
  CLI::App& command = *program.add_subcommand(name, help);
  AddLocalFlags(command, invocation);
  command.callback([&invocation, table, print] {
    invocation.action = [&invocation, table, print]() -> Result<int> {
      print(invocation, table());
      return kExitDone;
    };
  });
}

}  // namespace

void AddLists(CLI::App& program, Invocation& invocation) {
  AddList(program, invocation, "passes",
          "list the passes and their rewrite rules with numeric effects", &job::PassesTable,
          &PrintPasses);
  AddList(program, invocation, "ops",
          "list the operators with their quantization and Rescale rules", &job::OpsTable,
          &PrintOps);
  AddList(program, invocation, "targets", "list the built-in targets", &job::TargetsTable);
  AddList(program, invocation, "options",
          "list the options of a job with types, defaults and choices", &job::OptionsTable,
          &PrintOptions);
  AddList(program, invocation, "warnings", "list the warning codes, which --fail-on-warning takes",
          &job::WarningsTable);
}

}  // namespace octavo::cli
