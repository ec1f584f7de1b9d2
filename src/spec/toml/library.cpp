#include "library.h"

#include <new>
#include <sstream>

namespace profshim::spec {

#if TOML11_VERSION_MAJOR >= 4

std::variant<Toml, TomlRefusal> parse_toml(std::string_view text, const std::string& name) {
  const auto parsed = toml::try_parse<TomlTypes>(std::vector<unsigned char>(text.begin(), text.end()), name);
  if (parsed.is_ok()) return parsed.unwrap();
  const auto& errors = parsed.unwrap_err();
  if (errors.empty()) return TomlRefusal{};
  TomlRefusal refusal{errors.front().title(), {}};
  if (!errors.front().locations().empty()) refusal.place = place_of(errors.front().locations().front().first);
  return refusal;
}

#else

std::variant<Toml, TomlRefusal> parse_toml(std::string_view text, const std::string& name) {
  try {
    std::istringstream stream{std::string(text)};
    return toml::parse<toml::discard_comments, std::map, std::vector>(stream, name);
  } catch (const toml::exception& error) {
    const std::string_view drawing = error.what();
    return TomlRefusal{std::string(drawing.substr(0, drawing.find('\n'))), place_of(error.location())};
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    return TomlRefusal{error.what(), {}};
  }
}

#endif

}  // namespace profshim::spec
