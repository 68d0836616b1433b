// parasail under any scores, over columns of pairs; loaded by bench/tables/extend_table.py.
#include <chrono>
#include <cstdint>
#include <cstring>

#include "parasail.h"
#include "parasail/matrix_lookup.h"

// Returns the seconds of a function of parasail for n pairs in order, with CIGARs if it keeps a trace; -1 if there is
// no function or matrix of that name. In parasail a gap of one symbol costs the opening alone.
extern "C" double parasail_run(const char* function, const char* matrix, int match, int mismatch, int open, int extend,
                               const char* bases, std::int64_t n, const std::int64_t* q_start,
                               const std::int64_t* t_start, const std::int32_t* q_len, const std::int32_t* t_len,
                               std::int32_t* scores) {
  parasail_function_t* align = parasail_lookup_function(function);
  parasail_matrix_t* made = *matrix ? nullptr : parasail_matrix_create("ACGTN", match, mismatch);
  const parasail_matrix_t* scoring = made ? made : parasail_matrix_lookup(matrix);
  if (!align || !scoring) return -1;
  const bool trace = std::strstr(function, "trace") != nullptr;
  const auto begun = std::chrono::steady_clock::now();
  for (std::int64_t i = 0; i < n; ++i) {
    const char *q = bases + q_start[i], *t = bases + t_start[i];
    parasail_result_t* result = align(q, q_len[i], t, t_len[i], open + extend, extend, scoring);
    scores[i] = parasail_result_is_saturated(result) ? INT32_MIN : parasail_result_get_score(result);
    if (trace) parasail_cigar_free(parasail_result_get_cigar(result, q, q_len[i], t, t_len[i], scoring));
    parasail_result_free(result);
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begun;
  if (made) parasail_matrix_free(made);
  return taken.count();
}
