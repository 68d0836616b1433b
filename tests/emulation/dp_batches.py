"""Launches of the banded dynamic programming on an emulated card."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tests.emulation.batches import Answers, DeviceBatch
from tests.emulation.launching import Kernels, address, aligned
from tests.oracle_spans import _IUPAC, Scheme
from tests.oracles import Pair
from wfacli.gpu import dp

SCHEMES = [
    Scheme(1, ((0, 1),)),
    Scheme(3, ((0, 2),)),
    Scheme(4, ((6, 2),)),
    Scheme(1, ((1, 3),)),
    Scheme(40, ((60, 1),)),
    Scheme(4, ((6, 2), (24, 1))),
    Scheme(4, ((4, 2), (8, 1))),
]
MANY = 2**31 - 2
BLOCK = 64


def letters_of(sequence: bytes, rule: str, target: bool = False) -> np.ndarray:
    """Codes that match when they are equal, or share a bit under "wildcard"."""
    plain = sequence.upper().replace(b"U", b"T") if rule == "mismatch" else sequence.upper()
    if rule == "wildcard":
        sets = [_IUPAC.get(chr(c), "") for c in plain]
        return np.array([sum(1 << "ACGT".index(base) for base in meant) for meant in sets], np.uint8)
    if rule == "mismatch":  # what is no nucleotide matches nothing
        return np.array([c if c in b"ACGT" else 1 + target for c in plain], np.uint8)
    return np.frombuffer(plain, np.uint8)


def batch_of(pairs: Sequence[Pair], rule: str = "") -> DeviceBatch:
    """Packed letters, and codes too where a rule is given."""
    batch = DeviceBatch(pairs)
    batch.codes = aligned(0, np.uint8)
    if rule:
        groups = -(-batch.lengths // 16)
        starts = 16 * (np.cumsum(groups.reshape(-1)).reshape(-1, 2) - groups)
        batch.codes = aligned(16 * int(groups.sum()), np.uint8)
        for pair, row in zip(pairs, starts.tolist(), strict=True):
            for side, (letters, start) in enumerate(zip(pair, row, strict=True)):
                batch.codes[start : start + len(letters)] = letters_of(letters, rule, bool(side))
    return batch


def task_for(batch: DeviceBatch, scheme: Scheme, path: bool, max_cost: int, rule: str) -> np.ndarray:
    """An AlignTask but for its answers, rows and memory."""
    task = batch.task()
    task["seq"]["codes"] = address(batch.codes) if rule else 0
    costs = task["costs"]
    costs["mismatch"], costs["pieces"] = scheme.mismatch, len(scheme.gaps)
    for piece, (opened, extend) in enumerate(scheme.gaps):
        costs["open"][0, piece], costs["extend"][0, piece] = opened, extend
    task["max_cost"], task["path"], task["wildcard"] = max_cost, path, rule == "wildcard"
    task["longest"] = batch.lengths.max(initial=0)
    return task


def launch_thread(
    pairs: Sequence[Pair],
    scheme: Scheme,
    band: int,
    *,
    path: bool = True,
    order: int = 0,
    max_cost: int = MANY,
    capacity: int = 1500,
    rule: str = "",
) -> Answers:
    """dp_align and dp_walk of cuda/dp_thread.cu; slots are the rows from the last to the first of a shuffled batch."""
    pieces = dp.pieces_macro(scheme.gaps)
    macros = {"WFACLI_BAND": band, "WFACLI_PIECES": pieces, "WFACLI_CODES": int(bool(rule))}
    kernels = Kernels("dp_thread.cu", BLOCK, macros)
    batch = batch_of(pairs[::-1], rule)
    rows = np.arange(len(pairs), dtype=np.int32)[::-1].copy()
    task = task_for(batch, scheme, path, max_cost, rule)
    answers = Answers.room(task, len(pairs), capacity)
    stride = dp.thread_stride(band, pieces, int(task["longest"][0]))
    warps = -(-len(pairs) // dp.SLOTS)
    workspace = aligned(warps * stride if path else 0, np.uint8)
    task["rows"], task["workspace"], task["stride"] = address(rows), address(workspace), stride
    kernels.launch("dp_align", task, -(-warps * 32 // BLOCK), order)
    if path:
        kernels.launch("dp_walk", task, -(-len(pairs) // BLOCK), order)
    return answers
