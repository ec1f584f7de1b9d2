// The heat flow in a plate whose rows are split over the ranks, on GPUs: heat_gpu --steps N
#include <mpi.h>

#include <cstring>
#include <vector>

#include "apps_gpu/cuda_api.h"

KERNEL(stencil_kernel)

namespace {

constexpr int kCells = 256;
constexpr std::size_t kBytes = kCells * sizeof(double);

struct Plate {
  int rank = 0, ranks = 1;
  void *now = nullptr, *next = nullptr;
  std::vector<double> halo = std::vector<double>(kCells);
};

}  // namespace

/// Not inlined, so that symbol hooks find the function.
extern "C" __attribute__((noinline, visibility("default"))) double heat_step(Plate& plate) {
  void* scratch = nullptr;
  check(cudaMalloc(&scratch, kBytes));
  LAUNCH(stencil_kernel, 16, 256, nullptr);
  check(cudaMemcpy(plate.halo.data(), plate.now, kBytes, cudaMemcpyDeviceToHost));
  const int next = (plate.rank + 1) % plate.ranks, before = (plate.rank + plate.ranks - 1) % plate.ranks;
  MPI_Sendrecv_replace(plate.halo.data(), kCells, MPI_DOUBLE, next, 1, before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  check(cudaMemcpy(plate.next, plate.halo.data(), kBytes, cudaMemcpyHostToDevice));
  double change = 1, total = 0;
  MPI_Allreduce(&change, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  check(cudaFree(scratch));
  return total;
}

int main(int argc, char** argv) {
  const int steps = argc > 2 && std::strcmp(argv[1], "--steps") == 0 ? std::atoi(argv[2]) : 40;
  Plate plate;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &plate.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &plate.ranks);
  check(cudaSetDevice(0));
  check(cudaMalloc(&plate.now, kBytes));
  check(cudaMalloc(&plate.next, kBytes));
  double total = 0;
  for (int step = 0; step < steps; ++step) total = heat_step(plate);
  if (plate.rank == 0) std::printf("%d steps, total %.1f\n", steps, total);
  check(cudaFree(plate.now));
  check(cudaFree(plate.next));
  MPI_Finalize();
  return 0;
}
