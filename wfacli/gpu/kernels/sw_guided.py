"""Builds of cuda/sw/sw_guided.cu: extensions in a band, with Z-drop."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .sw import BEGIN, Build, Rule, Scores, Work, padded

BUILDS = (Build(8, 16), Build(16, 16), Build(32, 16))
# How long warps wait at the end of a launch, as a fraction of a pair's time. Measured for each build alone on 3,200 to
# 20,000 pairs of one length, 1 kb, 5 kb and 10 kb, on an H200, 2026-11-22 (5b3ce1f).
_TAIL = 0.15
_NO_DROP = 1 << 20  # more than the difference of any two 16-bit scores


@dataclass(frozen=True)
class Cuts:
    """Heuristics of extensions.

    Attributes:
        band: diagonals on either side; 0: no band.
        zdrop: Z-drop; see ExtendSpec; 0: none.
    """

    band: int
    zdrop: int

    def width(self, longest_query: int, longest_target: int) -> int:
        """Return the band to use for sequences of these maximum lengths: no wider than the longest one."""
        longest = max(longest_query, longest_target)
        return min(self.band, longest) if self.band else longest

    def drop(self, scores: Scores) -> int:
        """Return SwTask.drop, in units of the scheme."""
        return min(self.zdrop // scores.unit, _NO_DROP) if self.zdrop else _NO_DROP


@dataclass(frozen=True)
class GuidedWork(Work):
    """Pairs of a launch, which share a build, with their heuristics."""

    cuts: Cuts

    @property
    def launches(self) -> tuple[tuple[str, Rule], ...]:
        """Same as Work.launches."""
        return ((row_of(self.build), self.rule),)

    @property
    def band(self) -> int:
        """Diagonals on either side."""
        return self.cuts.width(self.longest_query, self.longest_target)

    def stride(self, rule: Rule) -> int:
        """Return the bytes of workspace of a group."""
        return stride(self.build, self.band, self.longest_query)

    def into(self, task: npt.NDArray[np.void]) -> None:
        """Write the sizes into an SwTask."""
        super().into(task)
        task["band"], task["drop"] = self.band, self.cuts.drop(self.scores)


def row_of(build: Build) -> str:
    """Return the name of the catalogue row."""
    return f"sw-guided-{build.lanes}x{build.columns}-bits-{build.bits}"


def stride(build: Build, band: int, longest_query: int) -> int:
    """Return the bytes of workspace of a group, as in GuidedWorkspace of cuda/sw/sw_guided_workspace.cuh."""
    rows = min(2 * band + build.width + 1, longest_query + build.width + 1) // 4 * 4 + 4
    rings = (1 << (minimum - 1).bit_length() for minimum in (rows + build.width, 2 * (band + build.width) + 48))
    return padded(8 * sum(rings) + 4 * build.lanes * (rows + build.columns))


def longest(scores: Scores, band: int) -> int:
    """Return the maximum length of a sequence for which 16 bits hold all scores of a pair in a band (0: no band).

    No cell scores less than a path to it along the diagonal and then the band's border. Values outside the band are
    lower.
    """
    floor = max(2 * scores.open + 3 * scores.extend + 1, 128)  # as in gaps_of of cuda/sw/sw_guided.cu
    headroom = 0xFFFF - 128 - floor - 1 - scores.open
    each = scores.max_score + max(-scores.min_score, 0)
    unbounded = headroom // (each + scores.extend)
    return unbounded if not band or unbounded <= band else max((headroom - band * scores.extend) // each, 0)


def best_build(builds: tuple[Build, ...], count: int, query_len: int, target_len: int, band: int) -> Build:
    """Return the build with the lowest expected time for `count` pairs of these average lengths."""
    times = []
    for build in builds:
        rows = min(2 * band + build.width, query_len) + build.lanes + BEGIN
        rounds = max(count, 1) / build.resident_pairs
        times.append((target_len // build.width + 1) * rows * build.lanes * max(1 / rounds, 1 + _TAIL / rounds))
    return builds[int(np.argmin(times))]
