"""Kernel arguments as numpy structures, with the layout of cuda/common/task.cuh, which documents the fields."""

from __future__ import annotations

import numpy as np

_ADDRESS = np.uint64

SEQUENCES = np.dtype(
    [(name, _ADDRESS) for name in ("packed", "codes", "query_start", "target_start", "query_len", "target_len")],
    align=True,
)
COSTS = np.dtype(
    [("mismatch", np.int32), ("pieces", np.int32), ("open", np.int32, 2), ("extend", np.int32, 2)], align=True
)
ALIGN_TASK = np.dtype(
    [
        ("seq", SEQUENCES),
        *(
            (name, _ADDRESS)
            for name in ("rows", "status", "cost", "op_count", "ops", "workspace", "stride", "work_counter")
        ),
        ("costs", COSTS),
        *((name, np.int32) for name in ("count", "op_capacity", "max_cost", "longest", "path", "wildcard")),
        *((name, np.int32) for name in ("band", "band_step", "first_cost")),
        ("cut", _ADDRESS),
        ("bands", _ADDRESS),
    ],
    align=True,
)
SW_TASK = np.dtype(
    [
        ("seq", SEQUENCES),
        *((name, _ADDRESS) for name in ("rows", "status", "score", "op_count", "ops", "span")),
        *((name, _ADDRESS) for name in ("workspace", "stride", "work_counter", "prefixes", "ends")),
        *((name, np.int32) for name in ("codes", "unit", "open", "extend", "max_score", "count", "op_capacity")),
        *((name, np.int32) for name in ("longest_query", "longest_target", "rule")),
        ("self_match", np.uint32),
        ("scores", np.uint32, 256),
        *((name, np.int32) for name in ("band", "drop")),
    ],
    align=True,
)
PACK_TASK = np.dtype([("bases", _ADDRESS), ("packed", _ADDRESS), ("n_bases", np.uint64)], align=True)
ENCODE_TASK = np.dtype(
    [
        *((name, _ADDRESS) for name in ("bases", "codes", "tables", "rows")),
        *((name, _ADDRESS) for name in ("query_start", "target_start", "query_len", "target_len")),
        ("count", np.int32),
    ],
    align=True,
)
GATHER_TASK = np.dtype(
    [
        *((name, _ADDRESS) for name in ("op_count", "ops", "rows", "start", "sums", "cigar")),
        ("chunk", np.int64),
        *((name, np.int32) for name in ("chunks", "count", "op_capacity", "lanes_log2")),
    ],
    align=True,
)
PLANES_TASK = np.dtype([("symbols", _ADDRESS), ("rows", _ADDRESS), ("count", np.uint64)], align=True)
LONG_STATUS = np.dtype([("reach", np.int64), ("met", np.int32), ("unused", np.int32)], align=True)
LONG_WAVEFRONT_TASK = np.dtype(
    [
        *((name, _ADDRESS) for name in ("query", "target")),
        *((name, np.int64) for name in ("query_len", "target_len")),
        *((name, _ADDRESS) for name in ("input_offsets", "output_offsets")),
        *(
            (name, np.int64)
            for name in ("input_stride", "output_stride", "input_first", "input_count", "first", "tiles")
        ),
        ("status", _ADDRESS),
        ("ghost", np.int32),
        ("steps", np.int32, 2),
        ("number", np.int32),
        ("slant", np.int32),
    ],
    align=True,
)
BITS_MATRIX = np.dtype(
    [
        *((name, _ADDRESS) for name in ("edges", "corner", "edge_read")),
        ("stripes", np.int64),
        ("padding_rows", np.int64),
    ],
    align=True,
)
LONG_BITS_TASK = np.dtype(
    [
        *((name, _ADDRESS) for name in ("query", "target")),
        *((name, np.int64) for name in ("query_len", "target_len", "low", "high", "first", "end")),
        ("matrix", BITS_MATRIX, 2),
        *((name, np.int64) for name in ("rows", "edge_words", "slots")),
        *((name, _ADDRESS) for name in ("work_counter", "distance", "sums")),
    ],
    align=True,
)
PATH_SEGMENTS = np.dtype(
    [
        *((name, np.int64) for name in ("count", "limit")),
        *((name, _ADDRESS) for name in ("entry", "next_entry", "traced_entry", "exit", "op_count", "ops")),
        *((name, _ADDRESS) for name in ("work_counter", "changed", "scratch", "stride")),
        ("op_capacity", np.int64),
    ],
    align=True,
)
PATH_BITS_TASK = np.dtype(
    [
        ("bits", LONG_BITS_TASK),
        ("path", PATH_SEGMENTS),
        ("states", _ADDRESS),
        *((name, np.int64) for name in ("states_per_stripe", "state_interval", "first_segment")),
    ],
    align=True,
)
PATH_FRONT = np.dtype([("offsets", _ADDRESS), *((name, np.int64) for name in ("first", "count", "score"))], align=True)
PATH_FRONTS_TASK = np.dtype(
    [("launch", LONG_WAVEFRONT_TASK), ("path", PATH_SEGMENTS), ("fronts", _ADDRESS), ("furthest", _ADDRESS)],
    align=True,
)
LOCAL_PLACE = np.dtype(
    [("score", np.int32), ("unused", np.int32), ("row", np.int64), ("column", np.int64)], align=True
)
LOCAL_TASK = np.dtype(
    [
        *(
            (name, _ADDRESS)
            for name in (
                "query",
                "target",
                "scores",
                "row",
                "stored_rows",
                "work_counter",
                "best_score",
                "best",
                "tiles",
            )
        ),
        *((name, _ADDRESS) for name in ("scratch", "barred")),
        *((name, np.int64) for name in ("rows", "columns", "first", "end", "store_every", "n_stored_before")),
        *(
            (name, np.int32)
            for name in ("n_row_codes", "n_column_codes", "first_gap", "extend", "match", "max_difference", "floor")
        ),
        *((name, np.int32) for name in ("one", "prune", "barred_sets")),
    ],
    align=True,
)
LOCAL_CONE = np.dtype(
    [
        ("row", _ADDRESS),
        *((name, np.int64) for name in ("first", "column", "rows", "needed", "middle", "output_offset")),
    ],
    align=True,
)
LOCAL_CONES_TASK = np.dtype(
    [
        *((name, _ADDRESS) for name in ("cones", "answers")),
        *((name, np.int32) for name in ("parts", "match", "open", "extend", "slack")),
    ],
    align=True,
)
GUARD = 8  # readable words before and after packed bases
