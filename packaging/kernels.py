"""Make the wheel of wfacli-kernels: the GPU kernels as machine code, so that no CUDA toolkit is needed to run them.

    python packaging/kernels.py [--arch sm_80 --arch …] [--into dist] [--jobs N]

Needs nvcc. The wheel is for every Python and requires exactly this version of wfacli, which finds the kernels in it
before it compiles any. It has machine code for each architecture, and PTX that drivers compile for newer GPUs.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from wfacli import __version__
from wfacli.core.cores import usable_cores
from wfacli.errors import DeviceError
from wfacli.gpu.compile.compiler import ARCHITECTURES, KERNELS_PACKAGE, NEWEST_PTX, Compiler, nvcc_version
from wfacli.gpu.compile.package import build_rows
from wfacli.gpu.kernels.catalogue import ROWS, Row

ROOT = Path(__file__).resolve().parents[1]
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the first that zip has; the same for all files, so that two builds are the same
_MODULE = f'''"""Machine code of wfacli's GPU kernels; wfacli finds it here."""

__version__ = "{__version__}"
'''


def metadata(nvcc: str) -> str:
    """Return the metadata of the package. `nvcc` is the version of the compiler."""
    return f"""Metadata-Version: 2.4
Name: wfacli-kernels
Version: {__version__}
Summary: GPU kernels of wfacli, compiled
License-Expression: MIT
License-File: LICENSE
Requires-Python: >=3.11
Requires-Dist: wfacli=={__version__}
Description-Content-Type: text/plain

Machine code for NVIDIA GPUs (Ampere or newer), compiled by nvcc {nvcc}.
"""


def pack(into: Path, files: Mapping[str, bytes]) -> Path:
    """Write a wheel of files by name; return its path.

    Args:
        into: folder of the wheel.
        files: contents; RECORD is added.
    """
    into.mkdir(parents=True, exist_ok=True)
    information = f"wfacli_kernels-{__version__}.dist-info"
    record = "".join(f"{name},sha256={_digest(content)},{len(content)}\n" for name, content in sorted(files.items()))
    all_files = {**files, f"{information}/RECORD": f"{record}{information}/RECORD,,\n".encode()}
    path = into / f"wfacli_kernels-{__version__}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for name in sorted(all_files, key=lambda name: (name.startswith(information), name)):
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.external_attr = 0o644 << 16
            wheel.writestr(entry, all_files[name], zipfile.ZIP_DEFLATED, 9)
    return path


def _digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def make(compiler: Compiler, rows: Iterable[Row], architectures: Iterable[str], into: Path, jobs: int = 1) -> Path:
    """Compile rows for architectures, and make the wheel; return its path.

    Raises:
        DeviceError: nvcc is missing, or cannot compile a row.
    """
    if compiler.nvcc is None:
        raise DeviceError("kernels.py needs nvcc")
    with tempfile.TemporaryDirectory(prefix="wfacli-kernels-") as folder:
        for built in build_rows(compiler, rows, architectures, jobs, Path(folder)):
            if built.too_large:
                raise DeviceError(f"{built.row.name} leaves its registers on {built.arch}")
        cubins = {f"{KERNELS_PACKAGE}/cubins/{path.name}": path.read_bytes() for path in Path(folder).iterdir()}
    information = f"wfacli_kernels-{__version__}.dist-info"
    wheel = "Wheel-Version: 1.0\nGenerator: wfacli\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    own = {
        f"{KERNELS_PACKAGE}/__init__.py": _MODULE.encode(),
        f"{information}/METADATA": metadata(nvcc_version(compiler.nvcc)).encode(),
        f"{information}/WHEEL": wheel.encode(),
        f"{information}/licenses/LICENSE": (ROOT / "LICENSE").read_bytes(),
    }
    return pack(into, cubins | own)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--arch", action="append", help="such as sm_90, or compute_100 for PTX; the default is all")
    parser.add_argument("--into", type=Path, default=ROOT / "dist")
    parser.add_argument("--jobs", type=int, default=usable_cores())
    chosen = parser.parse_args()
    begun = time.monotonic()
    try:
        path = make(
            Compiler(), ROWS.values(), chosen.arch or (*ARCHITECTURES, NEWEST_PTX), chosen.into, max(chosen.jobs, 1)
        )
    except DeviceError as problem:
        sys.exit(f"kernels.py: {problem}")
    print(f"{path.name}: {path.stat().st_size:,} bytes, {time.monotonic() - begun:.0f} s")


if __name__ == "__main__":
    main()
