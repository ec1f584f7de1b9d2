// The one rule for completeness: a trace is complete if nothing that its spec asks for is missing. The kinds of loss
// are the rows of profshim/spool/losses.def. The writer, `profshim recover` and all readers of traces ask missing_in().
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "profshim/spool/losses.h"

namespace profshim {

/// The losses of one window.
struct WindowLosses {
  std::array<std::uint64_t, std::size(kLossRows)> counts{};  // by row
  std::string cut;                  // why the window ended before its schedule; "" = it did not
  std::vector<std::string> others;  // sentences about losses without a count

  /// Adds to the row of `key`, which must exist.
  void count(std::string_view key, std::uint64_t number);
};

/// Returns a sentence for each thing that is missing: "17 events are missing". A trace without any is complete.
std::vector<std::string> missing_in(const WindowLosses& losses);

/// The part of missing_in() that a job's last lines on stderr do not count: neither cut windows, nor dropped events,
/// nor full tables.
std::vector<std::string> other_losses_in(const WindowLosses& losses);

/// Returns "a; b", or "a; b and 3 more" beyond `most` sentences; "" for none.
std::string missing_text(const std::vector<std::string>& missing, std::size_t most = 3);

/// Returns the row of `key` in kLossRows that has a sentence; -1 = none.
int loss_row_of(std::string_view key);

}  // namespace profshim
