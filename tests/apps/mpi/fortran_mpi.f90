! Uses "use mpi": collectives, point to point, persistent requests and communicators from Fortran 90.
program fortran_mpi
  use mpi
  implicit none
  integer, parameter :: rounds = 4
  integer :: rank, world, ierr, round, right, left, failures, half, requests(2), index, color
  integer :: statuses(MPI_STATUS_SIZE, 2), status(MPI_STATUS_SIZE)
  integer :: outgoing(8), incoming(8)
  double precision :: sums(4), parts(4)
  logical :: flag

  failures = 0
  call MPI_INIT(ierr)
  call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
  call MPI_COMM_SIZE(MPI_COMM_WORLD, world, ierr)
  right = mod(rank + 1, world)
  left = mod(rank + world - 1, world)
  color = mod(rank, 2)
  call MPI_COMM_SPLIT(MPI_COMM_WORLD, color, rank, half, ierr)
  do round = 1, rounds
    parts = dble(rank + round)
    call MPI_ALLREDUCE(parts, sums, 4, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
    call MPI_ALLREDUCE(MPI_IN_PLACE, parts, 4, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
    if (any(parts /= sums)) failures = failures + 1
    call MPI_BCAST(parts, 4, MPI_DOUBLE_PRECISION, 0, half, ierr)
    outgoing = rank * 10 + round
    call MPI_IRECV(incoming, 8, MPI_INTEGER, left, 5, MPI_COMM_WORLD, requests(1), ierr)
    call MPI_ISEND(outgoing, 8, MPI_INTEGER, right, 5, MPI_COMM_WORLD, requests(2), ierr)
    call MPI_WAITALL(2, requests, MPI_STATUSES_IGNORE, ierr)
    if (any(incoming /= left * 10 + round)) failures = failures + 1
    call MPI_IRECV(incoming, 8, MPI_INTEGER, MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, requests(1), ierr)
    call MPI_ISEND(outgoing, 8, MPI_INTEGER, right, 6, MPI_COMM_WORLD, requests(2), ierr)
    call MPI_WAITANY(2, requests, index, status, ierr)
    call MPI_WAITALL(2, requests, statuses, ierr)
    call MPI_ISEND(outgoing, 8, MPI_INTEGER, right, 7, MPI_COMM_WORLD, requests(1), ierr)
    call MPI_RECV(incoming, 8, MPI_INTEGER, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call MPI_WAIT(requests(1), MPI_STATUS_IGNORE, ierr)
    call MPI_SENDRECV(outgoing, 8, MPI_INTEGER, right, 8, incoming, 8, MPI_INTEGER, left, 8, MPI_COMM_WORLD, &
                      status, ierr)
    call MPI_IPROBE(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, flag, status, ierr)
    if (flag) failures = failures + 1
  end do
  call MPI_COMM_FREE(half, ierr)
  call MPI_BARRIER(MPI_COMM_WORLD, ierr)
  call MPI_FINALIZE(ierr)

  call report('MPI_Init', 1)
  call report('MPI_Comm_split', 1)
  call report('MPI_Allreduce', 2 * rounds)
  call report('MPI_Bcast', rounds)
  call report('MPI_Irecv', 2 * rounds)
  call report('MPI_Isend', 3 * rounds)
  call report('MPI_Waitall', 2 * rounds)
  call report('MPI_Waitany', rounds)
  call report('MPI_Recv', rounds)
  call report('MPI_Wait', rounds)
  call report('MPI_Sendrecv', rounds)
  call report('MPI_Iprobe', rounds)
  call report('MPI_Comm_free', 1)
  call report('MPI_Barrier', 1)
  call report('MPI_Finalize', 1)
  if (failures /= 0) stop 1

contains
  subroutine report(name, calls)
    character(len=*), intent(in) :: name
    integer, intent(in) :: calls
    write (*, '(A,I0,3A,I0,A)') '{"rank": ', rank, ', "function": "', name, '", "count": ', calls, '}'
  end subroutine report
end program fortran_mpi
