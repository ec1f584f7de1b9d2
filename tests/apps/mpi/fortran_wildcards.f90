! Receives from MPI_ANY_SOURCE with MPI_STATUS_IGNORE, in "use mpi" and in "use mpi_f08".
subroutine old_binding(rounds, rank, right)
  use mpi
  implicit none
  integer, intent(in) :: rounds, rank, right
  integer, asynchronous :: incoming(2), outgoing
  integer :: requests(2), ierror, round, done, indices(2), left_over
  logical :: flag

  do round = 1, rounds
    outgoing = rank
    call MPI_Irecv(incoming(1), 1, MPI_INTEGER, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, requests(1), ierror)
    call MPI_Isend(outgoing, 1, MPI_INTEGER, right, 5, MPI_COMM_WORLD, requests(2), ierror)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierror)
    call MPI_Irecv(incoming(1), 1, MPI_INTEGER, MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, requests(1), ierror)
    call MPI_Isend(outgoing, 1, MPI_INTEGER, right, 6, MPI_COMM_WORLD, requests(2), ierror)
    left_over = 2
    do while (left_over > 0)
      call MPI_Waitsome(2, requests, done, indices, MPI_STATUSES_IGNORE, ierror)
      left_over = left_over - done
    end do
    call MPI_Irecv(incoming(1), 1, MPI_INTEGER, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, requests(1), ierror)
    call MPI_Isend(outgoing, 1, MPI_INTEGER, right, 7, MPI_COMM_WORLD, requests(2), ierror)
    flag = .false.
    do while (.not. flag)
      call MPI_Testall(2, requests, flag, MPI_STATUSES_IGNORE, ierror)
    end do
  end do
end subroutine old_binding

program fortran_wildcards
  use mpi_f08
  implicit none
  integer, parameter :: rounds = 3
  integer :: rank, world, round, right
  integer, asynchronous :: incoming, outgoing
  type(MPI_Request) :: requests(2)

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, world)
  right = mod(rank + 1, world)
  call old_binding(rounds, rank, right)
  do round = 1, rounds
    outgoing = rank
    call MPI_Irecv(incoming, 1, MPI_INTEGER, MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, requests(1))
    call MPI_Isend(outgoing, 1, MPI_INTEGER, right, 8, MPI_COMM_WORLD, requests(2))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
  end do
  call MPI_Finalize()

  call report('MPI_Init', 1)
  call report('MPI_Irecv', 4 * rounds)
  call report('MPI_Isend', 4 * rounds)
  call report('MPI_Waitall', 2 * rounds)
  call report('MPI_Finalize', 1)

contains
  subroutine report(name, calls)
    character(len=*), intent(in) :: name
    integer, intent(in) :: calls
    write (*, '(A,I0,3A,I0,A)') '{"rank": ', rank, ', "function": "', name, '", "count": ', calls, '}'
  end subroutine report
end program fortran_wildcards
