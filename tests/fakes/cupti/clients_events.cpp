#include <tuple>

#include "fakes/cupti/clients.h"

namespace fake::cupti {

void Clients::enter(CallState& call) {
  each([&](Client& client, std::size_t i) {
    client.enter(call);
    call.kept[i] = {call.begin, call.user_data, call.wanted};
  });
}

void Clients::exit(CallState& call) {
  each([&](Client& client, std::size_t i) {
    if (!call.kept[i]) return;  // the client appeared during the call
    std::tie(call.begin, call.user_data, call.wanted) = *call.kept[i];
    client.exit(call);
  });
}

void Clients::submitted(Work& work) {
  each([&](Client& client, std::size_t i) {
    work.record = nullptr;
    client.submitted(work);
    work.kept[i] = {work.anchor, work.anchor_realtime, work.wanted, work.record};
  });
}

void Clients::finished(const Work& work) {
  each([&](Client& client, std::size_t i) {
    if (!work.kept[i]) return;
    Work of_client = work;
    std::tie(of_client.anchor, of_client.anchor_realtime, of_client.wanted, of_client.record) = *work.kept[i];
    client.finished(of_client);
  });
}

void Clients::synchronized(fake::SyncKind kind, std::uint32_t correlation, std::uint32_t context, std::uint32_t stream,
                           std::uint32_t event, std::uint64_t start, std::uint64_t end) {
  each([&](Client& c, std::size_t) { c.synchronized(kind, correlation, context, stream, event, start, end); });
}

void Clients::recorded_event(std::uint32_t correlation, std::uint32_t context, std::uint32_t stream,
                             std::uint32_t event) {
  each([&](Client& c, std::size_t) { c.recorded_event(correlation, context, stream, event); });
}

void Clients::memory(bool allocated, fake::MemoryKind kind, std::uint32_t device, std::uint32_t context,
                     std::uint32_t correlation, const void* address, std::uint64_t bytes) {
  each([&](Client& c, std::size_t) { c.memory(allocated, kind, device, context, correlation, address, bytes); });
}

void Clients::first_launch(const char* kernel, std::uint32_t correlation) {
  each([&](Client& c, std::size_t) { c.first_launch(kernel, correlation); });
}

void Clients::driver_initialized() {
  each([](Client& c, std::size_t) { c.driver_initialized(); });
}

void Clients::created_context(std::uint32_t device, std::uint32_t context) {
  each([&](Client& c, std::size_t) { c.created_context(device, context); });
}

void Clients::created_stream(std::uint32_t context, std::uint32_t stream, std::int32_t priority) {
  each([&](Client& c, std::size_t) { c.created_stream(context, stream, priority); });
}

}  // namespace fake::cupti
