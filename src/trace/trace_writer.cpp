#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <new>

#include "head_text.h"
#include "profshim/json.h"
#include "profshim/json/text_clean.h"
#include "profshim/trace/schema.h"
#include "profshim/trace/writer.h"

namespace profshim {
namespace {

constexpr std::size_t kBlockBytes = 256 * 1024;
// Bytes of the longest escape: \u001f.
constexpr std::size_t kWorstEscape = 6;
// Most bytes of an event, and of an argument, without names, keys and texts.
constexpr std::size_t kEventRoom = 320;
constexpr std::size_t kArgRoom = 40;

template <std::size_t N>
char* literal(char* at, const char (&text)[N]) {
  std::memcpy(at, text, N - 1);
  return at + N - 1;
}

char* raw(char* at, std::string_view text) {
  if (!text.empty()) std::memcpy(at, text.data(), text.size());
  return at + text.size();
}

char* quoted(char* at, std::string_view text) {
  if (trace_detail::plain_prefix(text.data(), text.size()) != text.size()) return raw(at, json_string(text));
  *at++ = '"';
  at = raw(at, text);
  *at++ = '"';
  return at;
}

template <class Integer>
char* number(char* at, Integer value) {
  return std::to_chars(at, at + 20, value).ptr;
}

// Requires ns >= 0. Uses no floating point: the result is exact.
char* microseconds(char* at, std::int64_t ns) {
  at = number(at, ns / 1000);
  const auto rest = static_cast<unsigned>(ns % 1000);
  at[0] = '.';
  at[1] = static_cast<char>('0' + rest / 100);
  at[2] = static_cast<char>('0' + rest / 10 % 10);
  at[3] = static_cast<char>('0' + rest % 10);
  return at + 4;
}

/// The bytes ,"key": with `Before` in place of the comma.
template <const std::string_view& Key, char Before>
constexpr auto kEventKey = [] {
  std::array<char, Key.size() + 4> text{};
  text[0] = Before;
  text[1] = '"';
  for (std::size_t i = 0; i < Key.size(); ++i) text[i + 2] = Key[i];
  text[Key.size() + 2] = '"';
  text[Key.size() + 3] = ':';
  return text;
}();

template <const std::string_view& Key, char Before = ','>
char* event_key(char* at) {
  constexpr const auto& kText = kEventKey<Key, Before>;
  std::memcpy(at, kText.data(), kText.size());
  return at + kText.size();
}

// Omits NaN and infinity: JSON has neither.
char* argument(char* at, const Arg& arg, bool first) {
  const double* const real = std::get_if<double>(&arg.value);
  if (real != nullptr && !std::isfinite(*real)) return at;
  if (!first) *at++ = ',';
  at = quoted(at, arg.key);
  *at++ = ':';
  if (real != nullptr) return std::to_chars(at, at + 32, *real).ptr;
  if (const auto* text = std::get_if<std::string_view>(&arg.value)) return quoted(at, *text);
  if (const auto* json = std::get_if<RawJson>(&arg.value)) return raw(at, json->text);
  if (const auto* flag = std::get_if<bool>(&arg.value)) return raw(at, *flag ? "true" : "false");
  if (const auto* integer = std::get_if<std::int64_t>(&arg.value)) return number(at, *integer);
  return number(at, std::get<std::uint64_t>(arg.value));
}

char* arguments(char* at, std::span<const Arg> args, std::span<const Arg> more) {
  at = event_key<schema::event::kArgs>(at);
  *at++ = '{';
  const char* const start = at;
  for (const Arg& arg : args) at = argument(at, arg, at == start);
  for (const Arg& arg : more) at = argument(at, arg, at == start);
  *at++ = '}';
  return at;
}

char* pid_and_tid(char* at, const TraceEvent& event) {
  at = event_key<schema::event::kPid>(at);
  at = event.text_ids ? quoted(at, event.pid_text) : number(at, event.pid);
  at = event_key<schema::event::kTid>(at);
  return event.text_ids ? quoted(at, event.tid_text) : number(at, event.tid);
}

char* category(char* at, const TraceEvent& event) {
  const std::string_view known = schema::category_name(event.category);
  const std::string_view name = known.empty() ? event.other_category : known;
  return name.empty() ? at : quoted(event_key<schema::event::kCategory>(at), name);
}

char* name(char* at, std::string_view text) {
  at = event_key<schema::event::kName>(at);
  return quoted(at, text);
}

// Writes "id2": Perfetto would show events with a global "id" outside of all processes.
char* process_id(char* at, std::uint64_t id) {
  at = event_key<schema::event::kLocal, '{'>(event_key<schema::event::kScopedId>(at));
  at = literal(at, "\"0x");
  return literal(std::to_chars(at, at + 16, id, 16).ptr, "\"}");
}

char* timestamp(char* at, std::int64_t ns) {
  at = event_key<schema::event::kTimestamp>(at);
  return microseconds(at, ns);
}

struct Times {
  std::int64_t begin = 0, duration = 0;
};

/// Returns times since the base. A time before the base becomes the base, so that slices stay inside their parents.
Times shown_times(const TraceEvent& event, std::int64_t base_ns) {
  std::int64_t begin_ns = 0;
  if (__builtin_sub_overflow(event.begin_ns, base_ns, &begin_ns)) begin_ns = 0;
  const std::int64_t begin = std::max<std::int64_t>(begin_ns, 0);
  std::int64_t end = 0;
  if (__builtin_add_overflow(begin_ns, std::max<std::int64_t>(event.duration_ns, 0), &end)) end = begin;
  return {begin, std::max(end, begin) - begin};
}

// Kineto's order of keys differs by phase.
char* render(char* at, const TraceEvent& event, Times times) {
  const std::int64_t begin = times.begin;
  at = event_key<schema::event::kPhase, '{'>(at);
  *at++ = '"';
  *at++ = event.phase;
  *at++ = '"';
  switch (event.phase) {
    case schema::phase::kSlice:
      at = name(category(at, event), event.name);
      at = timestamp(pid_and_tid(at, event), begin);
      at = event_key<schema::event::kDuration>(at);
      at = microseconds(at, times.duration);
      break;
    case schema::phase::kMetadata:
      at = pid_and_tid(timestamp(name(at, event.name), begin), event);
      break;
    case schema::phase::kInstant:
      at = event_key<schema::event::kScope>(category(at, event));
      *at++ = '"';
      *at++ = event.scope;
      *at++ = '"';
      at = timestamp(pid_and_tid(name(at, event.name), event), begin);
      break;
    case schema::phase::kAsyncBegin:
    case schema::phase::kAsyncInstant:
    case schema::phase::kAsyncEnd:
      at = name(process_id(category(at, event), event.id), event.name);
      at = timestamp(pid_and_tid(at, event), begin);
      break;
    case schema::phase::kFlowStart:
    case schema::phase::kFlowStep:
    case schema::phase::kFlowEnd:
      at = number(event_key<schema::event::kId>(at), event.id);
      at = timestamp(pid_and_tid(at, event), begin);
      at = name(category(at, event), event.name);
      if (event.phase == schema::phase::kFlowEnd)
        at = quoted(event_key<schema::event::kBindingPoint>(at), schema::kBindEnclosing);
      break;
    default:  // counter
      at = name(category(at, event), event.name);
      at = timestamp(pid_and_tid(at, event), begin);
      break;
  }
  const bool has_args = !event.args.empty() || !event.more_args.empty();
  if (has_args || event.phase == schema::phase::kMetadata || event.phase == schema::phase::kCounter)
    at = arguments(at, event.args, event.more_args);
  *at++ = '}';
  return at;
}

std::size_t room_for(const TraceEvent& event) {
  std::size_t text = event.name.size() + event.pid_text.size() + event.tid_text.size() + event.other_category.size();
  std::size_t room = kEventRoom;
  for (const std::span<const Arg> args : {event.args, event.more_args}) {
    for (const Arg& arg : args) {
      room += kArgRoom;
      text += arg.key.size();
      if (const auto* value = std::get_if<std::string_view>(&arg.value)) text += value->size();
      if (const auto* json = std::get_if<RawJson>(&arg.value)) room += json->text.size();
    }
  }
  return room + kWorstEscape * text;
}

}  // namespace

std::int64_t base_time_for(std::int64_t unix_ns) { return unix_ns / schema::kBaseStepNs * schema::kBaseStepNs; }

struct TraceWriter::Impl {
  ByteSink& sink;
  EventFilter* const filter;
  TraceObserver* const observer;
  std::int64_t base_ns;
  std::string trace_name;
  std::unique_ptr<char[]> block;
  std::size_t used = 0;
  std::uint64_t bytes = 0, events = 0;
  bool failed = false, finished = false;

