// Opens pages in a browser without a screen.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "e2e/support/scratch_folder.h"

namespace profshim::e2e {

// Chromium from a snap cannot read files in /tmp.
inline constexpr char kBrowser[] = "chromium-headless-shell";

bool is_debian();
bool has_browser();

#define NEEDS_BROWSER()                                                                   \
  if (!has_browser()) {                                                                   \
    if (is_debian()) FAIL() << kBrowser << " is missing: scripts/install_deps.sh --test"; \
    GTEST_SKIP() << "no " << kBrowser << " on this machine";                              \
  }                                                                                       \
  static_assert(true)

/// Returns the DOM of a page once its scripts have run. The proxy is a closed port, so any use of the network appears
/// in the page's data-errors.
std::string opened(const ScratchFolder& scratch, const std::string& page);

/// Returns the tag <html ...>, to which page.js adds the number of plots (data-drawn) and any errors (data-errors).
std::string root_of(const std::string& dom);

}  // namespace profshim::e2e
