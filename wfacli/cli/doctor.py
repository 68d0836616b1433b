"""`wfacli doctor`: what this machine provides, what is missing, and how to get it."""

from __future__ import annotations

import json
from importlib import metadata
from typing import Annotated, Any

import typer

from .. import __version__
from ..errors import shown
from .console import note

DOCTOR_HELP = "Check the installation and the GPU, and show how to get what is missing."
_PACKAGES = ("numpy", "typer", "rich", "isal", "deflate", "pysam")
_GIB = 1 << 30


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as one JSON object.")] = False,
    device: Annotated[int, typer.Option("--device", min=0, metavar="N", help="GPU to try, counted from 0.")] = 0,
) -> None:
    """Ends with status 0 when the CPU engine works: a GPU is nothing that one must have."""
    from ..gpu.runtime.diagnosis import diagnose

    cpu = _try_cpu()
    found = {
        "wfacli": __version__,
        "packages": {name: _version(name) for name in _PACKAGES},
        "cpu": cpu,
        "gpu": diagnose(device, _compiling),
    }
    typer.echo(json.dumps(found, indent=2) if as_json else "\n".join(map(shown, _lines(found))))
    if not cpu["usable"]:
        raise typer.Exit(1)


def _compiling(row: str, arch: str, seconds: float | None) -> None:
    note(f"compiling {row} for {arch}" if seconds is None else f"compiled {row} in {seconds:.1f} s")


def _try_cpu() -> dict[str, Any]:
    """Align a small pair; return the instruction set of the kernels, and whether the result is correct."""
    from .._native import Aligner
    from ..api import align
    from ..core.cores import usable_cores

    answer = align("ACGTTGCA", "ACGTGCA").cigar
    usable = answer == "3=1I4="
    return {
        "threads": usable_cores(),
        "instruction_set": Aligner().isa,
        "usable": usable,
        "problem": "" if usable else f"a wrong alignment, {answer}: please report it",
    }


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _lines(found: dict[str, Any]) -> list[str]:
    cpu, gpu = found["cpu"], found["gpu"]
    packages = ", ".join(f"{name} {version or 'missing'}" for name, version in found["packages"].items())
    lines = [f"wfacli {found['wfacli']} with {packages}", "", "CPU engine"]
    lines += _rows(("works", _yes(cpu)), ("instruction set", cpu["instruction_set"]), ("threads", cpu["threads"]))
    lines += ["", "GPU engine"]
    nvcc, cache, opened = gpu["nvcc"], gpu["cache"], gpu.get("opened")
    lines += _rows(
        ("works", _yes(gpu)),
        ("driver", f"CUDA {gpu['driver']}, {gpu['gpus']} GPUs" if gpu["driver"] else "none"),
        ("GPU", _gpu(opened) if opened else "none opened"),
        ("opened by", opened["through"] if opened else "nothing"),
        ("PyCUDA", gpu["pycuda"] or "none (not needed: ctypes takes its place)"),
        ("nvcc", f"{nvcc['version']}, {nvcc['path']}" if nvcc else "none"),
        ("cache", f"{cache['folder']}: {cache['kernels']} kernels, {cache['bytes'] / 1e6:.1f} MB{_readonly(cache)}"),
        ("kernels", gpu["kernels"]),
        ("wfacli-kernels", _kernels(gpu["kernels_package"], found["wfacli"])),
    )
    lines += [f"  missing: {what}" for what in gpu["missing"]]
    return lines


def _rows(*rows: tuple[str, object]) -> list[str]:
    return [f"  {name:16} {value}" for name, value in rows]


def _yes(part: dict[str, Any]) -> str:
    return "yes" if part["usable"] else f"no: {part['problem']}"


def _gpu(gpu: dict[str, Any]) -> str:
    free, total = gpu["memory_free_bytes"] / _GIB, gpu["memory_total_bytes"] / _GIB
    return f"{gpu['index']}: {gpu['name']}, {gpu['architecture']}, {free:.1f} of {total:.1f} GiB free"


def _kernels(package: str | None, own: str) -> str:
    if package is None:
        return "none"
    return package if package == own else f"{package}, which is not used: pip install wfacli-kernels=={own}"


def _readonly(cache: dict[str, Any]) -> str:
    return "" if cache["writable"] else "; cannot be written (WFACLI_CACHE_DIR names another)"
