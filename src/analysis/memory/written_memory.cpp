#include <new>
#include <optional>
#include <string_view>

#include "analysis/model/while_writing/written_event.h"
#include "memory_report.h"
#include "profshim/analysis/memory.h"
#include "profshim/trace/schema.h"

namespace profshim {
namespace {

using namespace analysis_detail;

constexpr std::string_view kNoMemory = "memory ran out";
static_assert(kNoMemory.size() <= 15);  // a std::string of it allocates nothing

class Observer : public TraceObserver {
 public:
  explicit Observer(std::uint64_t most_bytes) : most_bytes_(most_bytes) {}

  void begin(const std::string& path, std::string_view head) noexcept override {
    reader_.reset();
    why_not_.clear();
    try {
      path_ = path;
      head_ = head;
      reader_.emplace(MemoryReader::Order::kByTime);
    } catch (const std::bad_alloc&) {
      give_up(kNoMemory);
    }
  }

  void event(const TraceEvent& event, std::int64_t begin_ns, std::int64_t duration_ns) noexcept override {
    if (!reader_ || !may_matter(event)) return;
    if (is_of_device(event.category)) return reader_->note_time(begin_ns);
    try {
      reader_->add(written_.read(event, begin_ns, duration_ns));
      if (reader_->bytes() > most_bytes_) give_up("its events need more memory than limits.host_memory leaves for it");
    } catch (const std::bad_alloc&) {
      give_up(kNoMemory);
    }
  }

  bool has_begun() const { return !head_.empty(); }
  const std::string& why_not() const { return why_not_; }
  bool has_events() const { return reader_ && !reader_->events().empty(); }

  Report report() {
    TraceVisitor visitor;
    visitor.metadata = [&](std::string_view key, std::string_view json, bool) { reader_->read_metadata(key, json); };
    read_trace_bytes(head_ + "]}", visitor);
    reader_->finish();
    Report report = memory_report(*reader_, path_);
    reader_.reset();
    return report;
  }

 private:
  static bool is_of_device(Category category) {
    return category == Category::kKernel || category == Category::kGpuMemcpy || category == Category::kGpuMemset ||
           category == Category::kGpuUserAnnotation || category == Category::kCudaSync;
  }
  static bool may_matter(const TraceEvent& event) {
    return event.phase == schema::phase::kSlice || event.phase == schema::phase::kInstant;
  }

  void give_up(std::string_view why) noexcept {
    reader_.reset();
    try {
      why_not_ = why;
    } catch (const std::bad_alloc&) {
      why_not_ = kNoMemory;
    }
  }

  const std::uint64_t most_bytes_;
  std::string path_, head_, why_not_;
  std::optional<MemoryReader> reader_;
  WrittenEvent written_;
};

}  // namespace

struct WrittenMemory::Impl {
  Observer observer;
};

WrittenMemory::WrittenMemory(std::uint64_t most_bytes) : impl_(new Impl{Observer(most_bytes)}) {}
WrittenMemory::~WrittenMemory() = default;

TraceObserver& WrittenMemory::observer() { return impl_->observer; }
bool WrittenMemory::has_begun() const { return impl_->observer.has_begun(); }
std::string WrittenMemory::why_not() { return impl_->observer.why_not(); }
bool WrittenMemory::has_events() const { return impl_->observer.has_events(); }
Report WrittenMemory::report() { return impl_->observer.report(); }

}  // namespace profshim
