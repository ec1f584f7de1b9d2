// Makes slices of the begins and ends of Python calls: see profshim/python/calls.h.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "profshim/event.h"
#include "profshim/spool/view.h"

namespace profshim::kineto {

struct PythonSpan {
  Ticks begin, end;  // of the window
};

class PythonCalls {
 public:
  /// `event`: a kPythonMarks or kPythonStack that begins in the window. The recording thread may be adding marks to it.
  void add(std::int64_t tid, const Event& event);
  bool empty() const { return threads_.empty(); }

  /// Makes the calls. `events_of`: the other events of a thread: a call that goes on at the window's end lasts as long
  /// as the event around it or the latest in it.
  template <class EventsOf>
  void finish(const spool::View& view, const PythonSpan& window, const EventsOf& events_of) {
    for (auto& [tid, thread] : threads_) follow(view, window, thread, events_of(tid));
    number(view);
  }

  template <class Function>
  void for_each(const Function& function) const {
    for (const auto& [tid, thread] : threads_) {
      for (const Event* call : thread.calls) function(tid, *call);
    }
  }
  /// Begin of the first thread's recording; 0 = none.
  Ticks since() const { return since_; }
  /// Calls whose begin or end is lost.
  std::uint64_t cut() const { return cut_; }

 private:
  struct Thread {
    std::vector<Event> recorded;      // copies
    std::vector<const Event*> calls;  // in the order of their begins
  };
  class Stack;

  void follow(const spool::View& view, const PythonSpan& window, Thread& thread,
              const std::vector<const Event*>& others);
  void number(const spool::View& view);

  std::map<std::int64_t, Thread> threads_;
  std::deque<Event> calls_;
  Ticks since_ = 0;
  std::uint64_t cut_ = 0;
};

}  // namespace profshim::kineto
