// A small JSON text as a tree. Accessors return a default for values that are absent or of another type (damaged or
// forged text). Tool and writer thread only.
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
  /// Lives as long as the document.
  class Node {
   public:
    bool is_object() const;
    /// Returns the first member with this key. An absent value has no members and elements.
    Node member(std::string_view key) const;
    /// Nothing for other values than lists.
    std::vector<Node> elements() const;

    bool is_text() const;
    /// Decoded; bytes that are not UTF-8 stay.
    std::string text() const;
    /// Accept only whole numbers in range.
    int small_integer(int otherwise) const;
    std::int64_t integer(std::int64_t otherwise) const;
    std::uint64_t count(std::uint64_t otherwise) const;
    bool truth() const;

   private:
    friend class JsonDocument;
    explicit Node(const void* value) : value_(value) {}
    const void* value_;  // of RapidJSON; null = absent
  };

  /// Without one JSON value, root() is absent.
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
