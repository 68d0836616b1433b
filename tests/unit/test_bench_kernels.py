"""The table of bench/tables/kernel_table.py, on an emulated GPU."""

import argparse

from bench.tables import kernel_table
from tests.gpu_engine.support import opened_gpu
from wfacli.core.stats import Stats
from wfacli.measure.work import Work


def test_each_kernel_has_every_pair_of_a_row():
    a = argparse.Namespace(share=1.0, repeats=1, kernels=["wfa-edit-32", "bits-32"])
    stats = Stats()
    with opened_gpu(kernel_table.SPEC, stats=stats) as (engine, _):
        found = kernel_table.row_of(Work(100, 0.36), 40, a, engine, stats)
    assert found["pairs"] == 40 and found["bases"] > 7000
    wave, bits = found["kernels"]
    assert (wave["kernel"], wave["threads"]) == ("wfa-edit-32", kernel_table.threads_of("wfa-edit-32"))
    assert (bits["kernel"], bits["threads"]) == ("bits-32", 1)
    # Some of the 36 drawn edits cancel each other.
    assert 0 < wave["aligned"] < 40
    assert kernel_table.kernel_seconds(wave) > 0
    assert "100 bp 36%" in str(kernel_table.table_of([found]).columns[0]._cells)