  Impl(ByteSink& to, const TraceHeader& header, EventFilter* chosen, TraceObserver* sees)
      : sink(to),
        filter(chosen),
        observer(sees),
        base_ns(header.base_time_ns),
        block(new (std::nothrow) char[kBlockBytes]) {
    failed = block == nullptr;
  }

  void flush() {
    if (!failed && used > 0 && !sink.write(block.get(), used)) failed = true;
    used = 0;
  }

  void put(std::string_view text) {
    bytes += text.size();
    while (!failed && !text.empty()) {
      const std::size_t part = std::min(text.size(), kBlockBytes - used);
      std::memcpy(block.get() + used, text.data(), part);
      used += part;
      text.remove_prefix(part);
      if (used == kBlockBytes) flush();
    }
  }

  void put(const TraceEvent& event) {
    if (events > 0) put(std::string_view(",\n"));
    const Times times = shown_times(event, base_ns);
    if (observer != nullptr) observer->event(event, times.begin, times.duration);
    const std::size_t room = room_for(event);
    if (room > kBlockBytes) return put_large(event, times, room);
    if (room > kBlockBytes - used) flush();
    char* const start = block.get() + used;
    const auto size = static_cast<std::size_t>(render(start, event, times) - start);
    used += size;
    bytes += size;
  }

