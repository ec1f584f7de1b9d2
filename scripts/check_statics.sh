#!/usr/bin/env bash
# No object of the library may have something destroyed at exit: our own handlers run after that, and threads of the job
# may still be inside of us. Prints what breaks it; exit 1 if any does.
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
