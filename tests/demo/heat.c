/* Computes the heat flow in a square plate, whose rows are split over the ranks.
   usage: heat [STEPS [CELLS]]       default: 40 steps on 512 x 512 cells */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#if defined(__has_include)
#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define RANGE_BEGIN(text) nvtxRangePushA(text)
#define RANGE_END() nvtxRangePop()
#endif
#endif
#ifndef RANGE_BEGIN
#define RANGE_BEGIN(text) (void)(text)
#define RANGE_END() (void)0
#endif

struct plate {
  int rank, size;
  int cells;
  int rows; /* without the two halo rows */
  double *now, *next;
};

static double* row(double* field, const struct plate* p, int index) { return field + (size_t)index * p->cells; }

static void exchange_halo(struct plate* p) {
  const int above = p->rank > 0 ? p->rank - 1 : MPI_PROC_NULL;
  const int below = p->rank + 1 < p->size ? p->rank + 1 : MPI_PROC_NULL;
  MPI_Request requests[4];
  RANGE_BEGIN("halo");
  MPI_Irecv(row(p->now, p, 0), p->cells, MPI_DOUBLE, above, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(row(p->now, p, p->rows + 1), p->cells, MPI_DOUBLE, below, 2, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(row(p->now, p, 1), p->cells, MPI_DOUBLE, above, 2, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(row(p->now, p, p->rows), p->cells, MPI_DOUBLE, below, 1, MPI_COMM_WORLD, &requests[3]);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  RANGE_END();
}

/* Returns the sum of squared changes. */
static double relax(struct plate* p) {
  double change = 0;
  RANGE_BEGIN("stencil");
  for (int r = 1; r <= p->rows; ++r) {
    const double *up = row(p->now, p, r - 1), *mid = row(p->now, p, r), *down = row(p->now, p, r + 1);
    double* out = row(p->next, p, r);
    out[0] = mid[0];
    out[p->cells - 1] = mid[p->cells - 1];
    for (int c = 1; c + 1 < p->cells; ++c) {
      const double flow = 0.2 * (up[c] + down[c] + mid[c - 1] + mid[c + 1] - 4 * mid[c]);
      out[c] = mid[c] + flow;
      change += flow * flow;
    }
  }
  RANGE_END();
  return change;
}

/* Not inlined, so that symbol hooks find the function. */
__attribute__((noinline, noclone, visibility("default"))) double heat_step(struct plate* p) {
  double change, total;
  exchange_halo(p);
  change = relax(p);
  RANGE_BEGIN("residual");
  MPI_Allreduce(&change, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  RANGE_END();
  double* const old = p->now;
  p->now = p->next;
  p->next = old;
  return sqrt(total);
}

static void print_result(struct plate* p) {
  double mean = 0, *means = NULL;
  for (int r = 1; r <= p->rows; ++r)
    for (int c = 0; c < p->cells; ++c) mean += row(p->now, p, r)[c];
  mean /= (double)p->rows * p->cells;
  if (p->rank == 0) means = malloc(sizeof(double) * (size_t)p->size);
  MPI_Gather(&mean, 1, MPI_DOUBLE, means, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if (p->rank != 0) return;
  printf("mean temperature by rank:");
  for (int i = 0; i < p->size; ++i) printf(" %.4f", means[i]);
  printf("\n");
  free(means);
}

int main(int argc, char** argv) {
  struct plate p;
  int parameters[2] = {40, 512};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &p.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &p.size);
  if (p.rank == 0 && argc > 1) parameters[0] = atoi(argv[1]);
  if (p.rank == 0 && argc > 2) parameters[1] = atoi(argv[2]);
  MPI_Bcast(parameters, 2, MPI_INT, 0, MPI_COMM_WORLD);
  const int steps = parameters[0];
  p.cells = parameters[1];
  p.rows = p.cells / p.size + (p.rank < p.cells % p.size);

  const size_t values = ((size_t)p.rows + 2) * (size_t)p.cells;
  p.now = calloc(values, sizeof(double));
  p.next = calloc(values, sizeof(double));
  if (p.cells < 3 || p.rows < 1 || p.now == NULL || p.next == NULL) {
    fprintf(stderr, "heat: %d x %d cells do not fit %d ranks\n", p.cells, p.cells, p.size);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  if (p.rank == 0)
    for (int c = 0; c < p.cells; ++c) row(p.now, &p, 0)[c] = row(p.next, &p, 0)[c] = 100.0;

  double residual = 0;
  for (int step = 0; step < steps; ++step) {
    char name[32];
    snprintf(name, sizeof name, "iteration %d", step);
    RANGE_BEGIN(name);
    residual = heat_step(&p);
    RANGE_END();
  }
  if (p.rank == 0) printf("%d steps, residual %.6f\n", steps, residual);
  print_result(&p);
  free(p.now);
  free(p.next);
  MPI_Finalize();
  return 0;
}
