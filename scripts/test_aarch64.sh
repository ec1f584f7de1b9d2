#!/usr/bin/env bash
# Runs what `make aarch64` builds on an emulated processor, in the root file system of scripts/aarch64_root.sh. The
# kernel runs programs of aarch64 with qemu in one user namespace only (Linux 6.7 and newer), so that nothing else on
# the machine changes. The last line is "N passed, N failed".
#   scripts/test_aarch64.sh            the MPI jobs of tests/portable
#   scripts/test_aarch64.sh --unit     the unit tests
#   scripts/test_aarch64.sh --can-run  exit 0 if namespaces can be made here: the tests are worth building
#   scripts/test_aarch64.sh --has-changed  exit 0 if code for aarch64 has changed since the MPI jobs passed last
set -u
cd "$(dirname "$0")/.." || exit 2

# The checksum with which the MPI jobs passed last: commit it. Run them before a release as well.
last_pass=tests/portable/aarch64.sum
sum_of_code() {
  { grep -rl --include='*.cpp' --include='*.h' --include='*.inc' --include='*.S' aarch64 include inject src
    printf '%s\n' scripts/aarch64_root.sh scripts/test_aarch64.sh tests/portable/*.*[!m]; } | sort | xargs cat | cksum | cut -d ' ' -f 1
}
if [ "${1:-}" = --has-changed ]; then [ "$(sum_of_code)" != "$(cat $last_pass 2>/dev/null)" ]; exit; fi
root=${XDG_CACHE_HOME:-$HOME/.cache}/profshim/aarch64
built=build/aarch64

# Registers qemu for aarch64 programs by the first 20 bytes of their ELF header, with a mask. F opens qemu now, outside
# of the root.
# shellcheck disable=SC2016  # the inner shell expands it: $0 is the root
inside='mount -t binfmt_misc none /proc/sys/fs/binfmt_misc &&
  printf %s ":aarch64:M::\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00:\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff:$(command -v qemu-aarch64-static):F" \
    >/proc/sys/fs/binfmt_misc/register || { echo "this kernel cannot register qemu for aarch64 programs in a user namespace"; exit 77; }
  mount -t proc none "$0/proc" && mount -t tmpfs none "$0/tmp" && mount -t tmpfs none "$0/dev" && mkdir "$0/dev/shm" || exit 77
  for device in null zero full random urandom; do : >"$0/dev/$device"; mount --bind /dev/$device "$0/dev/$device"; done
  mount -t tmpfs none "$0/dev/shm" && mount --rbind /sys "$0/sys" && mount --bind "$PWD" "$0$PWD" || exit 77
  exec chroot "$0" /usr/bin/env -i -C "$PWD" HOME=/root PATH=/usr/bin:/bin "$@"'

# These tests need a second user, but a user namespace has one.
not_here=AtomicFile.DoesNotWriteThroughALinkOfAnotherUser:OpenFolderBelow.RefusesALinkOfAnotherUser
not_here+=:Log.RefusesAPipeAndALinkOfAnotherUser:RecoverTest.RootActsAsTheOwnerOfTheFolder
not_here+=:RecoverTest.ALinkOfAnotherUserIsNotTouched:RecoverTest.ASpoolOfAnotherUserIsNotTouched
not_here+=:OpenRun.IgnoresAnIdentityFileOfAnotherUser:GzipSink.CompressesOnTheCallersThreadWhenThereAreNoThreadsToBeHad
# The root has Open MPI's mpicc and no mpi.h.
not_here+=":Mpis/MpiHeaders.*"
# qemu has no process_vm_readv(), with which these NCCL tests read a handle, and no RLIMIT_AS.
not_here+=:NcclCommunicators.HandleStoredLaterIsFoundByItsAddress
not_here+=:NcclCommunicators.EachThreadTakesTheHandlesThatItWaitsFor:MemoryRoomTest.LeavesMostOfTheAddressSpaceToTheJob

apart=(unshare --user --map-root-user --mount --pid --fork --kill-child)
# A container or a chroot may forbid namespaces.
can_run() { local why; why=$("${apart[@]}" true 2>&1) || { echo "no namespaces can be made here: $why"; return 77; }; }
[ "${1:-}" != --can-run ] || { can_run; exit; }

in_root() { # COMMAND...: in namespaces of its own, which end its mounts and processes
  can_run || return
  timeout --kill-after=10 900 "${apart[@]}" bash -c "$inside" "$root" "$@" </dev/null 2>&1
}

mkdir -p "$root/opt/profshim" "$root/opt/portable" "$root/sys" "$root$PWD" || exit 2
cp "$built/libprofshim.so" "$built/profshim" "$root/opt/profshim" || exit 2
cp tests/portable/* "$root/opt/portable"

passed=0 failed=0
count() { # NAME STATUS OUTPUT LAST
  case $2 in
    0) echo "$1: $4"; passed=$((passed + 1)) ;;
    77) echo "$1: skipped: $3" ;;
    *) printf '%s: failed\n%s\n' "$1" "$3"; failed=$((failed + 1)) ;;
  esac
}

if [ "${1:-}" = --unit ]; then
  # A shell starts the tests, because process 1 of a namespace has no parent.
  said=$(in_root /bin/bash -c "$PWD/$built/tests/unit --gtest_brief=1 --gtest_filter=-$not_here; exit \$?")
  count "unit tests on aarch64" $? "$said" "$(sed -n 's/^\[  PASSED  \] \([0-9]*\) tests.*/\1 passed/p' <<<"$said")"
else
  said=$(in_root /bin/bash /opt/portable/in_root.sh)
  count "MPI jobs on aarch64" $? "$said" "$(tail -n 1 <<<"$said") checks passed"
  if [ "$passed" -eq 1 ]; then sum_of_code >$last_pass; fi
fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
