#include "calls.h"

namespace profshim::analysis_detail {

std::map<CommsGroupKey, std::string> CommsCalls::group_labels() const {
  const auto plain_label = [&](const CommsGroupKey& key, const CommsGroup& group) {
    const std::string_view label = texts[group.label];
    if (!label.empty() && label != "undefined") return std::string(label);
    return key.name != 0 ? std::string(texts[key.name]) : key.ranks != 0 ? std::string(texts[key.ranks]) : "unknown";
  };
  std::map<std::string, int> uses;
  for (const auto& [key, group] : groups) ++uses[plain_label(key, group)];
  std::map<CommsGroupKey, std::string> labels;
  for (const auto& [key, group] : groups) {
    std::string label = plain_label(key, group);
    if (uses[label] > 1) label += " " + std::string(texts[key.ranks != 0 ? key.ranks : key.name]);
    labels[key] = label;
  }
  return labels;
}

}  // namespace profshim::analysis_detail
