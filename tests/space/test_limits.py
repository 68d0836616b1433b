"""Pairs whose optimum lies exactly at a kernel's bound: a tighter one would miss it. Random pairs rarely show this."""

import pytest

from wfacli._native import instruction_sets
from wfacli.plan.kernels import DIFFERENCE

from .check import assert_exact
from .specs import spec_of
from .ways import Way


@pytest.mark.parametrize("isa", instruction_sets())
def test_a_band_that_closes_in(isa):
    """Test a band that narrows after 256 rows: one diagonal less on either side would change the path."""
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
