#include <pthread.h>
#include <signal.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <vector>

#include "profshim/trace/writer.h"

namespace profshim {
namespace {

class FileSink final : public ByteSink {
 public:
  explicit FileSink(AtomicFile& file) : file_(file) {}
  bool write(const char* data, std::size_t size) override { return file_.write(data, size); }
  bool close() override { return file_.error() == 0; }  // the file's owner publishes it

 private:
  AtomicFile& file_;
};

}  // namespace

std::unique_ptr<ByteSink> file_sink(AtomicFile& file) { return std::make_unique<FileSink>(file); }

// Writes one gzip member, compressed in parallel like pigz: blocks of raw deflate end on byte boundaries
// (Z_SYNC_FLUSH), so that they concatenate to one stream.
//
// Only the caller's thread writes to the output. It waits if the ring of blocks is full.

namespace {

constexpr std::size_t kBlockBytes = 256 * 1024;
constexpr int kMaxThreads = 16;

struct Block {
  enum class State { kFilling, kQueued, kTaken, kDone };
  State state = State::kFilling;  // guarded by mutex_
  bool last = false;
  bool ok = true;
  std::vector<char> plain = std::vector<char>(kBlockBytes);
  std::size_t plain_size = 0;
  std::vector<unsigned char> packed;
  std::size_t packed_size = 0;
  uLong crc = 0;
};

class Deflater {
 public:
  explicit Deflater(int level) {
    ok_ = deflateInit2(&stream_, level, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK;
  }
  ~Deflater() {
    if (ok_) deflateEnd(&stream_);
  }
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;

  void compress(Block& block) {
    block.ok = ok_ && deflateReset(&stream_) == Z_OK;
    if (!block.ok) return;
    auto* const plain = reinterpret_cast<Bytef*>(block.plain.data());
    block.crc = crc32(crc32(0, nullptr, 0), plain, static_cast<uInt>(block.plain_size));
    stream_.next_in = plain;
    stream_.avail_in = static_cast<uInt>(block.plain_size);
    stream_.next_out = block.packed.data();
    stream_.avail_out = static_cast<uInt>(block.packed.size());
    const int result = deflate(&stream_, block.last ? Z_FINISH : Z_SYNC_FLUSH);
    block.packed_size = block.packed.size() - stream_.avail_out;
    // With a full output buffer, deflate may still hold bytes.
    block.ok = stream_.avail_in == 0 && stream_.avail_out > 0 && result == (block.last ? Z_STREAM_END : Z_OK);
  }

  std::size_t bound() { return ok_ ? deflateBound(&stream_, kBlockBytes) + 64 : 0; }

 private:
  z_stream stream_{};
  bool ok_ = false;
};

class GzipSink final : public ByteSink {
 public:
  GzipSink(std::unique_ptr<ByteSink> out, int level, int threads)
      : out_(std::move(out)), level_(std::clamp(level, 1, 9)), own_(level_) {
    const int wanted = std::clamp(threads, 0, kMaxThreads);
    blocks_.resize(wanted == 0 ? 1 : 2 * static_cast<std::size_t>(wanted) + 1);
    for (Block& block : blocks_) block.packed.resize(own_.bound());
    start_threads(wanted);
  }

  ~GzipSink() override { stop_threads(); }

  bool write(const char* data, std::size_t size) override {
    while (size > 0 && !failed_ && !closed_) {
      Block& block = filling();
      const std::size_t part = std::min(size, kBlockBytes - block.plain_size);
      std::memcpy(block.plain.data() + block.plain_size, data, part);
      block.plain_size += part;
      data += part;
      size -= part;
      if (block.plain_size == kBlockBytes) submit(false);
    }
    return !failed_ && !closed_;
  }

  bool close() override {
    if (closed_) return !failed_;
    submit(true);
    while (oldest_ < next_) write_oldest();
    closed_ = true;
    stop_threads();
    if (!failed_) {
      std::array<unsigned char, 8> trailer;
      for (unsigned i = 0; i < 4; ++i) trailer[i] = static_cast<unsigned char>(crc_ >> (8 * i));
      for (unsigned i = 0; i < 4; ++i) trailer[4 + i] = static_cast<unsigned char>(plain_bytes_ >> (8 * i));
      failed_ = !out_->write(reinterpret_cast<const char*>(trailer.data()), trailer.size());
    }
    const bool closed = out_->close();
    failed_ = failed_ || !closed;
    return !failed_;
  }

