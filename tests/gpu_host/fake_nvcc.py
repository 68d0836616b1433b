"""A compiler that only records its calls, so that tests of the cache need no CUDA toolkit."""

from __future__ import annotations

import sys
from pathlib import Path

SCRIPT = """#!{python}
import sys, time
from pathlib import Path
log = Path({log!r})
if "--version" in sys.argv:
    print("Cuda compilation tools, release 13.0, V{version}")
    sys.exit()
time.sleep({seconds})
source = Path(sys.argv[-1])
with log.open("a") as file:
    file.write(source.name + chr(10))
if b"broken" in source.read_bytes():
    print("warning: unused\\nkernel.cu(3): error: broken", file=sys.stderr)
    sys.exit(1)
made = " ".join(argument for argument in sys.argv if argument.startswith(("-D", "-arch", "-ptx", "-cubin")))
Path(sys.argv[sys.argv.index("-o") + 1]).write_text(made)
print('''ptxas info    : Compiling entry function 'other' for 'sm_90'
ptxas info    : Function properties for other
    64 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads
ptxas info    : Used 255 registers, used 0 barriers, 99 bytes smem
ptxas info    : Compiling entry function 'entry' for 'sm_90'
ptxas info    : Function properties for entry
    {stack} bytes stack frame, 0 bytes spill stores, 4 bytes spill loads
ptxas info    : Used 40 registers, used 1 barriers, 512 bytes smem, 16 bytes cmem[2]
ptxas info    : Function properties for _Z6helperv
    16 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads''', file=sys.stderr)
"""


class FakeNvcc:
    def __init__(self, folder: Path, version: str = "13.0.88", seconds: float = 0, stack: int = 0) -> None:
        self.path, self._log = folder / f"nvcc-{version}", folder / "log"
        self.path.write_text(
            SCRIPT.format(python=sys.executable, log=str(self._log), version=version, seconds=seconds, stack=stack)
        )
        self.path.chmod(0o755)

    @property
    def runs(self) -> int:
        return len(self._log.read_text().splitlines()) if self._log.exists() else 0
