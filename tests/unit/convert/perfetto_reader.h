// PerfettoReader works like Perfetto: packets are sorted by time, then by file order, and a slice end closes the slice
// that was opened last on its track.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <protozero/pbf_reader.hpp>
#include <set>
#include <string>
#include <vector>

namespace profshim::test {

struct SeenSlice {
  std::int64_t begin_ns = 0, end_ns = -1;  // -1: never ended
  std::uint64_t track = 0;
  std::string name, category;
  std::map<std::string, std::string> args;
};
struct SeenDescriptor {
  std::uint64_t parent = 0;
  std::string name, process_name, thread_name;
  std::int64_t pid = -1, tid = -1;
  bool counter = false;
};
struct SeenPerfetto {
  std::map<std::uint64_t, SeenDescriptor> tracks;
  std::vector<SeenSlice> slices, instants;
  std::vector<std::pair<std::string, double>> counts;    // name of the track, value
  std::set<std::pair<std::string, std::string>> arrows;  // names of the two slices
  std::size_t ends_of_nothing = 0, unknown_texts = 0, state_cleared = 0;
  std::size_t named(const std::string& name) const {
    return static_cast<std::size_t>(
        std::count_if(slices.begin(), slices.end(), [&](const SeenSlice& s) { return s.name == name; }));
  }
  const SeenSlice& slice(const std::string& name) const {
    return *std::find_if(slices.begin(), slices.end(), [&](const SeenSlice& s) { return s.name == name; });
  }
};

class PerfettoReader {
 public:
  explicit PerfettoReader(const std::string& bytes) {
    protozero::pbf_reader trace(bytes);
    while (trace.next(1)) packet(trace.get_message());
    std::stable_sort(events_.begin(), events_.end(), [](const Event& a, const Event& b) { return a.at_ns < b.at_ns; });
    for (const Event& event : events_) take(event);
  }
  SeenPerfetto seen;

 private:
  struct Event {
    std::int64_t at_ns = 0;
    int type = 0;
    std::uint64_t track = 0;
    std::string name, category;
    std::map<std::string, std::string> args;
    std::vector<std::uint64_t> flows, ending_flows;
    double count = 0;
  };
  using Texts = std::map<std::uint64_t, std::string>;

  void packet(protozero::pbf_reader packet) {
    Event event;
    bool is_event = false;
    protozero::data_view body;
    while (packet.next()) {
      switch (packet.tag()) {
        case 8:
          event.at_ns = static_cast<std::int64_t>(packet.get_uint64());
          break;
        case 11:
          body = packet.get_view();
          is_event = true;
          break;
        case 12:
          texts(packet.get_message());
          break;
        case 13:
          if ((packet.get_uint32() & 1) != 0) {
            ++seen.state_cleared;
            texts_.clear();
          }
          break;
        case 60:
          descriptor(packet.get_message());
          break;
        default:
          packet.skip();
      }
    }
    if (!is_event) return;
    parse(protozero::pbf_reader(body), event);
    events_.push_back(event);
  }

  void texts(protozero::pbf_reader data) {
    while (data.next()) {
      const auto table = data.tag();
      protozero::pbf_reader entry = data.get_message();
      std::uint64_t iid = 0;
      std::string text;
      while (entry.next()) {
        if (entry.tag() == 1) {
          iid = entry.get_uint64();
        } else {
          text = entry.get_string();
        }
      }
      texts_[table][iid] = text;
    }
  }
  std::string text(std::uint32_t table, std::uint64_t iid) {
    const auto at = texts_[table].find(iid);
    if (at != texts_[table].end()) return at->second;
    ++seen.unknown_texts;
    return "?";
  }

  void descriptor(protozero::pbf_reader track) {
    SeenDescriptor found;
    std::uint64_t uuid = 0;
    const auto inner = [&](std::uint32_t pid, std::uint32_t tid, std::uint32_t name_tag, std::string& name) {
      protozero::pbf_reader what = track.get_message();
      while (what.next()) {
        if (what.tag() == pid) {
          found.pid = what.get_int32();
        } else if (tid != 0 && what.tag() == tid) {
          found.tid = what.get_int64();
        } else if (what.tag() == name_tag) {
          name = what.get_string();
        } else {
          what.skip();
        }
      }
    };
    while (track.next()) {
      switch (track.tag()) {
        case 1:
          uuid = track.get_uint64();
          break;
        case 2:
          found.name = track.get_string();
          break;
        case 3:
          inner(1, 0, 6, found.process_name);
          break;
        case 4:
          inner(1, 2, 5, found.thread_name);
          break;
        case 5:
          found.parent = track.get_uint64();
          break;
        case 8:
          found.counter = true;
          track.skip();
          break;
        default:
          track.skip();
      }
    }
    seen.tracks[uuid] = found;
  }

  void parse(protozero::pbf_reader what, Event& event) {
    while (what.next()) {
      switch (what.tag()) {
        case 3:
          event.category = text(1, what.get_uint64());
          break;
        case 4:
          annotation(what.get_message(), event);
          break;
        case 9:
          event.type = what.get_enum();
          break;
        case 10:
          event.name = text(2, what.get_uint64());
          break;
        case 11:
          event.track = what.get_uint64();
          break;
        case 30:
          event.count = static_cast<double>(what.get_int64());
          break;
        case 44:
          event.count = what.get_double();
          break;
        case 47:
          event.flows.push_back(what.get_fixed64());
          break;
        case 48:
          event.ending_flows.push_back(what.get_fixed64());
          break;
        default:
          what.skip();
      }
    }
  }

  void annotation(protozero::pbf_reader what, Event& event) {
    std::string key, value;
    while (what.next()) {
      switch (what.tag()) {
        case 1:
          key = text(3, what.get_uint64());
          break;
        case 2:
          value = what.get_bool() ? "true" : "false";
          break;
        case 3:
          value = std::to_string(what.get_uint64());
          break;
        case 4:
          value = std::to_string(what.get_int64());
          break;
        case 5:
          value = std::to_string(what.get_double());
          break;
        case 17:
          value = text(29, what.get_uint64());
          break;
        default:
          value = what.get_string();
      }
    }
    event.args[key] = value;
  }

  void take(const Event& event) {
    if (event.type == 4) {
      seen.counts.emplace_back(seen.tracks[event.track].name, event.count);
    } else if (event.type == 3) {
      seen.instants.push_back({event.at_ns, event.at_ns, event.track, event.name, event.category, event.args});
    } else if (event.type == 1) {
      open_[event.track].push_back(seen.slices.size());
      seen.slices.push_back({event.at_ns, -1, event.track, event.name, event.category, event.args});
      flows(event, seen.slices.back());
    } else if (open_[event.track].empty()) {
      ++seen.ends_of_nothing;
    } else {
      SeenSlice& slice = seen.slices[open_[event.track].back()];
      open_[event.track].pop_back();
      slice.end_ns = event.at_ns;
      slice.args.insert(event.args.begin(), event.args.end());
      flows(event, slice);
    }
  }

  void flows(const Event& event, const SeenSlice& slice) {
    for (const std::uint64_t flow : event.flows) from_[flow] = slice.name;
    for (const std::uint64_t flow : event.ending_flows) {
      if (from_.contains(flow)) seen.arrows.emplace(from_[flow], slice.name);
      from_.erase(flow);
    }
  }

  std::vector<Event> events_;
  std::map<std::uint32_t, Texts> texts_;
  std::map<std::uint64_t, std::vector<std::size_t>> open_;
  std::map<std::uint64_t, std::string> from_;
};

}  // namespace profshim::test
