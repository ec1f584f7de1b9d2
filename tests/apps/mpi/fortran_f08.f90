! Uses "use mpi_f08": typed handles, omitted ierror, strings and statuses.
program fortran_f08
  use mpi_f08
  implicit none
  integer, parameter :: rounds = 3
  integer :: rank, world, provided, round, right, left, failures, done, indices(2)
  integer, asynchronous :: outgoing(8), incoming(8)
  double precision :: sums(4), parts(4)
  type(MPI_Comm) :: copy
  type(MPI_Request) :: requests(2)
  type(MPI_Status) :: status, statuses(2)
  logical :: flag

  failures = 0
  call MPI_Init_thread(MPI_THREAD_SINGLE, provided)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, world)
  right = mod(rank + 1, world)
  left = mod(rank + world - 1, world)
  call MPI_Comm_dup(MPI_COMM_WORLD, copy)
  call MPI_Comm_set_name(copy, 'copied')
  call MPI_Recv_init(incoming, 8, MPI_INTEGER, left, 4, copy, requests(1))
  call MPI_Send_init(outgoing, 8, MPI_INTEGER, right, 4, copy, requests(2))
  do round = 1, rounds
    parts = dble(rank + round)
    call MPI_Allreduce(parts, sums, 4, MPI_DOUBLE_PRECISION, MPI_SUM, copy)
    call MPI_Allreduce(MPI_IN_PLACE, parts, 4, MPI_DOUBLE_PRECISION, MPI_SUM, copy)
    if (any(parts /= sums)) failures = failures + 1
    outgoing = rank * 10 + round
    call MPI_Startall(2, requests)
    call MPI_Waitall(2, requests, statuses)
    if (any(incoming /= left * 10 + round)) failures = failures + 1
    call MPI_Start(requests(1))
    call MPI_Start(requests(2))
    call MPI_Waitsome(2, requests, done, indices, MPI_STATUSES_IGNORE)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    call MPI_Sendrecv(outgoing, 8, MPI_INTEGER, right, 8, incoming, 8, MPI_INTEGER, MPI_ANY_SOURCE, 8, copy, &
                      MPI_STATUS_IGNORE)
    call MPI_Iprobe(left, 99, copy, flag, status)
    if (flag) failures = failures + 1
  end do
  call MPI_Request_free(requests(1))
  call MPI_Request_free(requests(2))
  call MPI_Comm_free(copy)
  call MPI_Finalize()

  call report('MPI_Init_thread', 1)
  call report('MPI_Comm_dup', 1)
  call report('MPI_Comm_set_name', 1)
  call report('MPI_Recv_init', 1)
  call report('MPI_Send_init', 1)
  call report('MPI_Allreduce', 2 * rounds)
  call report('MPI_Startall', rounds)
  call report('MPI_Waitall', 2 * rounds)
  call report('MPI_Start', 2 * rounds)
  call report('MPI_Waitsome', rounds)
  call report('MPI_Sendrecv', rounds)
  call report('MPI_Iprobe', rounds)
  call report('MPI_Request_free', 2)
  call report('MPI_Comm_free', 1)
  call report('MPI_Finalize', 1)
  if (failures /= 0) stop 1

contains
  subroutine report(name, calls)
    character(len=*), intent(in) :: name
    integer, intent(in) :: calls
    write (*, '(A,I0,3A,I0,A)') '{"rank": ', rank, ', "function": "', name, '", "count": ', calls, '}'
  end subroutine report
end program fortran_f08
