#pragma once

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

namespace profshim::replay {

class JobThread {
 public:
  JobThread() : thread_([this] { serve(); }) {
    run([this] {
      tid_ = static_cast<std::int64_t>(syscall(SYS_gettid));
      raw_ = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(pthread_self()));
    });
  }
  ~JobThread() {
    run({});
    thread_.join();
  }
  JobThread(const JobThread&) = delete;
  JobThread& operator=(const JobThread&) = delete;

  std::int64_t tid() const { return tid_; }
  /// CUPTI's thread id: the low 32 bits of the pthread_t.
  std::uint32_t raw() const { return raw_; }

  /// Runs `task` on the thread and waits for its end. An empty task ends the thread.
  void run(const std::function<void()>& task) {
    std::unique_lock lock(mutex_);
    task_ = &task;
    changed_.notify_all();
    changed_.wait(lock, [this] { return task_ == nullptr; });
  }

 private:
  void serve() {
    for (bool more = true; more;) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return task_ != nullptr; });
      more = static_cast<bool>(*task_);
      if (more) (*task_)();
      task_ = nullptr;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  const std::function<void()>* task_ = nullptr;
  std::int64_t tid_ = 0;
  std::uint32_t raw_ = 0;
  std::thread thread_;  // last, because serve() uses the members above
};

}  // namespace profshim::replay
