"""Compare the C++ oracle with the Python one, cell by cell, and check that these tests cover its tie rules."""

from random import Random

import pytest

from tests.engines.agreement import ends_of
from tests.oracle_spans import RULES, optimum_plain

from .oracle import SOURCE, compiled, optima
from .pairs import SIZES, block
from .specs import STRATA, spec

_BLOCKS, _PAIRS = 400, 16
PLANTED = [
    ("for (int g = 2 * kPieces - 1; g >= 0; --g) {", "for (int g = 0; g < 2 * kPieces; ++g) {"),
    ("opened >= best ?", "opened > best ?"),
    ("(best >= longer[g])", "(best > longer[g])"),
    ("if (matrix.first_row()[t] > best)", "if (matrix.first_row()[t] >= best)"),
    ("if (matrix.first_column(q) > best)", "if (matrix.first_column(q) >= best)"),
    ("both < held ||", "both > held ||"),
    ("query < best.query", "query > best.query"),
]


def differences(library=None, blocks=_BLOCKS, until=None):
    """Return the pairs of small random blocks on which the oracles disagree."""
    found = []
    for index in range(blocks):
        rng = Random(f"oracle {index}")
        mode, metric = STRATA[index % len(STRATA)]
        asked = spec(rng, mode, metric, 12)
        pairs = block(rng, SIZES[0], asked)[:_PAIRS]
        best = optima(pairs, asked, library)
        equal, sam = RULES[str(asked.ambiguous)], RULES["mismatch"]
        charged = asked.charges_ambiguous
        for row, pair in enumerate(pairs):
            plain = optimum_plain(*pair, asked.penalties, ends_of(asked), equal)
            text = best.text(row, by_sam=charged)  # by the rule, ambiguous bases with a penalty are M
            ours = (int(best.score[row]), text, tuple(best.span[row].tolist()))
            marked = marks(pair, plain, sam)
            if ours != plain or best.text(row, by_sam=True) != marked:
                found.append((pair, asked, ours, plain))
        if until and len(found) >= until:
            break
    return found


def marks(pair, plain, equal):
    """Return the CIGAR of an optimum, with "=" assigned by `equal`."""
    from tests.oracle_spans import joined, runs_of

    i, j, operations = plain.span[0], plain.span[2], []
    for length, operation in runs_of(plain.cigar):
        for _ in range(length):
            diagonal = operation in "=X"
            operations.append("X="[equal(pair[0][i], pair[1][j])] if diagonal else operation)
            i += diagonal or operation == "I"
            j += diagonal or operation == "D"
    return joined(operations)


def test_both_oracles_agree():
    assert not differences()


@pytest.mark.parametrize(("rule", "planted"), PLANTED)
def test_each_tie_rule_matters(rule, planted):
    source = SOURCE.read_text()
    assert source.count(rule) == 1, rule
    assert differences(compiled(source.replace(rule, planted), "-O1"), until=1)
