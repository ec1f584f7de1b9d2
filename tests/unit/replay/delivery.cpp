#include "delivery.h"

#include <algorithm>
#include <map>
#include <random>

namespace profshim::replay {
namespace {

constexpr std::size_t kRoundsAfterwards = 5;  // one round per second, within Capture's timeout
const char* const kWaits = "waits";           // sources besides the job's threads
const char* const kEvents = "events";
const char* const kDevice = "device";

/// Unlike standard distributions, Dice gives the same numbers with every C++ library.
class Dice {
 public:
  explicit Dice(std::uint32_t seed) : engine_(seed) {}
  std::size_t below(std::size_t limit) { return engine_() % limit; }
  template <class T>
  void shuffle(std::vector<T>& all) {
    for (std::size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[below(i)]);
  }

 private:
  std::mt19937 engine_;
};

struct Item {
  const Record* record;
  std::string source;
};

std::vector<Item> all_items(const Records& records) {
  std::vector<Item> items;
  for (const auto& [thread, calls] : records.calls) {
    for (const Record& record : calls) items.push_back({&record, thread});
  }
  for (const Record& record : records.waits) items.push_back({&record, kWaits});
  for (const Record& record : records.events) items.push_back({&record, kEvents});
  for (const Record& record : records.device) items.push_back({&record, kDevice});
  std::stable_sort(items.begin(), items.end(),
                   [](const Item& a, const Item& b) { return a.record->end_ns < b.record->end_ns; });
  return items;
}

class Packer {
 public:
  Packer(const Plan& plan, const ReplayCupti& cupti) : plan_(plan), cupti_(cupti), dice_(plan.seed) {}

  std::vector<Round> rounds(const std::vector<Item>& items, std::size_t count) {
    std::vector<Round> all;
    count = std::min(count, items.size());
    for (std::size_t i = 0; i < count; ++i) {
      const auto at = [&](std::size_t n) {
        return items.begin() + static_cast<std::ptrdiff_t>(items.size() * n / count);
      };
      all.push_back(round({at(i), at(i + 1)}));
    }
    return all;
  }

 private:
  Round round(const std::vector<Item>& items) {
    std::map<std::string, std::vector<const Record*>> by_source;
    for (const Item& item : items) by_source[item.source].push_back(item.record);
    std::vector<Round> sources;
    for (auto& [source, records] : by_source) {
      if (source == kDevice || !plan_.calls_in_order) dice_.shuffle(records);
      const bool is_thread = source != kDevice && source != kWaits && source != kEvents;
      sources.push_back(packed(is_thread ? source : "", records));
    }
    // The buffers of a source stay in order, so only its last buffers arrive at the flush.
    Round early, late;
    while (!sources.empty()) {
      Round& source = sources[dice_.below(sources.size())];
      Shipment& next = source.front();
      const bool has_room = late.size() + source.size() < plan_.buffers;
      next.at_flush = has_room && (source.size() == 1 ? dice_.below(2) == 0 : dice_.below(source.size()) == 0);
      if (next.at_flush) {
        for (Shipment& one : source) {
          one.at_flush = true;
          late.push_back(std::move(one));
        }
        source.clear();
      } else {
        early.push_back(std::move(next));
        source.erase(source.begin());
      }
      std::erase_if(sources, [](const Round& one) { return one.empty(); });
    }
    std::move(late.begin(), late.end(), std::back_inserter(early));
    return early;
  }

  Round packed(const std::string& thread, const std::vector<const Record*>& records) const {
    Round all;
    std::size_t bytes = 0;
    for (const Record* const record : records) {
      const std::size_t more = cupti_.bytes_of(*record);
      const bool full = all.empty() || bytes + more > plan_.buffer_bytes ||
                        (plan_.records_in_buffer != 0 && all.back().records.size() >= plan_.records_in_buffer);
      if (full) {
        all.push_back({thread, {}});
        bytes = 0;
      }
      all.back().records.push_back(record);
      bytes += more;
    }
    return all;
  }

  const Plan& plan_;
  const ReplayCupti& cupti_;
  Dice dice_;
};

}  // namespace

Delivery deliveries(const Records& records, std::int64_t window_end_ns, const Plan& plan, const ReplayCupti& cupti) {
  const std::vector<Item> items = all_items(records);
  const auto first_after =
      std::find_if(items.begin(), items.end(), [=](const Item& item) { return item.record->end_ns > window_end_ns; });
  Packer packer(plan, cupti);
  Delivery out;
  out.in_window = packer.rounds({items.begin(), first_after}, plan.flushes);
  out.afterwards = packer.rounds({first_after, items.end()}, kRoundsAfterwards);
  return out;
}

std::int64_t window_end_of(const Trace& trace, int percent) {
  const std::int64_t first_ns = first_ns_of(trace);
  std::vector<const Row*> rows;
  std::int64_t last_ns = first_ns;
  for (const Row& row : trace.rows) {
    if (!row.is_call() && row.category != "overhead") continue;
    rows.push_back(&row);
    last_ns = std::max(last_ns, row.end_ns());
  }
  std::sort(rows.begin(), rows.end(), [](const Row* a, const Row* b) { return a->begin_ns < b->begin_ns; });
  std::int64_t end_ns = first_ns + (last_ns - first_ns) / 100 * percent;
  for (const Row* const row : rows) {
    if (row->begin_ns > end_ns) break;
    end_ns = std::max(end_ns, row->end_ns() + 1);
  }
  return end_ns;
}

}  // namespace profshim::replay
