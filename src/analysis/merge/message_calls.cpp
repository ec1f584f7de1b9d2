#include "message_calls.h"

#include <unordered_map>

#include "profshim/event.h"
#include "profshim/hooks/ids.h"

namespace profshim::analysis_detail {
namespace {

struct Row {
  HookId hook;
  std::string_view name, behavior, payload, roles;
};

constexpr Row kRows[] = {
#define HOOK(name, fortran, capitals, behavior, payload, ...) {hooks::name, #name, #behavior, #payload, #__VA_ARGS__},
#include "profshim/hooks/mpi.def"
#undef HOOK
};

MessageCall call_of(const Row& row) {
  const auto has = [&](std::string_view role) { return row.roles.find(role) != std::string_view::npos; };
  if (row.payload == "Nothing" || has("Message") || has("Partitions")) return {};  // "Nothing": payload of probes
  const PeerKind peer = peer_kind(row.hook);
  const bool sends = peer == PeerKind::kDestination, receives = peer == PeerKind::kSource;
  if (row.behavior == "PersistentInit") return {.slice_sends = sends, .slice_receives = receives};
  if (row.behavior == "Sendrecv") return {.sends = sends, .receives = has("RSource")};
  if (row.behavior != "PointToPoint") return {};
  // The receiving half of MPI_Isendrecv is not recorded.
  return has("Request") ? MessageCall{.sends = sends, .slice_receives = receives}
                        : MessageCall{.sends = sends, .receives = receives};
}

}  // namespace

MessageCall message_call(std::string_view function) {
  static const auto* const kCalls = [] {
    auto* const calls = new std::unordered_map<std::string_view, MessageCall>;
    for (const Row& row : kRows) calls->emplace(row.name, call_of(row));
    return calls;
  }();
  const auto at = kCalls->find(function);
  return at != kCalls->end() ? at->second : MessageCall{};
}

}  // namespace profshim::analysis_detail
