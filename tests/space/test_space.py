"""A sample of `make fuzz`: fixed blocks of every mode and metric."""

import itertools

import pytest

from wfacli.config import Metric, Mode

from .blocks import Tally, run_block
from .log import by_answer
from .specs import STRATA
from .ways import answering

_SEED, _TURNS = 26, 5


@pytest.mark.parametrize(("mode", "metric"), list(itertools.product(Mode, Metric)), ids=str)
def test_every_way_gives_the_canonical_alignment(mode, metric):
    tally = Tally()
    for turn in range(_TURNS):
        tally.add(run_block(_SEED, STRATA.index((mode, metric)) + turn * len(STRATA)))
    assert not tally.found, "\n".join(map(str, tally.found))
    answered = {name.split()[0] for name in by_answer(tally)[f"{mode} {metric}"]}
    assert answered >= answering(mode, metric), "kernels that answered no pair"
