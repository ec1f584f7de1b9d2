! Jacobi iteration for a Poisson problem whose rows are split over the ranks, until the change is small.
! steps: 120
! ranks: 4
program jacobi
  use mpi
  implicit none
  integer, parameter :: columns = 200, rows = 60, iterations = 120
  double precision :: now(0:columns + 1, 0:rows + 1), next(0:columns + 1, 0:rows + 1), change, total
  integer :: rank, ranks, above, below, i, error

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  above = merge(rank - 1, MPI_PROC_NULL, rank > 0)
  below = merge(rank + 1, MPI_PROC_NULL, rank < ranks - 1)
  now = 0
  if (rank == 0) now(:, 0) = 1
  next = now

  do i = 1, iterations
    call MPI_Sendrecv(now(1, rows), columns, MPI_DOUBLE_PRECISION, below, 1, now(1, 0), columns, &
                      MPI_DOUBLE_PRECISION, above, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    call MPI_Sendrecv(now(1, 1), columns, MPI_DOUBLE_PRECISION, above, 2, now(1, rows + 1), columns, &
                      MPI_DOUBLE_PRECISION, below, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    next(1:columns, 1:rows) = 0.25d0 * (now(0:columns - 1, 1:rows) + now(2:columns + 1, 1:rows) + &
                                        now(1:columns, 0:rows - 1) + now(1:columns, 2:rows + 1))
    change = sum((next(1:columns, 1:rows) - now(1:columns, 1:rows))**2)
    now(1:columns, 1:rows) = next(1:columns, 1:rows)
    call MPI_Allreduce(change, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
    if (total < 1d-12) exit
  end do
  if (rank == 0) print '(a, es12.5)', 'change ', sqrt(total)
  call MPI_Finalize(error)
end program
