// SPDX-License-Identifier: Apache-2.0
// Any bytes give a model or an error that is not internal; a model in QDQ form folds and exports,
// and one with nodes that no graph holds is cut and put together again.
#include <cstdlib>

#include "core/onnx/export/export.h"
#include "tests/support/import_folded.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace octavo;
  const Blob blob(std::string(reinterpret_cast<const char*>(data), size));
  const auto cut = onnx::ImportModel(blob, {.opaque = true, .open_extent = 2});
  if (!cut && cut.error().code == Code::kInternal) std::abort();
  if (cut && cut->contract.opaque) {
    const auto whole = onnx::ExportModel(cut->graph, {.contract = &cut->contract});
    if (!whole && whole.error().code == Code::kInternal) std::abort();
  }
  const auto imported = test::ImportFolded(blob);
  if (!imported) {
    if (imported.error().code == Code::kInternal) std::abort();
    return 0;
  }
  const auto exported = onnx::ExportModel(imported->graph);
  if (!exported && exported.error().code == Code::kInternal) std::abort();
  return 0;
}
