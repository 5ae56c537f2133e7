// SPDX-License-Identifier: Apache-2.0
// octavo passes, ops, targets, options: prints the tables of the core.
#include <nlohmann/json.hpp>
#include <sstream>

#include "client/cli/commands.h"
#include "client/cli/exit_code.h"
#include "client/cli/model_arguments.h"

namespace octavo::cli {
namespace {

// Prints the table as JSON lines, or only their values in columns.
void Print(const Invocation& invocation, const std::string& table) {
  if (invocation.json) {
    invocation.host.out << table;
    return;
  }
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) {
    const auto row = nlohmann::ordered_json::parse(line);
    std::string text;
    for (const auto& [key, value] : row.items()) {
      const std::string word = value.is_string() ? value.get<std::string>() : value.dump();
      if (word.empty()) continue;
      text += fmt::format("{:<16}  ", word);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    invocation.host.out << text << '\n';
  }
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
          "list the operators with their quantization and Rescale rules", &job::OpsTable);
  AddList(program, invocation, "targets", "list the built-in targets", &job::TargetsTable);
  AddList(program, invocation, "options",
          "list the options of a job with types, defaults and choices", &job::OptionsTable);
}

}  // namespace octavo::cli
