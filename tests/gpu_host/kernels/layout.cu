// Where a compiler puts the fields of the kernels' argument, in the order of the declaration, then constants.
#include <cstddef>

#include "common/task.cuh"

using namespace wfacli;

WFACLI_KERNEL(layout, AlignTask) {
  if (blockIdx.x || threadIdx.x) return;
  std::int32_t n = 0;
#define WFACLI_FIELD(name) task.cost[n++] = static_cast<std::int32_t>(offsetof(AlignTask, name))
  WFACLI_FIELD(seq.packed);
  WFACLI_FIELD(seq.codes);
  WFACLI_FIELD(seq.query_start);
  WFACLI_FIELD(seq.target_start);
  WFACLI_FIELD(seq.query_len);
  WFACLI_FIELD(seq.target_len);
  WFACLI_FIELD(rows);
  WFACLI_FIELD(status);
  WFACLI_FIELD(cost);
  WFACLI_FIELD(op_count);
  WFACLI_FIELD(ops);
  WFACLI_FIELD(workspace);
  WFACLI_FIELD(stride);
  WFACLI_FIELD(next);
  WFACLI_FIELD(costs.mismatch);
  WFACLI_FIELD(costs.pieces);
  WFACLI_FIELD(costs.open);
  WFACLI_FIELD(costs.extend);
  WFACLI_FIELD(count);
  WFACLI_FIELD(op_capacity);
  WFACLI_FIELD(max_cost);
  WFACLI_FIELD(longest);
  WFACLI_FIELD(path);
  WFACLI_FIELD(wildcard);
  const std::int32_t constants[] = {sizeof(AlignTask), kGuard, kInsertion, kDeletion, kEqual, kDifferent,
                                    static_cast<std::int32_t>(Status::Unsupported)};
  for (const std::int32_t constant : constants) task.cost[n++] = constant;
}
