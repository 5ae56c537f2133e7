// octavo passes, ops, targets: the tables that the code itself goes by.
#include <nlohmann/json.hpp>
#include <sstream>

#include "client/cli/commands.h"
#include "client/cli/exit_code.h"
#include "client/cli/model_arguments.h"

namespace octavo::cli {
namespace {

// One object a line as it is, or its values in columns.
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

void AddList(CLI::App& program, Invocation& invocation, const char* name, const char* help,
             std::string (*table)()) {
  CLI::App& command = *program.add_subcommand(name, help);
  AddLocalFlags(command, invocation);
  command.callback([&invocation, table] {
    invocation.action = [&invocation, table]() -> Result<int> {
      Print(invocation, table());
      return kExitDone;
    };
  });
}

}  // namespace

void AddLists(CLI::App& program, Invocation& invocation) {
  AddList(program, invocation, "passes", "the laws of rewriting and what each does to the numbers",
          &job::PassesTable);
  AddList(program, invocation, "ops", "the operators and how they take part in quantization",
          &job::OpsTable);
  AddList(program, invocation, "targets", "the built-in targets", &job::TargetsTable);
}

}  // namespace octavo::cli
