C     mpif.h and fixed form: the oldest way to call MPI.
      program fortran_mpifh
      implicit none
      include 'mpif.h'
      integer rank, world, ierr, i, rounds
      parameter (rounds = 3)
      integer mine(2), all(64), request
      logical flag
      call MPI_INIT(ierr)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, world, ierr)
      do 10 i = 1, rounds
        mine(1) = rank
        mine(2) = i
        call MPI_ALLGATHER(mine, 2, MPI_INTEGER, all, 2, MPI_INTEGER,
     &                     MPI_COMM_WORLD, ierr)
        if (all(2 * world) .ne. i) stop 1
        call MPI_IBARRIER(MPI_COMM_WORLD, request, ierr)
        call MPI_TEST(request, flag, MPI_STATUS_IGNORE, ierr)
        call MPI_WAIT(request, MPI_STATUS_IGNORE, ierr)
        call MPI_REDUCE(mine, all, 2, MPI_INTEGER, MPI_MAX, 0,
     &                  MPI_COMM_WORLD, ierr)
   10 continue
      call MPI_FINALIZE(ierr)
      call report(rank, 'MPI_Init', 1)
      call report(rank, 'MPI_Allgather', rounds)
      call report(rank, 'MPI_Ibarrier', rounds)
      call report(rank, 'MPI_Test', rounds)
      call report(rank, 'MPI_Wait', rounds)
      call report(rank, 'MPI_Reduce', rounds)
      call report(rank, 'MPI_Finalize', 1)
      end

      subroutine report(rank, name, calls)
      implicit none
      integer rank, calls
      character*(*) name
      write (*, 20) rank, name, calls
   20 format ('{"rank": ', I0, ', "function": "', A, '", "count": ',
     &        I0, '}')
      end
