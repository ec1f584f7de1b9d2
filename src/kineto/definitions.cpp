#include "definitions.h"

#include <cstdio>

#include "profshim/json.h"
#include "profshim/spec.h"

namespace profshim::kineto {
namespace {

// Lowest limit for the bytes of all texts: a damaged spool may repeat one long text.
constexpr std::uint64_t kLeastRoom = 16u << 20;

// As in Kineto, more than 30 ranks become the first 29, "...", the last. Each event repeats the list, so an
// overlong list (damaged spool) becomes "".
std::string shortened(std::string_view ranks) {
  constexpr std::size_t kLongest = 512;
  if (std::count(ranks.begin(), ranks.end(), ',') < 30) return ranks.size() > kLongest ? "" : std::string(ranks);
  std::size_t at = 0;
  for (int i = 0; i < 29; ++i) at = ranks.find(',', at) + 1;
  const std::string_view last = ranks.substr(ranks.rfind(',') + 1);
  return at + last.size() > kLongest ? "" : std::string(ranks.substr(0, at)) + " ...," + std::string(last);
}

std::uint64_t pair_key(std::uint32_t outer, std::uint32_t inner) { return std::uint64_t{outer} << 32 | inner; }

}  // namespace

Definitions::Definitions(const spool::View& view) : room_(std::max(2 * view.header().arena_bytes, kLeastRoom)) {
  for (const spool::Definition* d : view.definitions()) add(view, *d);
}

std::string_view Definitions::text_of(const spool::View& view, StringId id, std::size_t longest) {
  const std::string_view text = view.string(id, longest);
  if (text.size() > room_) {
    add_problem(
        {"spool", "too many long names and texts (communicators, streams, modules): the trace lacks some", true});
    return {};
  }
  room_ -= text.size();
  return text;
}

void Definitions::add(const spool::View& view, const spool::Definition& d) {
  using Kind = spool::DefinitionKind;
  const std::string_view name = text_of(view, d.name);
  switch (d.kind.load(std::memory_order_acquire)) {
    case Kind::kCommunicator:
      add_communicator(view, d, name);
      break;
    case Kind::kDatatype:
      datatypes_[d.id] = name;
      break;
    case Kind::kReduction:
      reductions_[d.id] = name;
      break;
    case Kind::kNvtxDomain:
      domains_[d.id] = name;
      break;
    case Kind::kNvtxCategory:
      categories_[pair_key(static_cast<std::uint32_t>(d.v[0]), static_cast<std::uint32_t>(d.v[1]))] = name;
      break;
    case Kind::kThreadName:
      thread_names_[static_cast<std::uint64_t>(d.v[0])] = name;
      break;
    case Kind::kProblem:
      add_problem({text_of(view, d.text), name, d.v[0] != 0, static_cast<Ticks>(d.v[1])});
      break;
    case Kind::kMetadata:
      add_json_member(name, text_of(view, d.text, spool::kMaxText));
      break;
    case Kind::kStream:
      stream_names_[pair_key(static_cast<std::uint32_t>(d.v[0]), d.id)] = name;
      break;
    case Kind::kModule:
      modules_.push_back({name, static_cast<std::uint64_t>(d.v[0]), static_cast<std::uint64_t>(d.v[1]),
                          static_cast<std::uint64_t>(d.v[2]), static_cast<std::uint64_t>(d.v[3])});
      break;
    case Kind::kPhase:
      add_phase(view, d, name);
      break;
    case Kind::kDetail:
      details_[d.id] = d.v[0];
      break;
    case Kind::kDevice:  // DeviceArgs reads these
    case Kind::kNone:
      break;
  }
}

// The bounds matter for damaged spools only.
void Definitions::add_phase(const spool::View& view, const spool::Definition& d, std::string_view name) {
  constexpr std::int64_t kYear_ns = 365ll * 86400 * 1'000'000'000;
  if (phases_.size() >= kMostPhases) return;
  const auto source = static_cast<PhaseSource>(std::clamp<std::int64_t>(d.v[0], 0, kPhaseSources - 1));
  phases_.push_back({d.id, name, text_of(view, d.text), source, std::clamp<std::int64_t>(d.v[1], 0, kYear_ns)});
}

// A later definition of an id (MPI_Comm_set_name) replaces the earlier.
void Definitions::add_communicator(const spool::View& view, const spool::Definition& d, std::string_view name) {
  Communicator& c = communicators_[d.id];
  c.name = name;
  c.device = d.v[5];
  c.all_ranks = text_of(view, d.text, spool::kMaxText);
  if (!c.all_ranks.starts_with('[') || !valid_json(c.all_ranks)) c.all_ranks = {};
  c.ranks = shortened(c.all_ranks);
  char identity[20];
  std::snprintf(identity, sizeof identity, "%016llx", static_cast<unsigned long long>(d.v[0]));
  c.identity = identity;
  c.size = d.v[1];
  c.own_rank = d.v[2];
  c.backend = static_cast<spool::CommunicatorBackend>(d.v[4]);
}

void Definitions::add_problem(const Problem& problem) {
  if (known_problems_.insert({problem.source, problem.sentence}).second) problems_.push_back(problem);
}

void Definitions::add_json_member(std::string_view key, std::string_view json) {
  if (!valid_json(json)) return;  // damaged spool
  const auto [at, is_new] = member_of_key_.emplace(key, json_members_.size());
  if (is_new) {
    json_members_.push_back({key, json});
  } else {
    json_members_[at->second].json = json;
  }
}

std::int64_t Definitions::detail_of_windows(std::uint32_t phase) const {
  const auto at = details_.find(phase);
  return at != details_.end() ? at->second : 0;
}

const Communicator* Definitions::communicator(std::uint32_t id) const {
  const auto at = communicators_.find(id);
  return at == communicators_.end() ? nullptr : &at->second;
}

std::string_view Definitions::category(std::uint32_t domain, std::uint32_t category) const {
  return find(categories_, pair_key(domain, category));
}

std::string_view Definitions::stream_name(std::uint32_t device, std::uint32_t stream) const {
  return find(stream_names_, pair_key(device, stream));
}

std::string_view Definitions::thread_name(std::int64_t tid) const {
  return find(thread_names_, static_cast<std::uint64_t>(tid));
}

}  // namespace profshim::kineto
