#include "core/report/render_json.h"

namespace octavo::report {
namespace {

using nlohmann::ordered_json;

void AddParameters(const ir::Type& type, ordered_json& value) {
  value["dtype"] = ir::Name(type.dtype);
  if (!type.quant) {
    value["scale"] = nullptr;
    value["zero_point"] = nullptr;
  } else if (type.quant->per_tensor()) {
    value["scale"] = type.quant->scale();
    value["zero_point"] = type.quant->zero_point();
  } else {
    value["scale"] = type.quant->scales;
    value["zero_point"] = type.quant->zero_points;
  }
}

}  // namespace

ordered_json ToJson(const ValueReport& report) {
  const Figures& figures = report.figures;
  ordered_json value = {
      {"name", report.name},
      {"sqnr_db", OrNull(figures.sqnr_db)},
      {"cosine", OrNull(figures.cosine)},
      {"max_abs", OrNull(figures.max_abs)},
      {"mean_abs", OrNull(figures.mean_abs)},
      {"max_steps", OrNull(figures.max_steps)},
      {"steps_histogram", figures.steps},
      {"saturated_ratio", OrNull(figures.saturated_ratio)},
      {"local_sqnr_db", OrNull(report.local_sqnr_db)},
      {"worst_channel", nullptr},
      {"top1_agreement", OrNull(figures.top1_agreement)},
  };
  if (figures.worst_channel) {
    value["worst_channel"] = {{"axis", figures.worst_channel->axis},
                              {"index", figures.worst_channel->index},
                              {"sqnr_db", OrNull(figures.worst_channel->sqnr_db)}};
  }
  AddParameters(report.type, value);
  value["histogram"] = {{"low", figures.low},
                        {"high", figures.high},
                        {"float", figures.float_histogram},
                        {"integer", figures.integer_histogram}};
  return value;
}

}  // namespace octavo::report
