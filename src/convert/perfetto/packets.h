#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "format.h"
#include "profshim/trace/reader.h"
#include "profshim/trace/writer.h"
#include "track_plan.h"

namespace protozero {
template <typename TBuffer>
class basic_pbf_writer;
}

namespace profshim::convert_detail {

class Packets {
 public:
  using Writer = protozero::basic_pbf_writer<std::string>;

  explicit Packets(ByteSink& sink, std::uint64_t most_text_bytes = 64ull << 20)
      : sink_(sink), most_text_bytes_(most_text_bytes) {}

  void start(const Plan& plan);
  void plain_track(std::uint64_t uuid, std::uint64_t parent, std::string_view name);

  // Append packets to `out`, for a later write(), but write interned texts at once.
  void begin(std::string& out, const ReadEvent& event, std::int64_t at_ns, std::uint64_t uuid,
             std::span<const ArrowEnd> arrows);
  void end(std::string& out, const ReadEvent* event, std::int64_t at_ns, std::uint64_t uuid,
           std::span<const ArrowEnd> arrows);
  void instant(std::string& out, std::string_view name, std::string_view category,
               std::span<const ReadEvent::ReadArg> args, std::int64_t at_ns, std::uint64_t uuid);
  void count(std::string& out, const ReadEvent::ReadArg& value, std::int64_t at_ns, std::uint64_t uuid);

  void write(std::string_view packets);
  /// Forgets interned texts if they take too much memory. Call only after write() got all packets that use the texts.
  void bound_memory();
  bool finish();
  bool failed() const { return failed_; }
  std::uint64_t bytes() const { return bytes_; }

 private:
  enum Table : std::uint8_t { kNames, kCategories, kKeys, kStrings, kTables };
  std::uint64_t iid(Table table, std::string_view text);
  void write_new_texts();
  void describe(Writer& event, std::string_view name, std::string_view category);
  void annotate(Writer& event, std::span<const ReadEvent::ReadArg> args);
  void describe_process(const PlannedProcess& process);
  void describe_track(const PlannedTrack& track, const PlannedProcess& process);

  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  using Texts = std::unordered_map<std::string, std::uint64_t, Hash, std::equal_to<>>;

  ByteSink& sink_;
  std::string buffer_, new_texts_;
  std::array<Texts, kTables> texts_;
  const std::uint64_t most_text_bytes_;
  std::uint64_t text_bytes_ = 0, bytes_ = 0;
  bool failed_ = false;
};

}  // namespace profshim::convert_detail
