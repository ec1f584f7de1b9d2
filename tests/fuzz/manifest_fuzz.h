// A parsed manifest must survive a rewrite and must name no file outside its folder.
#pragma once

#include <cstdlib>
#include <string>
#include <string_view>

#include "profshim/output/manifest.h"

namespace profshim::test {

inline void fuzz_manifest(std::string_view bytes) {
  output::Manifest manifest, again;
  if (!output::parse_manifest(bytes, manifest)) return;
  const std::string text = output::manifest_text(manifest);
  if (!output::parse_manifest(text, again) || output::manifest_text(again) != text) std::abort();
  for (const output::ManifestWindow& window : manifest.windows) {
    for (const std::string& file : {window.file, window.stacks}) {
      if (file.starts_with("/") || file == ".." || file.starts_with("../") || file.find("/../") != std::string::npos)
        std::abort();
    }
  }
}

}  // namespace profshim::test
