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

}  // namespace profshim
