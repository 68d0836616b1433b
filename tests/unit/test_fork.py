"""An Aligner in a process that is forked while other threads use it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")

SCRIPT = """
import os, random, signal, sys, threading, time, warnings
warnings.simplefilter("ignore")  # Python 3.12 and newer warn of threads
import wfacli
symbols = random.Random(1)
queries = ["".join(symbols.choices("ACGT", k=400)) for _ in range(300)]
targets = [q[:100] + "A" + q[100:300] + q[320:] for q in queries]
aligner = wfacli.Aligner(metric="affine", threads=2)
other = wfacli.Aligner(mode="semiglobal", threads=1)
closed = wfacli.Aligner()
closed.close()
expected = aligner.align_batch(queries, targets).cigars(), [aligner.align(queries[0], targets[0])]
stop = threading.Event()
def use():
    number = 0
    while not stop.is_set():
        number += 1
        some = [q[: 50 + (number * 37 + i) % 300] for i, q in enumerate(queries)]
        aligner.align_batch(some, targets)
        other.align_batch(some[:20], targets[:20])
        aligner.align(some[0], targets[0])
threads = [threading.Thread(target=use, daemon=True) for _ in range(3)]
for thread in threads: thread.start()
ended = []
for child in range(CHILDREN):
    time.sleep(0.003 * (child % 7))
    pid = os.fork()
    if pid == 0:
        signal.alarm(15)
        try:
            found = aligner.align_batch(queries, targets).cigars(), [aligner.align(queries[0], targets[0])]
            right = found == expected and other.align("CGT", "AACGTAA").score == 0
            other.align_batch(queries[:9], targets[:9])
            try:
                closed.align_batch(["A"], ["A"])
                right = False
            except RuntimeError:
                pass
            aligner.close()
            with wfacli.Aligner() as third:
                right = right and third.align_batch(["ACGT"], ["ACGT"]).cigars() == ["4="]
        except BaseException as error:
            print(repr(error), flush=True)
            right = False
        os._exit(0 if right else 1)
    ended.append(os.waitpid(pid, 0)[1])
    if ended[-1]:
        break
stop.set()
for thread in threads: thread.join()
print(ended)
assert not any(ended) and aligner.align_batch(queries, targets).cigars() == expected[0]
"""


def test_a_child_can_use_what_other_threads_are_using() -> None:
    code = SCRIPT.replace("CHILDREN", "20")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_child_of_multiprocessing_ends_by_itself() -> None:
    code = """
import multiprocessing, warnings
warnings.simplefilter("ignore")
import wfacli
aligner = wfacli.Aligner(threads=2)
aligner.align_batch(["ACGT" * 9000] * 40, ["ACGA" * 9000] * 40)
def work(query):
    return aligner.align_batch([query] * 40, ["ACGA" * 9000] * 40).cigars()[0]
if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(2) as pool:
        print(len(set(pool.map(work, ["ACGT" * 9000] * 4))))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stdout) == (0, "1\n"), done.stderr
