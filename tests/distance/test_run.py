"""The controller: phases, switching, checkpoints and stopping, with scripted solvers."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from wfacli.errors import Cancelled, InputError, OutputError
from wfacli.solve.checkpoint import Checkpoint, Identity, Saved
from wfacli.solve.distance.choose import AlgorithmChoice, Resources
from wfacli.solve.distance.run import DistanceRun, Phase
from wfacli.solve.watchers import Watchers

from .solvers import Clock, Table, pair_of

PAIR = pair_of(b"ACGT" * 100, b"TGCA" * 100)


class Bench:
    """A run of scripted solvers, and its messages."""

    def __init__(self, distance, most=None, estimate=None, path=None, every=5.0, pair=PAIR, kind=None, **table):
        self.clock, self.notes, self.warnings, self.stop_at = Clock(), [], [], None
        self.table = Table(self.clock, distance, **table)
        self.checkpoint = Checkpoint(str(path), Identity.of(pair, most)) if path else None
        watchers = Watchers(self.notes.append, self.warnings.append, self.stop, self.clock)
        choice = AlgorithmChoice(Resources(1), kind=kind, algorithms=self.table.algorithms)
        self.controller = DistanceRun(pair, most, choice, estimate, watchers, self.checkpoint, every)

    def stop(self):
        return self.stop_at is not None and self.clock.now >= self.stop_at

    def run(self, saved=None):
        try:
            return self.controller.run(saved)
        finally:
            assert all(solver.closed for solver in self.table.made)


def test_one_algorithm():
    bench = Bench(8, estimate=5)
    outcome = bench.run()
    assert (outcome.distance, outcome.estimate, outcome.algorithm) == (8, 5, "cpu-wavefront")
    assert (outcome.seconds, outcome.cells, outcome.resumed, outcome.checkpoints) == (8.0, 80, 0, 0)
    assert [(p.algorithm, p.at_least, p.end) for p in outcome.phases] == [("cpu-wavefront", 8, "done")]
    assert bench.notes == ["an estimate of 5 edits: starting with cpu-wavefront"]


def test_more_than_matters():
    outcome = Bench(80, most=10).run()
    assert outcome.distance is None
    assert outcome.phases[-1].at_least == 11


@pytest.mark.parametrize(
    ("query", "target", "most", "distance"),
    [
        (b"", b"", None, 0),
        (b"ACG", b"", None, 3),
        (b"", b"ACG", 3, 3),
        (b"A", b"ACGT", 2, None),
        (b"", b"AC", 1, None),
    ],
)
def test_lengths_that_say_it_alone(query, target, most, distance):
    bench = Bench(99, most=most, pair=pair_of(query, target))
    outcome = bench.run()
    assert (outcome.distance, outcome.algorithm, outcome.phases, outcome.seconds) == (distance, "lengths", (), 0)
    assert not bench.table.made


def test_changes_over_where_the_estimate_was_wrong():
    # The wavefront proves one edit per second; bits would take 20.5 s.
    bench = Bench(60, estimate=4, bits=lambda edits: 20.5)
    outcome = bench.run()
    assert outcome.distance == 60
    assert [(p.algorithm, p.end) for p in outcome.phases] == [("cpu-wavefront", "switched"), ("cpu-bits", "done")]
    assert outcome.phases[0].at_least == 21
    assert outcome.phases[0].seconds == 21.0
    assert outcome.seconds == 81.0
    assert outcome.cells == 210 + 600
    assert "switching to cpu-bits" in bench.notes[-1]
    assert [solver.closed for solver in bench.table.made] == [1, 1]


def test_does_not_change_over_where_that_is_not_worth_it():
    for table in ({"bits": lambda edits: 61.0}, {"bits": lambda edits: 0.0, "kind": "wavefront"}):
        outcome = Bench(60, estimate=4, **table).run()
        assert [p.algorithm for p in outcome.phases] == ["cpu-wavefront"]


def test_changes_over_as_soon_as_growth_says_so():
    # It proves one of 60 edits per second and reports that share; time grows with its square, so 3,600 s are expected.
    bench = Bench(60, share="cpu-wavefront", bits=lambda edits: 900.0)
    assert [p.at_least for p in bench.run().phases] == [1, 60]
    assert [p.at_least for p in Bench(60, share="cpu-wavefront", bits=lambda edits: 4000.0).run().phases] == [60]


def test_what_was_proved_stays_known_after_changing_over():
    bench = Bench(60, bits=lambda edits: 20.5)
    bench.stop_at = 100.0 + 23
    with pytest.raises(Cancelled):
        bench.run()
    assert (bench.table.made[-1].name, bench.table.made[-1].proved) == ("cpu-bits", 2)
    assert bench.controller.progress.lower_bound == 21


def test_progress_by_the_solver():
    for kind, share, rest in (("bits", 0.2, 80), ("wavefront", 0.04, 480)):
        bench = Bench(100, share=f"cpu-{kind}", kind=kind)
        bench.stop_at = 100.0 + 20
        with pytest.raises(Cancelled):
            bench.run()
        progress = bench.controller.progress
        assert (progress.lower_bound, progress.algorithm) == (20, f"cpu-{kind}")
        assert progress.fraction_done == pytest.approx(share)
        assert progress.remaining_seconds == pytest.approx(rest)


def test_progress_by_the_estimate():
    bench = Bench(100, estimate=40)
    bench.stop_at = 100.0 + 20
    with pytest.raises(Cancelled):
        bench.run()
    assert bench.controller.progress.fraction_done == 0.25
    assert bench.controller.progress.remaining_seconds == pytest.approx(60)


def test_no_progress_by_an_estimate_that_is_proved_wrong():
    bench = Bench(100, estimate=10)
    bench.stop_at = 100.0 + 20
    with pytest.raises(Cancelled):
        bench.run()
    assert (bench.controller.progress.fraction_done, bench.controller.progress.remaining_seconds) == (None, None)


# Checkpoints


def test_a_checkpoint_now_and_then(tmp_path):
    bench = Bench(23, path=tmp_path / "c")
    assert bench.run().checkpoints == 4
    assert int(bench.checkpoint.read().state["proved"][0]) == 20


def test_a_checkpoint_soon_after_changing_over(tmp_path):
    # The wavefront's last checkpoint is at 20 s; the switch is at 21 s, and the next checkpoint is due at 25 s.
    bench = Bench(60, path=tmp_path / "c", bits=lambda edits: 20.5)
    bench.stop_at = 100.0 + 24
    with pytest.raises(Cancelled):
        bench.run()
    found = []
    bench.checkpoint.write = lambda saved: found.append((bench.clock.now, saved.algorithm))
    again = Bench(60, path=tmp_path / "d", bits=lambda edits: 20.5)
    again.checkpoint.write = lambda saved: found.append((again.clock.now - 100, saved.algorithm))
    again.run()
    assert found[3:5] == [(20.0, "cpu-wavefront"), (25.0, "cpu-bits")]


def test_goes_on_from_a_checkpoint(tmp_path):
    path = tmp_path / "c"
    first = Bench(60, estimate=4, path=path, bits=lambda edits: 20.5, share="cpu-bits")
    first.stop_at = 100.0 + 33
    with pytest.raises(Cancelled):
        first.run()
    second = Bench(60, path=path, bits=lambda edits: 20.5, share="cpu-bits")
    second.stop_at = 100.0 + 6
    with pytest.raises(Cancelled):
        second.run(second.checkpoint.read())
    assert second.controller.progress.lower_bound == 21
    assert second.controller.progress.fraction_done == 18 / 60
    assert second.controller.progress.remaining_seconds == pytest.approx(42)
    third = Bench(60, path=path, bits=lambda edits: 20.5)
    outcome = third.run(third.checkpoint.read())
    assert [(p.algorithm, p.seconds, p.end) for p in outcome.phases] == [
        ("cpu-wavefront", 21.0, "switched"),
        ("cpu-bits", 60.0, "done"),
    ]
    assert (outcome.distance, outcome.estimate, outcome.resumed, outcome.cells) == (60, 4, 2, 210 + 600)
    assert [solver.name for solver in third.table.made] == ["cpu-bits"]
    assert "resuming cpu-bits after 39 s" not in third.notes[0]
    assert third.notes[0].startswith("resuming cpu-bits after 18 s")


def test_a_stop_writes_what_there_is(tmp_path):
    bench = Bench(60, path=tmp_path / "c", every=1e9)
    bench.stop_at = 100.0 + 13
    with pytest.raises(Cancelled):
        bench.run()
    assert int(bench.checkpoint.read().state["proved"][0]) == 13


def test_a_state_that_the_solver_refuses(tmp_path):
    bench = Bench(60, path=tmp_path / "c")
    facts = {"phases": [], "estimate": None, "resumed": 0}
    with pytest.raises(InputError, match="cannot be used: there is no 'proved'"):
        bench.run(Saved("cpu-bits", {}, facts | {"phases": [asdict(Phase("cpu-bits"))]}))


def test_a_full_disk_ends_no_run(tmp_path):
    bench = Bench(23, path=tmp_path / "c")

    def full(_):
        raise OutputError("the disk is full")

    bench.checkpoint.write = full
    outcome = bench.run()
    assert (outcome.distance, outcome.checkpoints) == (23, 0)
    assert bench.warnings == ["the disk is full"] * 4


def test_a_distance_that_is_kept(tmp_path):
    for distance, most in ((23, None), (23, 5)):
        bench = Bench(distance, most=most, path=tmp_path / "c", estimate=7)
        outcome = bench.run()
        bench.controller.save_distance(outcome)
        again = Bench(distance, most=most, path=tmp_path / "c")
        found = again.run(again.checkpoint.read())
        assert not again.table.made
        assert (found.distance, found.phases, found.estimate) == (outcome.distance, outcome.phases, 7)
        assert found.resumed == 1
