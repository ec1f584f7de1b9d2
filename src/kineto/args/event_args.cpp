#include "event_args.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <memory>
#include <numeric>

#include "kineto/call_stacks.h"
#include "nccl_args.h"
#include "torch_shapes.h"

namespace profshim::kineto {
namespace {

// More than 30 ranks: the first 29, "...", the last, as Kineto writes "Process Group Ranks".
// It goes into every event of the communicator: what 30 ranks cannot be, in a damaged spool, is left out.
std::string shortened(std::string_view ranks) {
  constexpr std::size_t kLongest = 512;
  if (std::count(ranks.begin(), ranks.end(), ',') < 30) return ranks.size() > kLongest ? "" : std::string(ranks);
  std::size_t at = 0;
  for (int i = 0; i < 29; ++i) at = ranks.find(',', at) + 1;
  const std::string_view last = ranks.substr(ranks.rfind(',') + 1);
  return at + last.size() > kLongest ? "" : std::string(ranks.substr(0, at)) + " ...," + std::string(last);
}

std::uint64_t category_key(std::uint32_t domain, std::uint32_t category) {
  return std::uint64_t{domain} << 32 | category;
}

}  // namespace

std::string_view peer_key(HookId hook) {
  switch (peer_kind(hook)) {
    case PeerKind::kRoot:
      return "root";
    case PeerKind::kDestination:
      return "dest";
    case PeerKind::kSource:
      return "source";
    case PeerKind::kPeer:
      return "peer";
    case PeerKind::kTarget:
    case PeerKind::kNone:  // MPI_Start has the peer of its request
      break;
  }
  return "target";
}

// Many definitions may name one text, as all duplicates of a communicator name its ranks, and each is copied into the
// trace. What a damaged spool makes of that is bounded by what it holds.
constexpr std::uint64_t kLeastRoom = 16u << 20;

Definitions::Definitions(const spool::View& view) : room_(std::max(2 * view.header().arena_bytes, kLeastRoom)) {
  for (const spool::Definition* d : view.definitions()) add(view, *d);
}

std::string_view Definitions::text_of(const spool::View& view, StringId id, std::size_t longest) {
  const std::string_view text = view.string(id, longest);
  if (text.size() > room_) {
    add_problem({"spool", "too many long names and texts: some are left out"});
    return {};
  }
  room_ -= text.size();
  return text;
}

void Definitions::add(const spool::View& view, const spool::Definition& d) {
  const std::string_view name = text_of(view, d.name);
  switch (d.kind.load(std::memory_order_acquire)) {
    case spool::DefinitionKind::kCommunicator: {
      Communicator& c = communicators_[d.id];  // a later definition of the same id wins: MPI_Comm_set_name
      c.name = name;
      c.device = d.v[5];
      c.all_ranks = text_of(view, d.text, spool::kMaxText);
      if (!c.all_ranks.starts_with('[') || !valid_json(c.all_ranks)) c.all_ranks = {};
      c.ranks = shortened(c.all_ranks);
      char identity[20];
      std::snprintf(identity, sizeof identity, "%016llx", static_cast<unsigned long long>(d.v[0]));
      c.identity = identity;
      c.size = d.v[1];
      c.own_rank = d.v[2];
      c.backend = static_cast<spool::CommunicatorBackend>(d.v[4]);
      break;
    }
    case spool::DefinitionKind::kDatatype:
      datatypes_[d.id] = name;
      break;
    case spool::DefinitionKind::kReduction:
      reductions_[d.id] = name;
      break;
    case spool::DefinitionKind::kNvtxDomain:
      domains_[d.id] = name;
      break;
    case spool::DefinitionKind::kNvtxCategory:
      categories_[category_key(static_cast<std::uint32_t>(d.v[0]), static_cast<std::uint32_t>(d.v[1]))] = name;
      break;
    case spool::DefinitionKind::kThreadName:
      thread_names_[static_cast<std::uint64_t>(d.v[0])] = name;
      break;
    case spool::DefinitionKind::kProblem:
      add_problem({text_of(view, d.text), name});
      break;
    case spool::DefinitionKind::kFact:
      add_fact(name, text_of(view, d.text, spool::kMaxText));
      break;
    case spool::DefinitionKind::kStream:
      stream_names_[category_key(static_cast<std::uint32_t>(d.v[0]), d.id)] = name;
      break;
    case spool::DefinitionKind::kModule:
      modules_.push_back({name, static_cast<std::uint64_t>(d.v[0]), static_cast<std::uint64_t>(d.v[1]),
                          static_cast<std::uint64_t>(d.v[2]), static_cast<std::uint64_t>(d.v[3])});
      break;
    case spool::DefinitionKind::kDevice:  // device_args.cpp
    case spool::DefinitionKind::kNone:
      break;
  }
}

// Said once, however often it happened.
void Definitions::add_problem(const Problem& problem) {
  if (problems_said_.insert({problem.source, problem.sentence}).second) problems_.push_back(problem);
}

// A later fact of the same key wins.
void Definitions::add_fact(std::string_view key, std::string_view json) {
  if (!valid_json(json)) return;  // of a damaged spool
  const auto [at, is_new] = fact_of_key_.emplace(key, facts_.size());
  if (is_new) {
    facts_.push_back({key, json});
  } else {
    facts_[at->second].json = json;
  }
}

const Communicator* Definitions::communicator(std::uint32_t id) const {
  const auto at = communicators_.find(id);
  return at == communicators_.end() ? nullptr : &at->second;
}

std::string_view Definitions::category(std::uint32_t domain, std::uint32_t category) const {
  return find(categories_, category_key(domain, category));
}

std::string_view Definitions::stream_name(std::uint32_t device, std::uint32_t stream) const {
  return find(stream_names_, category_key(device, stream));
}

std::string_view Definitions::thread_name(std::int64_t tid) const {
  return find(thread_names_, static_cast<std::uint64_t>(tid));
}

std::span<const Arg> EventArgs::of(const Event& event, const Event* second) {
  used_ = 0;
  if (event.hook == HookId::kNvtxRange || event.hook == HookId::kNvtxMark) {
    add_nvtx(event.nvtx);
  } else if (event.hook == HookId::kMpiPolls) {
    add_polls(event);
  } else if (hook_layer(event.hook) == Layer::kMpi) {
    add_mpi(event, second);
  } else if (!cuda_call_name(event.hook).empty()) {
    add_cuda_call(event);
  } else if (hook_layer(event.hook) == Layer::kNccl) {
    add_nccl(event);
  } else if (is_rpc(event.hook)) {
    add_rpc(event);
  } else if (hook_layer(event.hook) == Layer::kTorch) {
    add_torch(event.torch);
    add_flops(event);
  }
  if (const StringId stack = stack_of(event); stack != 0) add_stack(stack);
  if ((event.flags & kUnfinished) != 0) add("finished", false);
  return {args_.data(), used_};
}

// As torch.profiler writes them, one text that the TensorBoard plugin takes apart at the semicolons. What no stack can
// be long, in a damaged spool, is cut.
void EventArgs::add_stack(StringId stack) {
  constexpr std::size_t kLongest = 64 << 10;
  const auto join = [](const CallStacks::Frames& frames, std::string& text) {
    text.clear();
    for (const std::string_view frame : frames) {
      if (text.size() + frame.size() > kLongest) break;
      if (!text.empty()) text += ';';
      text += frame;
    }
    return std::string_view{text};
  };
  if (const std::string_view text = join(stacks_.frames(stack), stack_); !text.empty()) add("Call stack", text);
  if (const std::string_view text = join(stacks_.native_frames(stack), native_stack_); !text.empty()) {
    add("Native stack", text);
  }
}

void EventArgs::add_communicator(const Communicator& c) {
  add("comm", c.name);
  add("comm id", std::string_view{c.identity});
  add("Group size", c.size);
  if (!c.ranks.empty()) add("Process Group Ranks", std::string_view{c.ranks});
}

void EventArgs::add_mpi(const Event& event, const Event* second) {
  const MpiArgs& mpi = event.mpi;
  if (mpi.datatype != 0 || mpi.bytes != 0) {
    add("bytes", mpi.bytes);
    add("count", mpi.count);
  }
  if (const std::string_view type = definitions_.datatype(mpi.datatype); !type.empty()) add("datatype", type);
  if (const std::string_view op = definitions_.reduction(mpi.op); !op.empty()) add("op", op);
  if (mpi.peer != kNone32) add(peer_key(event.hook), std::int64_t{mpi.peer});
  if (mpi.tag != kNone32) add("tag", std::int64_t{mpi.tag});
  if (second != nullptr) {
    add("recv bytes", second->mpi.bytes);
    add("recv count", second->mpi.count);
    if (const std::string_view type = definitions_.datatype(second->mpi.datatype); !type.empty()) {
      add("recv datatype", type);
    }
    if (second->mpi.peer != kNone32) add("source", std::int64_t{second->mpi.peer});
    if (second->mpi.tag != kNone32) add("recv tag", std::int64_t{second->mpi.tag});
  }
  if (const Communicator* c = definitions_.communicator(mpi.comm)) add_communicator(*c);
  if (mpi.sequence != 0) add("Seq", std::uint64_t{mpi.sequence});
  if (mpi.request != 0) add("request", std::uint64_t{mpi.request});
  if ((event.flags & kFortran) != 0) add("binding", std::string_view{"Fortran"});
  if ((event.flags & kFailed) != 0) add("failed", true);
}

std::uint64_t polls_of(const PollArgs& polls) {
  return std::accumulate(std::begin(polls.calls), std::end(polls.calls), std::uint64_t{0});
}

void EventArgs::add_polls(const Event& event) {
  const PollArgs& polls = event.polls;
  if (polls_of(polls) > 1) {
    for (int i = 0; i < PollArgs::kFunctions; ++i) {
      if (polls.calls[i] > 0) add(hook_name(polls.functions[i]), std::uint64_t{polls.calls[i]});
    }
    add("in calls (us)", static_cast<double>(polls.in_calls) / ticks_per_ns_ / 1000);
  }
  if (polls.peer != kNone32) add("source", std::int64_t{polls.peer});
  if (polls.tag != kNone32) add("tag", std::int64_t{polls.tag});
  if (const Communicator* c = definitions_.communicator(polls.comm)) add_communicator(*c);
  if ((event.flags & kFortran) != 0) add("binding", std::string_view{"Fortran"});
}

// No "correlation" and no "stream": readers take the one for a link to device work and the other for a stream's number,
// and a call that was seen by symbol has neither.
void EventArgs::add_cuda_call(const Event& event) {
  constexpr std::string_view kCopyKinds[] = {"HtoH", "HtoD", "DtoH", "DtoD", "default"};
  const CudaCallArgs& call = event.cuda_call;
  if (const std::string_view kernel = view_.string(call.kernel); !kernel.empty()) add("kernel", kernel);
  if (call.has_bytes != 0) add("bytes", call.bytes);
  if (call.copy_kind < std::size(kCopyKinds)) add("kind", kCopyKinds[call.copy_kind]);
  if (call.has_stream != 0) {
    std::snprintf(stream_, sizeof stream_, "0x%llx", static_cast<unsigned long long>(call.stream));
    add("stream handle", std::string_view{stream_});
  }
  if ((event.flags & kFailed) != 0) add("error", std::int64_t{call.result});
  add("seen by", std::string_view{"symbol"});
}

// The call itself: what NCCL was given, and what it answered.
void EventArgs::add_nccl(const Event& event) {
  const NcclArgs& nccl = event.nccl;
  add("function", hook_name(event.hook));
  if (nccl.bytes != 0) add("bytes", nccl.bytes);
  if (nccl.count != 0) {
    // Of a group: how many operations it launches.
    add(event.hook == HookId::ncclGroupEnd ? "operations" : "count", nccl.count);
  }
  if (const std::string_view type = nccl_type_name(nccl.datatype); !type.empty()) add("dtype", type);
  if (const std::string_view op = nccl_op_name(nccl.op); !op.empty()) add("op", op);
  if (nccl.peer != kNone32) add(peer_key(event.hook), std::int64_t{nccl.peer});
  if (const Communicator* c = definitions_.communicator(nccl.comm)) {
    add("comm", c->name);
    add("comm id", std::string_view{c->identity});
    if (c->size > 0) add("Group size", c->size);
    if (c->own_rank >= 0) add("Rank", c->own_rank);
  }
  if (nccl.sequence != 0) add("Seq", std::uint64_t{nccl.sequence});
  if (nccl.group != 0) add("in group", true);
  if (nccl.from_nvtx != 0) add("seen by", std::string_view{"NVTX"});
  if ((event.flags & kFailed) != 0) {
    add("failed", true);
    add("result", nccl_result_name(nccl.result));
  }
}

// The lists were rendered as JSON when they were recorded.
void EventArgs::add_json(std::string_view key, StringId id) {
  if (id == 0) return;
  const std::string_view text = view_.string(id, spool::kMaxText);
  const auto [at, is_new] = is_json_.try_emplace(id, false);
  if (is_new) at->second = valid_json(text);
  if (at->second) add(key, RawJson{text});
}

void EventArgs::add_torch(const TorchArgs& torch) {
  if (torch.sequence != kNoSequence) add("Sequence number", torch.sequence);
  if (shows_inputs_) {
    add_json("Concrete Inputs", torch.values);
    add_json("Input type", torch.types);
    add_json("Input Strides", torch.strides);
    add_json("Input Dims", torch.dims);
  }
}

// "from" and "id" are the same on both sides, and those of no other request of the job: from them a merge draws arrows.
void EventArgs::add_rpc(const Event& event) {
  const RpcArgs& rpc = event.rpc;
  add("rpc", event.hook == HookId::kTorchRpcServed ? "served" : (event.flags & kStartEnd) != 0 ? "request" : "sent");
  if (rpc.id != kNoRpcId) add("id", rpc.id);
  if (rpc.from != 0) add("from", view_.string(rpc.from));
  if (rpc.to != 0) add("to", view_.string(rpc.to));
  add("bytes", rpc.bytes);
  if ((event.flags & kFailed) != 0) add("failed", true);
}

void EventArgs::add_flops(const Event& event) {
  if (!shows_flops_ || event.torch.dims == 0) return;
  const auto [at, is_new] = flops_.try_emplace({event.name, event.torch.dims, event.torch.values});
  if (is_new) {
    at->second = torch_flops(view_.string(event.name), view_.string(event.torch.dims, spool::kMaxText),
                             view_.string(event.torch.values, spool::kMaxText));
  }
  if (at->second) add("flops", *at->second);
}

void EventArgs::add_nvtx(const NvtxArgs& nvtx) {
  if (nvtx.domain != 0) add("domain", definitions_.domain(nvtx.domain));
  if (nvtx.category != 0) {
    const std::string_view name = definitions_.category(nvtx.domain, nvtx.category);
    if (name.empty()) {
      add("category", std::uint64_t{nvtx.category});
    } else {
      add("category", name);
    }
  }
  // nvtxPayloadType_t of nvToolsExt.h: 1 uint64, 2 int64, 3 double, 4 uint32, 5 int32, 6 float
  const auto as = [&nvtx]<class T>(T) {
    T value;
    std::memcpy(&value, &nvtx.payload, sizeof value);
    return value;
  };
  switch (nvtx.payload_type) {
    case 1:
      add("payload", nvtx.payload);
      break;
    case 2:
      add("payload", as(std::int64_t{}));
      break;
    case 3:
      add("payload", as(double{}));
      break;
    case 4:
      add("payload", std::uint64_t{as(std::uint32_t{})});
      break;
    case 5:
      add("payload", std::int64_t{as(std::int32_t{})});
      break;
    case 6:
      add("payload", double{as(float{})});
      break;
    default:
      break;
  }
  if (nvtx.color != 0) {
    std::snprintf(color_, sizeof color_, "#%08x", nvtx.color);
    add("color", std::string_view{color_});
  }
  if (nvtx.extended != 0) add_extended(nvtx.extended);
}

// Rendered as JSON when it was recorded; what a damaged spool holds instead is shown as a text.
void EventArgs::add_extended(StringId id) {
  const std::string_view text = view_.string(id);
  const auto [at, is_new] = is_json_.try_emplace(id, false);
  if (is_new) at->second = valid_json(text);
  if (at->second) {
    add("payload", RawJson{text});
  } else {
    add("payload", text);
  }
}

}  // namespace profshim::kineto
