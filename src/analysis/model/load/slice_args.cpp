#include "slice_args.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "profshim/trace/schema.h"

namespace profshim::analysis_detail {
namespace {

using Arg = ReadEvent::ReadArg;

constexpr std::int64_t kMostPolls = std::int64_t{1} << 40;  // sums must not overflow

struct Target {
  SliceArgs& args;
  Communication& comm;
  Texts& texts;
  bool is_mpi, is_polling;

  TextId text(const Arg& arg) const { return arg.kind == Arg::Kind::kString ? texts.add(arg.text) : TextId{0}; }
};

std::int64_t poll_ns(double us) {
  const double ns = us * 1000;
  return ns > 0 ? static_cast<std::int64_t>(std::min(ns, static_cast<double>(TraceMetadata::kMaxNs))) : 0;
}

struct KnownArg {
  std::string_view key;
  void (*store)(const Target& to, const Arg& arg);
};

constexpr KnownArg kArgs[] = {
    {schema::arg::kSequence, [](const Target& to, const Arg& arg) { to.comm.sequence = arg.integer; }},
    {schema::arg::kComm,
     [](const Target& to, const Arg& arg) {
       to.comm.group_label = to.text(arg);
       to.args.communicates = true;
     }},
    {schema::arg::kRoot, [](const Target& to, const Arg& arg) { to.comm.peer = arg.integer; }},
    {schema::arg::kPeer, [](const Target& to, const Arg& arg) { to.comm.peer = arg.integer; }},
    {schema::arg::kDest, [](const Target& to, const Arg& arg) { to.comm.peer = arg.integer; }},
    {schema::arg::kTarget, [](const Target& to, const Arg& arg) { to.comm.peer = arg.integer; }},
    {schema::arg::kSource,
     [](const Target& to, const Arg& arg) {
       if (to.comm.peer < 0) to.comm.peer = arg.integer;
     }},
    {schema::arg::kRank, [](const Target& to, const Arg& arg) { to.comm.rank_in_group = arg.integer; }},
    {schema::arg::kBytes,
     [](const Target& to, const Arg& arg) {
       to.args.bytes = to.comm.bytes = arg.integer;
       to.args.communicates = to.args.communicates || to.is_mpi;
     }},
    {schema::arg::kDtype, [](const Target& to, const Arg& arg) { to.comm.dtype = to.text(arg); }},
    {schema::arg::kDatatype, [](const Target& to, const Arg& arg) { to.comm.dtype = to.text(arg); }},
    {schema::arg::kFlops,
     [](const Target& to, const Arg& arg) { to.args.flops = std::max<std::int64_t>(arg.integer, 0); }},
    {schema::arg::kCommId,
     [](const Target& to, const Arg& arg) {
       to.comm.group = to.text(arg);
       to.args.communicates = true;
     }},
    {schema::arg::kFinished, [](const Target& to, const Arg& arg) { to.args.unfinished = arg.integer == 0; }},
    {schema::arg::kResumed, [](const Target& to, const Arg& arg) { to.args.resumed = arg.integer != 0; }},
    {schema::arg::kSourceRank, [](const Target& to, const Arg& arg) { to.comm.from = arg.integer; }},
    {schema::arg::kDestinationRank, [](const Target& to, const Arg& arg) { to.comm.to = arg.integer; }},
    {schema::arg::kGroupSize, [](const Target& to, const Arg& arg) { to.comm.group_size = arg.integer; }},
    {schema::arg::kReceivedBytes, [](const Target& to, const Arg& arg) { to.comm.received_bytes = arg.integer; }},
    {schema::arg::kPhase, [](const Target& to, const Arg& arg) { to.args.phase = arg.text; }},
    {schema::arg::kOuterPhases, [](const Target& to, const Arg& arg) { to.args.outer_phases = arg.text; }},
    {schema::arg::kInputDims, [](const Target& to, const Arg& arg) { to.args.input_dims = arg.text; }},
    {schema::arg::kCorrelation, [](const Target& to, const Arg& arg) { to.args.correlation = arg.integer; }},
    {schema::arg::kExternalId, [](const Target& to, const Arg& arg) { to.args.external_id = arg.integer; }},
    {schema::arg::kExternalId2021, [](const Target& to, const Arg& arg) { to.args.external_id = arg.integer; }},
    {schema::arg::kInElements, [](const Target& to, const Arg& arg) { to.comm.elements_in = arg.integer; }},
    {schema::arg::kOutElements, [](const Target& to, const Arg& arg) { to.comm.elements_out = arg.integer; }},
    {schema::arg::kInCallsUs,
     [](const Target& to, const Arg& arg) {
       if (to.is_polling) to.comm.in_calls_ns = poll_ns(arg.number);
     }},
    {schema::arg::kCollective,
     [](const Target& to, const Arg& arg) {
       to.comm.collective = to.text(arg);
       to.args.communicates = true;
     }},
    {schema::arg::kGroupName,
     [](const Target& to, const Arg& arg) {
       to.comm.group = to.text(arg);
       to.args.communicates = true;
     }},
    {schema::arg::kGroupRanks, [](const Target& to, const Arg& arg) { to.comm.ranks = to.text(arg); }},
    {schema::arg::kGroupDescription, [](const Target& to, const Arg& arg) { to.comm.group_label = to.text(arg); }},
};

constexpr std::size_t kLongestKey =
    std::max_element(std::begin(kArgs), std::end(kArgs), [](const KnownArg& a, const KnownArg& b) {
      return a.key.size() < b.key.size();
    })->key.size();

/// Looks up keys by length, which rejects most arguments of a kernel.
struct ArgsByLength {
  std::array<KnownArg, std::size(kArgs)> args{};
  std::array<std::uint8_t, kLongestKey + 2> first{};  // index of the first key of at least this length

  constexpr ArgsByLength() {
    std::copy(std::begin(kArgs), std::end(kArgs), args.begin());
    std::sort(args.begin(), args.end(),
              [](const KnownArg& a, const KnownArg& b) { return a.key.size() < b.key.size(); });
    for (std::size_t length = 0; length < first.size(); ++length) {
      const auto at = std::find_if(args.begin(), args.end(), [=](const KnownArg& a) { return a.key.size() >= length; });
      first[length] = static_cast<std::uint8_t>(at - args.begin());
    }
  }
};
constexpr ArgsByLength kByLength;

void store(const Target& to, const Arg& arg) {
  const std::size_t length = arg.key.size();
  if (length > kLongestKey) return;
  for (std::size_t i = kByLength.first[length]; i < kByLength.first[length + 1]; ++i) {
    if (kByLength.args[i].key == arg.key) return kByLength.args[i].store(to, arg);
  }
}

}  // namespace

SliceArgs read_slice_args(const ReadEvent& event, Kind kind, Texts& texts) {
  SliceArgs args;
  const Target to{.args = args,
                  .comm = args.communication,
                  .texts = texts,
                  .is_mpi = event.name.starts_with(schema::name::kMpiStart),
                  .is_polling = event.name == schema::name::kMpiPolling};
  for (const Arg& arg : event.args) {
    if (to.is_polling && arg.key.starts_with(schema::name::kMpiStart)) {
      args.communication.polls += std::clamp<std::int64_t>(arg.integer, 0, kMostPolls);
      args.communicates = true;
    }
    store(to, arg);
  }
  if (kind == Kind::kMemcpy || kind == Kind::kMemset) args.communicates = false;
  return args;
}

}  // namespace profshim::analysis_detail
