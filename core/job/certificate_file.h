// SPDX-License-Identifier: Apache-2.0
// Writes certificates; core/verify reads them, and its README describes the file.
#pragma once

#include "core/verify/certificate.h"

namespace octavo::job {

std::string WriteCertificate(const verify::Certificate& certificate);
// The edits that make `from` into `to`.  Lines need not be unique.
std::vector<verify::Edit> Diff(const std::vector<std::string>& from,
                               const std::vector<std::string>& to);

}  // namespace octavo::job
