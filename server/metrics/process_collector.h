// SPDX-License-Identifier: Apache-2.0
// The process_* metrics of this process.  Collect reads them from /proc at each scrape.
#pragma once

#include <prometheus/collectable.h>

#include <vector>

namespace octavo::server {

class ProcessCollector : public prometheus::Collectable {
 public:
  std::vector<prometheus::MetricFamily> Collect() const override;
};

}  // namespace octavo::server
