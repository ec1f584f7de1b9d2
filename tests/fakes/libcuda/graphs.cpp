#include <utility>

#include "fakes/libcuda/simulator.h"

namespace fake {

int Simulator::begin_capture(void* handle) {
  const std::lock_guard lock(lock_);
  Stream* stream = find(handle);
  if (!stream || stream->capture || stream == defaults_[stream->context]) return kCaptureUnsupported;
  stream->capture = new_graph();
  return kOk;
}

int Simulator::end_capture(void* handle, void** graph) {
  const std::lock_guard lock(lock_);
  Stream* stream = find(handle);
  if (!stream || !stream->capture) return kInvalidValue;
  Graph* const captured = stream->capture;
  for (Stream* other : streams_)
    if (other->capture == captured) other->capture = nullptr;
  for (auto& [key, event] : events_)
    if (event->captured == captured) event->captured = nullptr;
  *graph = captured;
  return kOk;
}

int Simulator::capture_id(void* handle, std::uint64_t* id) {
  const std::lock_guard lock(lock_);
  const Stream* stream = find(handle);
  if (!stream) return kInvalidHandle;
  *id = stream->capture ? stream->capture->id : 0;
  return kOk;
}

void* Simulator::create_graph() {
  const std::lock_guard lock(lock_);
  return new_graph();
}

int Simulator::destroy_graph(void* graph) {
  const std::lock_guard lock(lock_);
  return graphs_.erase(static_cast<Graph*>(graph)) == 1 ? kOk : kInvalidValue;
}

int Simulator::graph_nodes(void* graph, std::size_t* count) {
  const std::lock_guard lock(lock_);
  const auto found = graphs_.find(static_cast<Graph*>(graph));
  if (found == graphs_.end()) return kInvalidValue;
  *count = found->second->nodes.size();
  return kOk;
}

int Simulator::instantiate(void* graph, void** executable) {
  const std::lock_guard lock(lock_);
  const auto found = graphs_.find(static_cast<Graph*>(graph));
  if (found == graphs_.end()) return kInvalidValue;
  Graph* copy = new_graph();
  copy->nodes = found->second->nodes;
  *executable = copy;
  return kOk;
}

int Simulator::launch_graph(void* executable, void* handle) {
  const std::lock_guard lock(lock_);
  const auto found = graphs_.find(static_cast<Graph*>(executable));
  Stream* stream = find(handle);
  if (found == graphs_.end() || !stream) return kInvalidValue;
  const Graph& graph = *found->second;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    Work work = graph.nodes[i];
    work.graph = graph.id;
    work.graph_made = graph.made;
    work.graph_node = (static_cast<std::uint64_t>(graph.id) << 32) | (i + 1);
    work.first_of_graph = i == 0;
    work.last_of_graph = i + 1 == graph.nodes.size();
    place(*stream, std::move(work));
  }
  return kOk;
}

Graph* Simulator::new_graph() {
  auto graph = std::make_unique<Graph>(Graph{++graphs_made_, {}});
  Graph* const key = graph.get();
  graphs_[key] = std::move(graph);
  return key;
}

}  // namespace fake
