#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "profshim/spec.h"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void fuzz_spec(std::string_view text) {
  const profshim::LoadedSpec loaded = profshim::load_spec_text(text, "fuzz");
  for (const profshim::Problem& problem : loaded.problems) {
    require(profshim::to_line(problem).find('\n') == std::string::npos);
  }
  if (!loaded.ok()) return;
  const std::string canonical = loaded.spec.to_toml();
  const profshim::LoadedSpec again = profshim::load_spec_text(canonical, "again");
  require(again.ok());
  require(again.spec.to_toml() == canonical);
  for (const std::int64_t step : {std::int64_t{-1}, std::int64_t{0}, std::int64_t{17}, INT64_MAX}) {
    loaded.spec.schedule.action_of(step);
    loaded.spec.schedule.next_recorded(step);
  }
}

void fuzz_rank_expression(std::string_view text) {
  profshim::RankExpression expression;
  std::string message;
  int column = 0;
  const bool parsed = expression.parse(text, message, column);
  require(parsed == message.empty());
  require(parsed || (column >= 1 && static_cast<std::size_t>(column) <= text.size() + 1));
  profshim::Rank rank;
  require(!expression.selects_nobody() || !expression.selects(rank));
  rank.rank = 5;
  rank.world_size = 8;
  rank.host = "host";
  require(!(expression.selects(rank) && expression.selects_nobody()));
  expression.outside(8);
}

void fuzz_overrides(std::string_view text) {
  profshim::SpecSources sources;
  sources.environment = {{"PROFSHIM_SET", std::string(text)}, {"PROFSHIM_STEPS", std::string(text)}};
  sources.options = {{"--set", std::string(text)}};
  profshim::load_spec(sources);
}

}  // namespace

/// The input is 'R' and a rank expression, 'S' and a value of PROFSHIM_SET, or a spec.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (text.starts_with("R")) {
    fuzz_rank_expression(text.substr(1));
  } else if (text.starts_with("S")) {
    fuzz_overrides(text.substr(1));
  } else {
    fuzz_spec(text);
  }
  return 0;
}