  void put_large(const TraceEvent& event, Times times, std::size_t room) {
    const std::unique_ptr<char[]> own(new char[room]);
    put(std::string_view(own.get(), static_cast<std::size_t>(render(own.get(), event, times) - own.get())));
  }
};

TraceWriter::TraceWriter(ByteSink& sink, const TraceHeader& header, EventFilter* filter, TraceObserver* observer)
    : impl_(std::make_unique<Impl>(sink, header, filter, observer)) {
  try {
    impl_->trace_name = header.trace_name;
    const std::string head = head_text(header);
    if (observer != nullptr) observer->begin(header.trace_name, head);
    impl_->put(head);
  } catch (const std::bad_alloc&) {
    impl_->failed = true;
  }
}

TraceWriter::~TraceWriter() = default;

void TraceWriter::write(const TraceEvent& event) {
  if (impl_->failed || impl_->finished) return;
  try {
    if (impl_->filter != nullptr && !impl_->filter->keeps(event)) return;
    impl_->put(event);
    ++impl_->events;
  } catch (const std::bad_alloc&) {
    impl_->failed = true;
  }
}

bool TraceWriter::finish() {
  if (impl_->finished) return !impl_->failed;
  impl_->finished = true;
  try {
    const bool named = !impl_->trace_name.empty() && impl_->trace_name.find(']') == std::string::npos;
    impl_->put(named ? "\n],\n" + json_string(schema::top::kTraceName) + ": " + json_string(impl_->trace_name) + "\n}\n"
                     : std::string("\n]\n}\n"));
  } catch (const std::bad_alloc&) {
    impl_->failed = true;
  }
  impl_->flush();
  return !impl_->failed;
}

std::uint64_t TraceWriter::bytes() const { return impl_->bytes; }
std::uint64_t TraceWriter::events() const { return impl_->events; }
bool TraceWriter::failed() const { return impl_->failed; }

}  // namespace profshim
