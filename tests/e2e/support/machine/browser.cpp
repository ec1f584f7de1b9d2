#include "browser.h"

#include "e2e/support/built_programs.h"
#include "e2e/support/run_under_shim.h"

namespace profshim::e2e {

bool is_debian() { return text_of_file("/etc/os-release").find("\nID=debian\n") != std::string::npos; }
bool has_browser() { return on_path(kBrowser); }

std::string opened(const ScratchFolder& scratch, const std::string& page) {
  const Outcome outcome =
      run({.command = {kBrowser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                       "--proxy-server=127.0.0.1:9", "--user-data-dir=" + (scratch / "browser"),
                       "--virtual-time-budget=20000", "--dump-dom", "file://" + page},
           .environment = {{"HOME", scratch.path()}},
           .preload = false});
  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  return outcome.out;
}

std::string root_of(const std::string& dom) {
  const std::size_t at = dom.find("<html");
  return at == std::string::npos ? "" : dom.substr(at, dom.find('>', at) - at + 1);
}

}  // namespace profshim::e2e
