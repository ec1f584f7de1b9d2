// JsonDocument: a small JSON text as a tree. A value that is absent or of another type reads as a default.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace profshim {

class JsonDocument {
 public:
  /// Valid as long as the document.
  class Node {
   public:
    bool is_object() const;
    Node member(std::string_view key) const;
    std::vector<Node> elements() const;

    bool is_text() const;
    /// Keeps bytes that are not UTF-8.
    std::string text() const;
    /// Return `otherwise` unless the value is a whole number in range.
    int small_integer(int otherwise) const;
    std::int64_t integer(std::int64_t otherwise) const;
    std::uint64_t count(std::uint64_t otherwise) const;
    bool truth() const;

   private:
    friend class JsonDocument;
    explicit Node(const void* value) : value_(value) {}
    const void* value_;  // a rapidjson::Value; null = absent
  };

  /// root() is absent if `json` is invalid.
  explicit JsonDocument(std::string_view json);
  ~JsonDocument();
  JsonDocument(const JsonDocument&) = delete;
  JsonDocument& operator=(const JsonDocument&) = delete;
  Node root() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace profshim
