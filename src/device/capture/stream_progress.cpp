#include "stream_progress.h"

#include "profshim/device/correlation.h"

namespace profshim::device {

void StreamProgress::add(std::uint64_t stream) {
  if (streams_.size() < kMostStreams) {
    streams_.try_emplace(stream);
  } else if (streams_.count(stream) == 0) {
    too_many_ = true;
  }
}

void StreamProgress::on_finished(std::uint64_t stream, std::uint32_t correlation) {
  if (correlation == 0) return;
  if (last_ == nullptr || stream != last_number_) {
    add(stream);
    const auto known = streams_.find(stream);
    if (known == streams_.end()) return;
    last_number_ = stream;
    last_ = &known->second;
  }
  if (!last_->any || correlation_is_before(last_->finished, correlation)) last_->finished = correlation;
  last_->any = true;
}

// The stream of a missing record is unknown: all streams must have finished later launches.
bool StreamProgress::passed_by_all(std::uint32_t& correlation) const {
  if (!dumped_ || !dump_arrived_ || too_many_) return false;
  bool first = true;
  for (const auto& [number, stream] : streams_) {
    if (!stream.any) return false;
    if (first || correlation_is_before(stream.finished, correlation)) correlation = stream.finished;
    first = false;
  }
  return true;
}

void StreamProgress::clear() {
  streams_.clear();
  dumped_ = dump_arrived_ = too_many_ = false;
  last_ = nullptr;
}

}  // namespace profshim::device
