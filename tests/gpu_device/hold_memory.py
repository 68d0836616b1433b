"""Hold all but MIB MiB of a GPU's memory until standard input ends: python hold_memory.py MIB [GPU]."""

from __future__ import annotations

import sys

import pycuda.driver as cuda


def main() -> None:
    cuda.init()
    context = cuda.Device(int(sys.argv[2]) if len(sys.argv) > 2 else 0).retain_primary_context()
    context.push()
    left, held, piece = int(sys.argv[1]) << 20, [], 1 << 34
    while piece >= 1 << 21:
        if cuda.mem_get_info()[0] - piece < left:
            piece >>= 1
            continue
        try:
            held.append(cuda.mem_alloc(piece))
        except cuda.MemoryError:
            piece >>= 1
    print(cuda.mem_get_info()[0] >> 20, flush=True)
    sys.stdin.read()
    for memory in held:
        memory.free()
    context.pop()


if __name__ == "__main__":
    main()
