#pragma once

#include <string>
#include <vector>

#include "profshim/run/manifest.h"
#include "profshim/write/publish.h"
#include "profshim/write/recover.h"
#include "spool_file.h"

namespace profshim::write {

class Recovery {
 public:
  Recovery(const spool::View& view, const OpenFolder& folder, const SpoolFile& file, std::string spool,
           const SpoolHead& head, const RecoverOptions& options, std::vector<RecoverNote>& notes);
  RecoverOutcome run();

 private:
  std::vector<std::uint64_t> unwritten() const;
  void load_spec();
  void load_manifest();
  void count_windows();
  void save_manifest();
  /// Removes what the killed process had begun to write.
  void remove_unpublished();
  bool is_known(const run::ManifestWindow& result) const;
  void publish(std::uint64_t number);
  void add_note(std::int64_t window, const std::string& file, const std::string& message);

  const spool::View& view_;
  const OpenFolder& folder_;
  const SpoolFile& file_;
  const std::string spool_;
  const SpoolHead& head_;
  const RecoverOptions& options_;
  std::vector<RecoverNote>& notes_;
  Spec spec_;
  run::Manifest manifest_;
  bool of_later_process_ = false;
  std::uint64_t written_ = 0;
  bool failed_ = false;
};

}  // namespace profshim::write
