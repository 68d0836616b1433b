"""What the host needs to know of cuda/sw/sw_guided.cu: extensions in a band, until a Z-drop."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .sw import BEGIN, Build, Rule, Scores, Work, padded

BUILDS = (Build(8, 16), Build(16, 16), Build(32, 16))
# For how much of the time that a pair takes warps wait at the end. Each build alone on pairs of one length, 1 kb, 5 kb
# and 10 kb, 3,200 to 20,000 of them, on an H200, 2026-11-22 (5b3ce1f).
_TAIL = 0.15
_NO_DROP = 1 << 20  # no two scores of 16 bits are as far apart


@dataclass(frozen=True)
class Cuts:
    """What extensions leave out.

    Attributes:
        band: diagonals on either side; 0: nothing for a band.
        zdrop: see ExtendSpec; 0: nothing.
    """

    band: int
    zdrop: int

    def width(self, longest_query: int, longest_target: int) -> int:
        """The band that leaves out as much of such sequences."""
        longest = max(longest_query, longest_target)
        return min(self.band, longest) if self.band else longest

    def drop(self, scores: Scores) -> int:
        """SwTask's."""
        return min(self.zdrop // scores.unit, _NO_DROP) if self.zdrop else _NO_DROP


@dataclass(frozen=True)
class GuidedWork(Work):
    """Pairs of a job that have one build, and what they leave out."""

    cuts: Cuts

    @property
    def launches(self) -> tuple[tuple[str, Rule], ...]:
        """See Work."""
        return ((row_of(self.build), self.rule),)

    @property
    def band(self) -> int:
        """Diagonals on either side."""
        return self.cuts.width(self.longest_query, self.longest_target)

    def stride(self, rule: Rule) -> int:
        """See Work."""
        return stride(self.build, self.band, self.longest_query)

    def into(self, task: npt.NDArray[np.void]) -> None:
        """See Work."""
        super().into(task)
        task["band"], task["drop"] = self.band, self.cuts.drop(self.scores)


def row_of(build: Build) -> str:
    """The catalogue's row."""
    return f"sw-guided-{build.lanes}x{build.columns}-bits-{build.bits}"


def stride(build: Build, band: int, longest_query: int) -> int:
    """Bytes of workspace of a group, as GuidedRoom of cuda/sw/sw_guided_room.cuh has it."""
    rows = min(2 * band + build.width + 1, longest_query + build.width + 1) // 4 * 4 + 4
    rings = (1 << (least - 1).bit_length() for least in (rows + build.width, 2 * (band + build.width) + 48))
    return padded(8 * sum(rings) + 4 * build.lanes * (rows + build.columns))


def longest(scores: Scores, band: int) -> int:
    """Letters of the longest sequence such that 16 bits hold all scores of a pair in a band (0: none).

    No cell scores less than a way to it along the diagonal and then the border; what lies outside the band is less.
    """
    floor = max(2 * scores.open + 3 * scores.extend + 1, 128)  # as gaps_of of cuda/sw/sw_guided.cu has it
    room = 0xFFFF - 128 - floor - 1 - scores.open
    each = scores.most + max(-scores.least, 0)
    unbounded = room // (each + scores.extend)
    return unbounded if not band or unbounded <= band else max((room - band * scores.extend) // each, 0)


def best_build(builds: tuple[Build, ...], count: int, query_len: int, target_len: int, band: int) -> Build:
    """The build that takes least for so many pairs of such lengths, on average."""
    taken = []
    for build in builds:
        rows = min(2 * band + build.width, query_len) + build.lanes + BEGIN
        rounds = max(count, 1) / build.at_once
        taken.append((target_len // build.width + 1) * rows * build.lanes * max(1 / rounds, 1 + _TAIL / rounds))
    return builds[int(np.argmin(taken))]
