"""The reference of CRAM for htslib, with an index that was checked against it or made for this run."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
from pathlib import Path

from ...errors import WfacliError, text_of
from ..read.faidx import indexed
from ..read.sources import Source
from .operand import operand
from .python_child import python_command, scratch_environment
from .temporary import new_beside

_CHILD = """
import os, pysam
try:
    pysam.faidx(*map(os.fsencode, sys.argv[1:]))  # bytes: see wfacli.io.write.hts
except pysam.SamtoolsError as error:
    said = str(error.value).split("stderr=")[-1].strip().split("\\n")
    sys.exit(said[0])
"""
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")  # characters that a field of a SAM header cannot hold
_INDEX = "##idx##"  # htslib's separator between the name of a file and that of its index


def cram_reference(path: str, scratch: str, threads: int) -> str:
    """Return the reference in the form that samtools' `--reference` accepts.

    An index beside the reference (FILE.fai) is used if it is not older than the reference and has the same names,
    lengths and offsets; otherwise htslib would write wrong bases. If it does not match, another index is made in the
    scratch folder. A missing index is made beside the reference, where htslib looks for it; so is that of BGZF blocks
    (FILE.gzi), which htslib finds nowhere else.

    Args:
        path: FASTA, plain or compressed by bgzip.
        scratch: folder that exists as long as htslib runs.
        threads: number of decompressing threads.

    Raises:
        WfacliError: the reference is not such a file, its full name has control characters, or no index can be made.
        InputError: the reference cannot be read.
    """
    operand(path)
    with contextlib.closing(Source(path)) as source:
        if not source.regular or path == "-" or source.remote:
            raise WfacliError(f"CRAM refers to its reference, which must be a file: {path} is none")
        if not source.seekable:
            raise WfacliError(f"CRAM refers to its reference, which must be plain or compressed with bgzip: {path}")
        whole = os.path.abspath(path)  # noqa: PTH100 - links are not resolved: htslib writes this name into the file
        if _CONTROL.search(whole):
            raise WfacliError(
                f"CRAM stores the full name of its reference (UR), which cannot contain control characters: {whole}; "
                "rename it, or give a link to it"
            )
        if indexed(source, threads) is not None:
            return whole
        kinds = ["fai", *["gzi"] * source.in_blocks]
    missing = [f"{path}.{kind}" for kind in kinds if not Path(f"{path}.{kind}").exists()]
    if missing and not os.access(Path(whole).parent, os.W_OK):
        raise WfacliError(
            f"CRAM needs {' and '.join(missing)}, in a folder that cannot be written to: run samtools faidx there, or "
            "on a link to the reference in another folder, and give that"
        )
    fai, gzi = (str(Path(scratch) / f"reference.{kind}") for kind in ("fai", "gzi"))
    _make(whole, path, scratch, fai, gzi)
    for kind, made in zip(kinds, (fai, gzi), strict=False):
        if f"{path}.{kind}" in missing:
            _put(made, Path(f"{path}.{kind}"))
    if "gzi" in kinds and Path(f"{path}.gzi").read_bytes() != Path(gzi).read_bytes():
        raise WfacliError(f"{path}.gzi does not match {path}: rebuild it (bgzip -r {path}), or remove it")
    return f"{whole}{_INDEX}{fai}"


def _make(whole: str, path: str, scratch: str, fai: str, gzi: str) -> None:
    try:
        done = subprocess.run(
            python_command(_CHILD, ["--fai-idx", fai, "--gzi-idx", gzi, whole]),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=scratch_environment(scratch),
            check=False,
        )
    except OSError as error:
        raise WfacliError(f"{path}: the reference cannot be indexed: {error.strerror}") from None
    if done.returncode or not Path(fai).exists():
        messages = text_of(done.stderr).strip().splitlines() or [f"status {done.returncode}"]
        # htslib's line has the reason; a line of samtools without it follows.
        reason = next((line.partition("] ")[2] for line in messages if line.startswith("[E::")), messages[-1])
        raise WfacliError(f"{path}: the reference cannot be indexed: {reason}")


def _put(made: str, there: Path) -> None:
    """Copy an index to its final name atomically, so that other runs never see a part of it."""
    try:
        descriptor, new = new_beside(there, "new")
        with os.fdopen(descriptor, "wb") as file:
            file.write(Path(made).read_bytes())
        new.replace(there)
    except OSError as error:
        raise WfacliError(f"{there} cannot be written: {error.strerror}") from None
