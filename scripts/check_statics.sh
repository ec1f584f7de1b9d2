#!/usr/bin/env bash
# Checks that the library registers no destructors of static objects: its exit handlers and threads of the job would use
# the objects after destruction. Prints each object file that registers one; exit 1 if any does.
#   scripts/check_statics.sh OBJECT...
set -u
status=0
for object in "$@"; do
  if nm -u "$object" | grep -q ' __cxa_atexit$'; then
    echo "$object: a static object with a destructor: write  static const auto& name = *new Type(...)" >&2
    status=1
  fi
done
exit $status
