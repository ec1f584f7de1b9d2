# shellcheck shell=bash disable=SC2154  # variables are those of scripts/gpu_check.sh
# Runs the jobs of tests/gpu/programs without a spec.

unmodified() { # NAME MODULE
  local name=$1 program=$root/tests/gpu/programs/$1.py steps trace
  if ! "$python" -c "import importlib.util, sys; sys.exit(importlib.util.find_spec('$2') is None)"; then
    say "- $name: not run, there is no $2"
    return
  fi
  local limit=$((SECONDS + 60 < limit ? SECONDS + 60 : limit)) # a program that hangs leaves time for the others
  bare "bare_$name" "$python" "$program" || return
  under_shim "$name" "" "$python" "$program" || return
  steps=$(sed -n '1,9s/^steps: //p' "$program")
  if [ "$(tail -n 1 "$work/bare_$name.out")" != "$(tail -n 1 "$work/$name.out")" ]; then
    fail "$name: its output differs: $(tail -n 1 "$work/bare_$name.out") / $(tail -n 1 "$work/$name.out")"
  fi
  say "- $name, $steps steps: $(grep -a -m 1 '^profshim: rank 0: ' "$work/$name.err")"
  verify_all "$name"
  for trace in $(traces_of "$name"); do
    compare whole "$trace"
    said_problems "$trace"
    key "$name: $(kernels_in "$trace") kernels;"
  done
}

check_unmodified() {
  local -x XLA_PYTHON_CLIENT_PREALLOCATE=false CUPY_CACHE_DIR=$base/cupy TRITON_CACHE_DIR=$base/triton CUDA_CACHE_PATH=$base/cuda
  local name module
  unset RANK WORLD_SIZE LOCAL_RANK LOCAL_WORLD_SIZE
  while read -r -u 4 name module; do unmodified "$name" "$module"; done 4<<'END'
cupy_jacobi cupy
triton_loop triton
amp_train torch
generate transformers
hf_train transformers
lightning_train lightning
jax_train jax
END
}
