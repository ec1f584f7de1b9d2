// Decodes texts of JSON that have escapes or are not ASCII.
#pragma once

#ifdef __SSE2__
#include <immintrin.h>
#endif

#include <string>

namespace profshim::trace_detail {

/// Returns the first byte from `at` on that is no printable ASCII, a quote or a backslash. Reads up to 16 bytes more.
inline const char* end_of_plain_text(const char* at) {
#ifdef __SSE2__
  const __m128i quote = _mm_set1_epi8('"'), escape = _mm_set1_epi8('\\'), blank = _mm_set1_epi8(' ');
  for (;; at += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    // As signed numbers, non-ASCII and control bytes are less than a blank.
    const __m128i ends = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, escape)),
                                      _mm_cmplt_epi8(bytes, blank));
    const int mask = _mm_movemask_epi8(ends);
    if (mask != 0) return at + __builtin_ctz(static_cast<unsigned>(mask));
  }
#else
  while (*at != '"' && *at != '\\' && static_cast<signed char>(*at) >= ' ') ++at;
  return at;
#endif
}

/// Decodes the text from `at` up to its closing quote. Returns the quote; null if the text is not strict JSON in UTF-8
/// or not all in memory: src/json repairs such texts, and counts them.
const char* decode_text(const char* at, std::string& decoded);

}  // namespace profshim::trace_detail
