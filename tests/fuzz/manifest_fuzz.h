// A parsed manifest must survive a rewrite and must name no file outside its folder.
#pragma once

#include <cstdlib>
#include <string>
#include <string_view>

#include "profshim/run/manifest.h"

namespace profshim::test {

inline void fuzz_manifest(std::string_view bytes) {
  run::Manifest manifest, again;
  if (!run::parse_manifest(bytes, manifest)) return;
  const std::string text = run::manifest_text(manifest);
  if (!run::parse_manifest(text, again) || run::manifest_text(again) != text) std::abort();
  for (const run::ManifestWindow& window : manifest.windows) {
    for (const std::string& file : {window.file, window.stacks}) {
      if (file.starts_with("/") || file == ".." || file.starts_with("../") || file.find("/../") != std::string::npos)
        std::abort();
    }
  }
}

}  // namespace profshim::test
