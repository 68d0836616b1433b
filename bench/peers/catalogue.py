"""The known peers: where each comes from, which tables measure it, which of its results are checked.

None of their code is in this repository. Packages are downloaded when a table needs them; programs and libraries are
the user's own, in one folder under the file names below.
"""

from __future__ import annotations

import importlib.metadata
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

COSTS = "every pair's cost, beside what most aligners say; the share that is right is its recall"
DISTANCE = "the distance, beside what most say"
SCORE = "the score, beside ours"


@dataclass(frozen=True)
class Peer:
    """An aligner.

    Attributes:
        name: its own spelling.
        tables: scripts of bench/tables that measure it.
        checked: which of its results are checked.
        package: name in a package registry; "" if the user builds it.
        file: pattern of its file name; a group, if any, is the sequence length that it was compiled for.
        option: option of the scripts for the file.
        needs_gpu: True if it requires a GPU.
    """

    name: str
    tables: tuple[str, ...]
    checked: str
    package: str = ""
    file: str = ""
    option: str = ""
    needs_gpu: bool = False

    def options(self, script: str, files: list[tuple[str, Path]]) -> list[str]:
        """Return a script's options for the files; none if it does not measure this peer."""
        if script not in self.tables or not files:
            return []
        return [self.option, *(f"{size}:{path}" if size else str(path) for size, path in files)]


_PAIR, _BLOCK_ALIGNER = ("distance_table",), r"(?:lib)?peer_block_aligner\.so"
PEERS = (
    Peer("edlib", ("cpu_table", "api_rate", "distance_table", "free_table"), COSTS, package="edlib"),
    Peer("WFA2-lib", ("cpu_table",), COSTS, package="pywfa"),
    Peer("pywfa", ("api_rate",), COSTS, package="pywfa"),
    Peer("ksw2", ("cpu_table",), COSTS, package="mappy"),
    Peer("parasail", ("cpu_table", "extend_table", "overlap_table", "local_table"), SCORE, package="parasail"),
    Peer("minimap2", ("mapped_scores",), "every score, on the same spans"),
    Peer("dnaio", ("data_path",), "the number of records", package="dnaio"),
    Peer("WFA2-lib", ("gpu_table", *_PAIR), COSTS, file=r"peer_wfa2\.so", option="--wfa2"),
    Peer("QuickEd", ("cpu_table", "gpu_table", *_PAIR), COSTS, file=r"peer_quicked\.so", option="--quicked"),
    Peer("Block Aligner", ("cpu_table", "gpu_table"), COSTS, file=_BLOCK_ALIGNER, option="--block-aligner"),
    Peer("A*PA2", _PAIR, DISTANCE, file=r"peer_astarpa2\.so", option="--astarpa2"),
    Peer("WavefrontVariants", _PAIR, DISTANCE, file="wavefront", option="--variants"),
    Peer("WFA-GPU", ("gpu_table",), COSTS, file=r"wfa\.affine\.gpu", option="--wfa-gpu", needs_gpu=True),
    Peer("eWFA-GPU", ("gpu_table",), COSTS, file=r"wfe\.aligner", option="--ewfa-gpu", needs_gpu=True),
    Peer("GASAL2", ("gpu_table", "sw_table"), COSTS, file=r"gasal2_(\d+)", option="--gasal2", needs_gpu=True),
    Peer("ksw2", ("guided_table",), SCORE, package="mappy", file=r"peer_ksw2_extend\.so", option="--ksw2"),
    Peer("AGAThA", ("guided_table",), SCORE, file="agatha", option="--agatha", needs_gpu=True),
    Peer("MASA-CUDAlign", ("local_gpu",), SCORE, file="cudalign", option="--masa", needs_gpu=True),
)  # fmt: skip


def files_in(folder: Path | None) -> dict[str, list[tuple[str, Path]]]:
    """Return files of peers in a folder and its subfolders, by option: (length compiled for or "", path)."""
    found: dict[str, list[tuple[str, Path]]] = {}
    for path in sorted(folder.rglob("*")) if folder else ():
        for peer in PEERS:
            match = re.fullmatch(peer.file, path.name) if peer.file and path.is_file() else None
            if match:
                found.setdefault(peer.option, []).append((match[1] if match.groups() else "", path.resolve()))
    # The first file of each peer counts, or of each length of a peer with lengths.
    return {option: list({size: (size, path) for size, path in reversed(files)}.values())[::-1]
            for option, files in found.items()}  # fmt: skip


def without_gpu(files: Mapping[str, list[tuple[str, Path]]]) -> dict[str, list[tuple[str, Path]]]:
    """Return the files of peers that require no GPU."""
    on_gpu = {peer.option for peer in PEERS if peer.needs_gpu}
    return {option: found for option, found in files.items() if option not in on_gpu}


def options(script: str, files: Mapping[str, list[tuple[str, Path]]]) -> list[str]:
    """Return the options for all peers of a script."""
    return [word for peer in PEERS if peer.option for word in peer.options(script, files.get(peer.option, []))]


def listed(files: Mapping[str, list[tuple[str, Path]]]) -> Iterator[tuple[str, str, str, str]]:
    """Yield name, tables, what is checked, and where the peer is or why it is missing."""
    for peer in PEERS:
        if peer.option:
            paths = ", ".join(path.name for _, path in files.get(peer.option, []))
            where = paths or f"not there: {peer.option} PATH, or {_readable(peer.file)} in the folder of --peers"
        elif peer.package:
            where = _version(peer.package)
        else:
            where = "on PATH, if at all"
        yield peer.name, ", ".join(peer.tables), peer.checked, where


def _readable(pattern: str) -> str:
    return (
        pattern.replace("\\d+", "LENGTH").replace("\\", "").replace("(?:lib)?", "").replace("(", "").replace(")", "")
    )


def _version(package: str) -> str:
    try:
        return f"{package} {importlib.metadata.version(package)}"
    except importlib.metadata.PackageNotFoundError:
        return f"{package}, from a registry when a table needs it"
