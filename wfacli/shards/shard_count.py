"""The number of shards of a run, if the user does not choose it."""

from __future__ import annotations

_PER_SLOT = 4  # shards for each that the cluster runs at a time, so that all end at about the same time
_MIN_BYTES, _MAX_BYTES = 1 << 23, 1 << 32  # stored bytes of the inputs of a shard


def default_shards(slots: int, stored: int, reference: int = 0) -> int:
    """Return the number of shards.

    Args:
        slots: number of shards that run at a time.
        stored: bytes of the inputs that are cut, as they are stored.
        reference: bytes of a reference that every shard indexes first: it is worth that only for as many bytes of
            reads; 0 if there is none.
    """
    smallest = max(_MIN_BYTES, reference)
    most = -(-stored // smallest)
    least = -(-stored // max(_MAX_BYTES, reference))  # a shard whose worker is lost is to be done again soon
    return max(1, least, min(_PER_SLOT * slots, most))
