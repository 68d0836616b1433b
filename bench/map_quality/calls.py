"""SNVs and small indels that bcftools calls from a BAM file, beside those of the donor."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import numpy as np

from bench.map_quality.donor import SMALLEST_SV, SNV, Donor, vcf_key
from bench.map_quality.genome import Genome

Key = tuple[int, str, str]
# Options of `bcftools mpileup`. Its configuration for ONT omits indels; it would find few of them with 8% errors.
PILEUP = {
    "map-ont": ("-X", "ont"),
    "map-hifi": ("-X", "pacbio-ccs"),
    "map-pb": ("-X", "ont"),
    "lr:hq": ("-X", "pacbio-ccs"),
    "sr": ("-X", "illumina"),
    "asm5": ("-B", "-Q", "0", "-F", "0.2", "-M", "99999"),
}
CALL = ("--ploidy", "1", "-mv")
NEAR_SV = 200  # bases beside structural variants within which wrong calls are counted apart


def called(bam: Path, reference: Path, preset: str, genome: Genome) -> set[Key]:
    """Return the calls of a sorted BAM file, left-normalised, one key for each alternative allele."""
    vcf = bam.with_suffix(".vcf")
    steps = (
        ["bcftools", "mpileup", "-Ou", "-f", str(reference), *PILEUP[preset], str(bam)],
        ["bcftools", "call", *CALL, "-Ou"],
        ["bcftools", "norm", "-f", str(reference), "-m", "-any", "-Ov", "-o", str(vcf)],
    )
    processes: list[subprocess.Popen[bytes]] = []
    for step in steps:
        source = processes[-1].stdout if processes else None
        last = len(processes) == len(steps) - 1
        output = subprocess.DEVNULL if last else subprocess.PIPE
        processes.append(subprocess.Popen(step, stdin=source, stdout=output, stderr=subprocess.DEVNULL))
        if source:
            source.close()
    for process, step in zip(processes, steps, strict=True):
        if process.wait():
            raise subprocess.CalledProcessError(process.returncode, step)
    return keys_of(vcf, genome)


def keys_of(vcf: Path, genome: Genome) -> set[Key]:
    """Return the variants of a VCF file, with positions in all sequences together."""
    starts = dict(zip(genome.names, genome.starts.tolist(), strict=False))
    keys = set()
    for line in vcf.read_text().splitlines():
        if not line.startswith("#"):
            name, position, _, ref, alt = line.split("\t")[:5]
            keys.add((starts[name] + int(position) - 1, ref.upper(), alt.upper()))
    return keys


def is_snv(key: Key) -> bool:
    """Return whether a key is an SNV."""
    return len(key[1]) == len(key[2]) == 1


def is_small(key: Key) -> bool:
    """Return whether a key is an SNV or an indel shorter than structural variants."""
    return abs(len(key[1]) - len(key[2])) < SMALLEST_SV


def compared(calls: set[Key], genome: Genome, donor: Donor, without_indels: bool) -> dict[str, Any]:
    """Return how many calls are true and how many true variants are called, of SNVs and of small indels."""
    truth = {vcf_key(genome, one) for one in donor.variants if not one.large}
    large = [(one.left - NEAR_SV, one.right + one.removed + NEAR_SV) for one in donor.variants if one.large]
    lows, highs = np.array(large, np.int64).reshape(-1, 2).T
    report: dict[str, Any] = {}
    for name in (SNV,) if without_indels else (SNV, "indel"):
        mine = {key for key in calls if is_small(key) and is_snv(key) == (name == SNV)}
        own = {key for key in truth if is_snv(key) == (name == SNV)}
        wrong = [position for position, _, _ in mine - own]
        near = sum(bool(((lows <= position) & (position < highs)).any()) for position in wrong)
        report[name] = {
            "true": len(mine & own),
            "wrong": len(wrong),
            "wrong_near_sv": near,
            "missed": len(own - mine),
            "precision": round(len(mine & own) / len(mine), 5) if mine else None,
            "recall": round(len(mine & own) / len(own), 5) if own else None,
        }
    return report
