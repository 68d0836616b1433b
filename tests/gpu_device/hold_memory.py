"""Hold all but MIB MiB of a GPU's memory until standard input ends: python hold_memory.py MIB [GPU]."""

from __future__ import annotations

import sys

from wfacli.errors import OutOfDeviceMemory
from wfacli.gpu.runtime.opening import open_driver


def main() -> None:
    driver = open_driver(int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    left, piece = int(sys.argv[1]) << 20, 1 << 34
    while piece >= 1 << 21:
        if driver.free_memory() - piece < left:
            piece >>= 1
            continue
        try:
            driver.allocate(piece)
        except OutOfDeviceMemory:
            piece >>= 1
    print(driver.free_memory() >> 20, flush=True)
    sys.stdin.read()
    driver.close()


if __name__ == "__main__":
    main()
