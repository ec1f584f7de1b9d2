#include "escape.h"

namespace profshim::analysis_detail {

std::string_view cut(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80) --most;
  return text.substr(0, most);
}

std::string escaped(std::string_view text, std::size_t most) {
  const std::string_view kept = cut(text, most);
  std::string out;
  out.reserve(kept.size());
  for (const char c : kept) {
    const auto code = static_cast<unsigned char>(c);
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        if (code < 32 || code == 127) {
          out += "&#" + std::to_string(code == 127 ? 0x2421 : 0x2400 + code) + ";";
        } else {
          out += c;
        }
    }
  }
  return kept.size() < text.size() ? out + "\u2026" : out;
}

std::string script_json(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

std::string script_text(std::string_view script) {
  std::string out;
  for (std::size_t at = 0;;) {
    const std::size_t next = script.find("</", at);
    out += script.substr(at, next - at);
    if (next == std::string_view::npos) return out;
    out += "<\\/";
    at = next + 2;
  }
}

}  // namespace profshim::analysis_detail
