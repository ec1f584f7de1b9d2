// A small JSON text as a tree that can be read in any order. Each accessor takes what a damaged or forged text may
// hold: it returns its default for a value that is absent or of another type. Tool and writer thread only.
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
  /// A value of the document; lives as long as the document.
  class Node {
   public:
    bool is_object() const;
    /// Returns the first member with this key. A value that is absent has no members and no elements.
    Node member(std::string_view key) const;
    /// Returns the elements of a list; nothing for other values.
    std::vector<Node> elements() const;

    bool is_text() const;
    /// Returns a text, decoded; bytes that are not UTF-8 stay as they are.
    std::string text() const;
    /// Returns a whole number in the range of the type.
    int small_integer(int otherwise) const;
    std::int64_t integer(std::int64_t otherwise) const;
    std::uint64_t count(std::uint64_t otherwise) const;
    bool truth() const;

   private:
    friend class JsonDocument;
    explicit Node(const void* value) : value_(value) {}
    const void* value_;  // RapidJSON's value; null = absent
  };

  /// Parses one JSON value. Without one, root() is absent.
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
