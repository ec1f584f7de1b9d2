# shellcheck shell=bash disable=SC2154  # variables are those of scripts/gpu_check.sh
# Runs tests/gpu/cupti_questions.cu without the library, in one process for each question.

check_cupti_questions() {
  local program=$bundle/cupti_questions question answered=0 asked=0
  local -x LD_LIBRARY_PATH=$libraries
  if [ ! -e "$program" ]; then
    skip "$program is not built"
    return
  fi
  if ldd "$program" | grep -q 'not found'; then
    skip "not asked: $(ldd "$program" | grep 'not found' | tr -d '\t' | tr '\n' ' ')"
    return
  fi
  for question in $("$program" list); do
    asked=$((asked + 1))
    timeout --kill-after=5 20 "$program" "$question" >"$work/$question.out" 2>"$work/$question.err"
    case $? in
      0) answered=$((answered + 1)) ;;
      124 | 137) fail "$question: CUPTI did not come back in 20 s" ;;
      *) fail "$question: $(last_words "$work/$question.err") $(last_words "$work/$question.out")" ;;
    esac
    say "- $question:"
    sed 's/^/  - /' "$work/$question.out" | tee -a "$results" "$sections" >>"$log"
  done
  key "$answered of $asked questions answered"
}
