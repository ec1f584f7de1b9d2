#include "profshim/json/document.h"

#include <rapidjson/document.h>

namespace profshim {
namespace {

const rapidjson::Value* as_value(const void* value) { return static_cast<const rapidjson::Value*>(value); }

}  // namespace

struct JsonDocument::Impl {
  rapidjson::Document json;
};

JsonDocument::JsonDocument(std::string_view json) : impl_(std::make_unique<Impl>()) {
  impl_->json.Parse<rapidjson::kParseIterativeFlag>(json.data(), json.size());
}

JsonDocument::~JsonDocument() = default;

JsonDocument::Node JsonDocument::root() const { return Node(impl_->json.HasParseError() ? nullptr : &impl_->json); }

bool JsonDocument::Node::is_object() const { return value_ != nullptr && as_value(value_)->IsObject(); }

JsonDocument::Node JsonDocument::Node::member(std::string_view key) const {
  if (!is_object()) return Node(nullptr);
  const rapidjson::Value& object = *as_value(value_);
  const rapidjson::Value name(rapidjson::StringRef(key.data(), static_cast<rapidjson::SizeType>(key.size())));
  const auto at = object.FindMember(name);
  return Node(at != object.MemberEnd() ? &at->value : nullptr);
}

std::vector<JsonDocument::Node> JsonDocument::Node::elements() const {
  std::vector<Node> nodes;
  if (value_ == nullptr || !as_value(value_)->IsArray()) return nodes;
  for (const rapidjson::Value& element : as_value(value_)->GetArray()) nodes.push_back(Node(&element));
  return nodes;
}

bool JsonDocument::Node::is_text() const { return value_ != nullptr && as_value(value_)->IsString(); }

std::string JsonDocument::Node::text() const {
  return is_text() ? std::string(as_value(value_)->GetString(), as_value(value_)->GetStringLength()) : std::string();
}

int JsonDocument::Node::small_integer(int otherwise) const {
  return value_ != nullptr && as_value(value_)->IsInt() ? as_value(value_)->GetInt() : otherwise;
}

std::int64_t JsonDocument::Node::integer(std::int64_t otherwise) const {
  return value_ != nullptr && as_value(value_)->IsInt64() ? as_value(value_)->GetInt64() : otherwise;
}

std::uint64_t JsonDocument::Node::count(std::uint64_t otherwise) const {
  return value_ != nullptr && as_value(value_)->IsUint64() ? as_value(value_)->GetUint64() : otherwise;
}

bool JsonDocument::Node::truth() const {
  return value_ != nullptr && as_value(value_)->IsBool() && as_value(value_)->GetBool();
}

}  // namespace profshim
