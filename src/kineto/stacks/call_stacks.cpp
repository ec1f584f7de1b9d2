#include "call_stacks.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "profshim/call_stack.h"
#include "profshim/elf.h"

namespace profshim::kineto {

StringId stack_of(const Event& event) {
  if (is_rpc(event.hook)) return event.rpc.stack;
  if (hook_layer(event.hook) == Layer::kTorch) return event.hook == HookId::kTorchMemory ? 0 : event.torch.stack;
  const Layer layer = hook_layer(event.hook);
  const bool is_call = layer == Layer::kMpi || layer == Layer::kNccl;
  return is_call && !hook_name(event.hook).empty() ? event.stack : 0;
}

struct CallStacks::Content {
  std::string_view python, modules, native;

  StringId python_frame(std::size_t i) const { return load<StringId>(python, i); }
  StringId module(std::size_t i) const { return load<StringId>(modules, i); }
  std::uint64_t address(std::size_t i) const { return load<std::uint64_t>(native, i); }
  std::size_t pythons() const { return python.size() / sizeof(StringId); }
  std::size_t natives() const { return native.size() / sizeof(std::uint64_t); }

  template <class T>
  static T load(std::string_view bytes, std::size_t i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
    return value;
  }
};

CallStacks::Content CallStacks::content_of(StringId stack) const {
  const std::string_view bytes = view_.string(stack);
  call_stack::Header header;
  if (bytes.size() < sizeof header || bytes.size() > call_stack::kMostBytes) return {};
  std::memcpy(&header, bytes.data(), sizeof header);
  const std::size_t python = header.python * sizeof(StringId), modules = header.modules * sizeof(StringId);
  const std::size_t native = header.native * sizeof(std::uint64_t);
  if (bytes.size() != sizeof header + python + modules + native) return {};
  Content content;
  if ((detail_ & spool::kPythonStack) != 0) content.python = bytes.substr(sizeof header, python);
  if ((detail_ & spool::kModules) != 0) content.modules = bytes.substr(sizeof header + python, modules);
  if ((detail_ & spool::kNativeStack) != 0) content.native = bytes.substr(sizeof header + python + modules);
  return content;
}

void CallStacks::add(StringId stack) {
  if (stack == 0 || definitions_.modules().empty() || !known_.insert(stack).second) return;
  const Content content = content_of(stack);
  for (std::size_t i = 0; i < content.natives(); ++i) names_.try_emplace(content.address(i));
}

void CallStacks::name_addresses() {
  known_.clear();
  std::vector<std::uint64_t> addresses;
  addresses.reserve(names_.size());
  for (const auto& [address, name] : names_) {
    if (name.empty()) addresses.push_back(address);
  }
  std::sort(addresses.begin(), addresses.end());
  for (const Module& module : definitions_.modules()) {
    const auto first = std::upper_bound(addresses.begin(), addresses.end(), module.begin);
    const auto last = std::upper_bound(first, addresses.end(), module.end);
    if (first == last) continue;
    // A return address may belong to the next function: look up the byte before.
    std::vector<std::uint64_t> places;
    for (auto at = first; at != last; ++at) places.push_back(*at - 1 - module.begin + module.offset);
    const std::vector<std::string> found = elf::functions_at(std::string(module.path), places);
    const std::string_view file = module.path.substr(module.path.rfind('/') + 1);
    for (std::size_t i = 0; i < places.size(); ++i) {
      const std::uint64_t address = first[static_cast<std::ptrdiff_t>(i)];
      char offset[24];
      std::snprintf(offset, sizeof offset, "+0x%llx", static_cast<unsigned long long>(address - module.base));
      names_[address] = found[i].empty() ? std::string(file) + offset : elf::demangled(found[i]);
    }
  }
}

std::string_view CallStacks::name_of(std::uint64_t address) {
  std::string& name = names_[address];
  if (name.empty()) {
    char text[24];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(address));
    name = text;
  }
  return name;
}

void CallStacks::add_native(const Content& content) {
  for (std::size_t i = 0; i < content.natives(); ++i) frames_.push_back(name_of(content.address(i)));
}

const CallStacks::Frames& CallStacks::frames(StringId stack) {
  frames_.clear();
  const Content content = content_of(stack);
  for (std::size_t i = 0; i < content.pythons(); ++i) frames_.push_back(view_.string(content.python_frame(i)));
  if (frames_.empty()) add_native(content);
  return frames_;
}

const CallStacks::Frames& CallStacks::modules(StringId stack) {
  frames_.clear();
  const Content content = content_of(stack);
  for (std::size_t i = content.modules.size() / sizeof(StringId); i > 0; --i)
    frames_.push_back(view_.string(content.module(i - 1)));
  return frames_;
}

const CallStacks::Frames& CallStacks::native_frames(StringId stack) {
  frames_.clear();
  const Content content = content_of(stack);
  if (content.pythons() > 0) add_native(content);
  return frames_;
}

}  // namespace profshim::kineto
