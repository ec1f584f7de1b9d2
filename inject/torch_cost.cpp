// Measures the cost of recording an operator on this machine: PyTorch's dispatch to an observer, and our observer.
#include <cstring>

#include "profshim/recorder_control.h"
#include "resolve.h"
#include "torch_operators.h"

namespace profshim::torch {
namespace {

// at::RecordFunction: explicit RecordFunction(RecordScope), before(const char*, int64_t), ~RecordFunction(). Some
// hundred bytes in all versions.
constexpr char kConstruct[] = "_ZN2at14RecordFunctionC1ENS_11RecordScopeE";
constexpr char kBefore[] = "_ZN2at14RecordFunction6beforeEPKcl";
constexpr char kDestruct[] = "_ZN2at14RecordFunctionD1Ev";
constexpr char kAddToThread[] = "_ZN2at22addThreadLocalCallbackENS_22RecordFunctionCallbackE";
constexpr std::size_t kRoom = 16384;

// at::RecordScope::BUILD_FEATURE: PyTorch uses it in mobile builds only, so nobody else observes it.
constexpr int kUnusedScope = 5;

template <class Function>
Function* find(const char* name) {
  return reinterpret_cast<Function*>(inject::resolve_in(name, Layer::kTorch));
}

}  // namespace

double operator_cost() {
  auto* const construct = find<void(void*, int)>(kConstruct);
  auto* const before = find<void(void*, const char*, std::int64_t)>(kBefore);
  auto* const destruct = find<void(void*)>(kDestruct);
  auto* const add_to_thread = find<std::uint64_t(Callback)>(kAddToThread);
  auto* const remove = find<void(std::uint64_t)>(kRemoveCallback);
  if (construct == nullptr || before == nullptr || destruct == nullptr || add_to_thread == nullptr ||
      remove == nullptr) {
    return -1;
  }
  Callback callback = operator_observer();
  std::memset(callback.scopes, 0, sizeof callback.scopes);
  callback.scopes[kUnusedScope] = true;
  const std::uint64_t observer = add_to_thread(callback);
  double cost = -1;
  {
    recorder::ScratchThread scratch;
    alignas(64) char room[kRoom] = {};
    cost = scratch.cost_ns([&] {
      construct(room, kUnusedScope);
      before(room, "aten::add", -1);
      destruct(room);
    });
  }
  remove(observer);
  return cost;
}

}  // namespace profshim::torch
