"""Pairs that need a bound to the last base: with a tighter one they are not optimal, and few others show it."""

import pytest

from wfacli._native import instruction_sets
from wfacli.plan.kernels import DIFFERENCE

from .check import assert_exact
from .specs import spec_of
from .ways import Way


@pytest.mark.parametrize("isa", instruction_sets())
def test_a_band_that_closes_in(isa):
    """The band closes in behind 256 rows; one diagonal less on either side, and the path is another one."""
    query = (
        b"TATGGAAACGCAGTTCCCCTTATTCTTCGTAGCTGTGCCCCGATCCCACCGCTATGTAGGAATAACACTTGCGCAGGGGGGTATCGAGCA"
        b"TAATCACCTAAAACGACATTCACTATGGCTGCTACCACTTCTGTCGACACTGGCCGTCAAATATGTGCAAACTACGGCAGGATCTGCGAC"
        b"TTTTGTTGCGTGTCTAGTCGGTGGAACCCGGCGCGAGAAACTCCTGTCTGATGGTATGCCCTAGCTCTGACAGTTTCCCCAATGAGGATC"
        b"TAGAGAGGATTGGGCCATACTGGTTTGGCGGCACGATCTAGAGTGGCCGCTCTTGGTTGGCGGGTCTAATCATAGCACGCCTTGACGGAC"
        b"GACATATTTGTAATCGCCTTGCACGATCTCCGCTCACTCTGCTATTCACGGAGATAGGGCTTTTTCAGATCAGGCACTGGTACGTATGAA"
        b"AATGTTGCGCCGACGAGAGCACGCACACAAAGGCAG"
    )
    target = b"TTTTTCAAGGGATCAGCACTGGTTGACATCGAATCTGGACGTATGTGCTGTTCGAGTTGACACC"
    assert_exact([(query, target)], spec_of("affine2p", (6, 3, 2, 5, 1)), Way(kernel=DIFFERENCE, isa=isa))