 private:
  Block& block(std::uint64_t number) { return blocks_[number % blocks_.size()]; }
  Block& filling() { return block(next_); }

  void submit(bool last) {
    Block& full = filling();
    full.last = last;
    if (threads_.empty()) {
      own_.compress(full);
      full.state = Block::State::kDone;
    } else {
      const std::lock_guard lock(mutex_);
      full.state = Block::State::kQueued;
      work_.notify_one();
    }
    ++next_;
    if (next_ - oldest_ == blocks_.size()) write_oldest();
  }

  void write_oldest() {
    Block& done = block(oldest_);
    if (!threads_.empty()) {
      std::unique_lock lock(mutex_);
      finished_.wait(lock, [&] { return done.state == Block::State::kDone; });
    }
    ++oldest_;
    emit(done);
    done.plain_size = 0;
    const std::lock_guard lock(mutex_);  // other threads read the state
    done.state = Block::State::kFilling;
  }

  void emit(const Block& done) {
    if (failed_) return;
    if (!header_written_) {
      // magic, deflate, no flags, no time (equal input gives equal files), unknown level and system
      constexpr std::array<char, 10> kHeader = {'\x1f', '\x8b', 8, 0, 0, 0, 0, 0, 0, '\xff'};
      header_written_ = true;
      failed_ = !out_->write(kHeader.data(), kHeader.size());
    }
    crc_ = crc32_combine(crc_, done.crc, static_cast<z_off_t>(done.plain_size));
    plain_bytes_ += done.plain_size;
    if (failed_ || !done.ok || !out_->write(reinterpret_cast<const char*>(done.packed.data()), done.packed_size)) {
      failed_ = true;
    }
  }

  // The threads block all signals, so that they never run the job's signal handlers.
  void start_threads(int wanted) {
    sigset_t all, before;
    sigfillset(&all);
    if (wanted == 0 || pthread_sigmask(SIG_SETMASK, &all, &before) != 0) return;
    threads_.reserve(static_cast<std::size_t>(wanted));
    for (int i = 0; i < wanted; ++i) {
      pthread_t thread;
      if (pthread_create(&thread, nullptr, &GzipSink::run, this) != 0) break;
      threads_.push_back(thread);
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  void stop_threads() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
      work_.notify_all();
    }
    for (const pthread_t thread : threads_) pthread_join(thread, nullptr);
    threads_.clear();
  }

  static void* run(void* self) {
    static_cast<GzipSink*>(self)->compress_blocks();
    return nullptr;
  }

  void compress_blocks() {
    Deflater deflater(level_);
    std::unique_lock lock(mutex_);
    for (;;) {
      Block* const todo = oldest_queued();
      if (todo == nullptr) {
        if (stop_) return;
        work_.wait(lock);
        continue;
      }
      todo->state = Block::State::kTaken;
      lock.unlock();
      deflater.compress(*todo);
      lock.lock();
      todo->state = Block::State::kDone;
      finished_.notify_one();
    }
  }

  // The caller holds mutex_.
  Block* oldest_queued() {
    Block& candidate = block(next_taken_);
    if (candidate.state != Block::State::kQueued) return nullptr;
    ++next_taken_;
    return &candidate;
  }

  const std::unique_ptr<ByteSink> out_;
  const int level_;
  Deflater own_;
  std::vector<Block> blocks_;
  // Block numbers: oldest unwritten, being filled, next to compress (guarded by mutex_).
  std::uint64_t oldest_ = 0, next_ = 0, next_taken_ = 0;
  uLong crc_ = 0;
  std::uint64_t plain_bytes_ = 0;
  bool header_written_ = false, failed_ = false, closed_ = false;

  std::vector<pthread_t> threads_;
  std::mutex mutex_;
  std::condition_variable work_, finished_;
  bool stop_ = false;
};

}  // namespace

std::unique_ptr<ByteSink> gzip_sink(std::unique_ptr<ByteSink> out, int level, int threads) {
  return std::make_unique<GzipSink>(std::move(out), level, threads);
}

}  // namespace profshim
