#!/usr/bin/env bash
# Checks that the library registers no destructors of static objects: its exit handlers and threads of the job would use
# the objects after destruction. Also checks that only base/threads/loader_lock.cpp calls dl_iterate_phdr(), whose lock a
# fork must not copy. Prints each object file that breaks a rule; exit 1 if any does.
#   scripts/check_statics.sh OBJECT...
set -u
status=0
for object in "$@"; do
  if nm -u "$object" | grep -q ' __cxa_atexit$'; then
    echo "$object: a static object with a destructor: write  static const auto& name = *new Type(...)" >&2
    status=1
  fi
  if [[ $object != */base/threads/loader_lock.o ]] && nm -u "$object" | grep -q ' dl_iterate_phdr$'; then
    echo "$object: calls dl_iterate_phdr(): call visit_loaded_files() (profshim/base/threads/loader_lock.h)" >&2
    status=1
  fi
done
exit $status
