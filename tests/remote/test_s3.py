"""Inputs, work folders and outputs in an S3 store: the bytes that files give, and errors with documented statuses."""

from __future__ import annotations

import os
import random
import shutil
import signal
import socketserver
import subprocess
import threading
import time
from pathlib import Path

import pytest

from tests.cli.support import Result, assert_failure, assert_success, command, environment, run, start
from tests.cluster.support import local_cluster, require, with_a_killed_worker, write_pairs
from tests.shards.test_mapped import as_mates, mate_records, write_world

from .conftest import BUCKET

URL = f"s3://{BUCKET}"
FORMS = {
    "paf": ("out.paf", []),
    "sam": ("out.sam", []),
    "bgzip": ("out.sam.gz", []),
    "bam": ("out.bam", ["--batch-bases", "20000"]),
    "sorted bam": ("out.bam", ["--sort", "--write-index"]),
}


def wfacli(folder: Path, *arguments: str, **more: str) -> Result:
    """Run the command in a process of its own, since a fork would share the threads of s3fs."""
    return run(*arguments, cwd=folder, program=command(), env=environment(**more))


def put(store, folder: Path, *names: str) -> None:
    for name in names:
        store.put(str(folder / name), f"{BUCKET}/{name}")


def without_names(data: bytes) -> bytes:
    """Return an output whose header names files without the bucket's URL."""
    return data.replace(f"{URL}/".encode(), b"")


def one_machine(folder: Path, name: str, arguments: list[str]) -> bytes:
    """Return what one machine makes of files, whose names in the header are URLs."""
    here = folder / "files"
    here.mkdir(exist_ok=True)
    for path in folder.iterdir():
        if path.is_file():
            shutil.copy(path, here)
    assert_success(wfacli(here, *arguments, "-o", name))
    data = (here / name).read_bytes()
    shutil.rmtree(here)
    return data


def at_urls(arguments: list[str], folder: Path) -> list[str]:
    return [f"{URL}/{word}" if (folder / word).is_file() else word for word in arguments]


@pytest.mark.parametrize("form", FORMS)
def test_inputs_and_outputs(form, store, tmp_path):
    files = write_pairs(tmp_path, 600)
    put(store, tmp_path, *files)
    name, options = FORMS[form]
    expected = one_machine(tmp_path, name, ["align", *files, *options, *_no_header(name)])
    done = wfacli(tmp_path, "align", *at_urls(files, tmp_path), *options, *_no_header(name), "-o", f"{URL}/out/{name}")
    assert done.code == 0, done.err
    found = store.cat(f"{BUCKET}/out/{name}")
    if name == "out.bam":  # its header has the command line
        found, expected = _records(tmp_path, found), _records(tmp_path, expected)
    assert found == expected
    wanted = [name, *([f"{name}.bai"] if "--write-index" in options else [])]
    store.invalidate_cache()
    assert sorted(Path(path).name for path in store.ls(f"{BUCKET}/out")) == wanted


def _no_header(name: str) -> list[str]:
    return ["--no-header"] if ".sam" in name else []


def _records(folder: Path, data: bytes) -> list[str]:
    import pysam

    (folder / "records.bam").write_bytes(data)
    with pysam.AlignmentFile(str(folder / "records.bam"), check_sq=False) as file:
        return [record.to_string() for record in file]


@pytest.mark.parametrize("form", [form for form in FORMS if form != "bgzip"])
def test_plan_shards_and_merge(form, store, tmp_path):
    """Parts of a plan in a store: the output has the md5 of one machine's run with the same names."""
    files = write_pairs(tmp_path, 600)
    put(store, tmp_path, *files)
    name, options = FORMS[form]
    arguments = [*at_urls(files, tmp_path), *options]
    assert_success(wfacli(tmp_path, "align", *arguments, "-o", f"{URL}/{name}"))
    expected = store.cat(f"{BUCKET}/{name}")
    store.rm(f"{BUCKET}/{name}")
    plan = f"{URL}/work/run.plan"
    done = wfacli(tmp_path, "plan", *arguments, "--shards", "4", "--to", f"{URL}/{name}", "-o", plan)
    assert_success(done)
    for shard in (3, 1, 4):
        assert_success(wfacli(tmp_path, "align", "--plan", plan, "--shard", f"{shard}/4"))
    status = wfacli(tmp_path, "plan", "--status", plan)
    assert [line.split("\t")[1] for line in status.text.splitlines()[1:]] == ["done", "missing", "done", "done"]
    assert_failure(wfacli(tmp_path, "merge", plan), 1, f"missing: {plan}.parts/2-of-4.part", "--shard 2/4")
    assert not store.exists(f"{BUCKET}/{name}")
    assert_success(wfacli(tmp_path, "align", "--plan", plan, "--shard", "2/4"))
    part = f"{BUCKET}/work/run.plan.parts/1-of-4.part"
    data = store.cat(part)
    store.pipe(part, data[:-9] + bytes([data[-9] ^ 1]) + data[-8:])
    assert_failure(wfacli(tmp_path, "merge", plan), 1, "damaged: s3://", "1-of-4.part")
    assert not store.exists(f"{BUCKET}/{name}")
    assert_success(wfacli(tmp_path, "align", "--plan", plan, "--shard", "1/4"))
    assert_success(wfacli(tmp_path, "merge", plan))
    store.invalidate_cache()
    assert store.cat(f"{BUCKET}/{name}") == expected


CASES = {
    "paf": ("out.paf", ["align", "q", "t"]),
    "sam": ("out.sam", ["align", "q", "t"]),
    "bam": ("out.bam", ["align", "q", "t", "--batch-bases", "20000"]),
    "sorted bam": ("out.bam", ["align", "q", "t", "--sort"]),
    "mappings": ("out.sam", ["align", "reads.fq", "ref.fa", "--mappings", "map.paf"]),
    "an indexed reference": ("out.sam", ["align", "reads.fq", "ref.fa", "--mappings", "map.paf"]),
    "bam mappings": ("out.sam", ["align", "reads.fq", "ref.fa", "--mappings", "map.bam"]),
    "pairs": ("out.sam", ["align", "reads.fq", "ref.fa", "--mappings", "map.sam"]),
    "map": ("out.sam", ["map", "ref.fa", "reads.fq", "--preset", "map-hifi", "-t", "1"]),
}


@pytest.mark.parametrize("case", CASES)
def test_on_a_cluster_with_a_killed_worker(case, store, tmp_path):
    """The store has inputs, work folder and output of a run on a cluster, of which a worker is killed."""
    require("distributed")
    name, arguments = CASES[case]
    if arguments[1] == "q":
        arguments = ["align", *write_pairs(tmp_path, 3000), *arguments[3:]]
    elif case == "map":
        if not shutil.which("minimap2"):
            pytest.skip("minimap2 is not installed")
        _write_reads(tmp_path)
    else:
        world = write_world(random.Random(case), tmp_path, 1200)
        if case == "pairs":
            as_mates(world)
            world.write(tmp_path)
            (tmp_path / "map.sam").write_text("@HD\tVN:1.6\n" + mate_records(world))
    put(store, tmp_path, *(path.name for path in tmp_path.iterdir()))
    if case == "an indexed reference":
        import pysam

        pysam.faidx(str(tmp_path / "ref.fa"))
        put(store, tmp_path, "ref.fa.fai")
    arguments = at_urls(arguments, tmp_path)
    for path in tmp_path.iterdir():
        path.unlink()
    assert_success(wfacli(tmp_path, *arguments, "-o", f"{URL}/{name}"))
    expected = store.cat(f"{BUCKET}/{name}")
    store.rm(f"{BUCKET}/{name}")
    before = set(store.find(BUCKET))
    with local_cluster() as cluster:
        done = with_a_killed_worker(
            cluster, tmp_path, f"{URL}/work", *arguments, "-o", f"{URL}/{name}", "--shards", "5"
        )
    assert done[0] == 0, done[1]
    store.invalidate_cache()
    assert store.cat(f"{BUCKET}/{name}") == expected
    assert set(store.find(BUCKET)) - before == {f"{BUCKET}/{name}"}, "the work folder is removed"
    assert not list(tmp_path.iterdir())


def _write_reads(folder: Path) -> None:
    rng = random.Random(1)
    reference = "".join(rng.choices("ACGT", k=60_000))
    (folder / "ref.fa").write_text(f">chr\n{reference}\n")
    lines = []
    for number in range(400):
        at = rng.randrange(58_000)
        read = "".join(c if rng.random() > 0.03 else rng.choice("ACGT") for c in reference[at : at + 1500])
        lines.append(f"@r{number}\n{read}\n+\n{'I' * len(read)}\n")
    (folder / "reads.fq").write_text("".join(lines))


ANONYMOUS = {"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_EC2_METADATA_DISABLED": "true"}


@pytest.mark.parametrize(
    ("words", "env", "code", "message"),
    [
        (["{u}/none.fa", "t.fa", "-o", "o.sam"], {}, 1, "{u}/none.fa: there is no such object"),
        (["s3://nobucket/q", "t.fa", "-o", "o.sam"], {}, 1, "s3://nobucket/q: there is no such object"),
        (["q.fa", "t.fa", "-o", "s3://nobucket/o.sam"], {}, 1, "s3://nobucket/o.sam: cannot be written: there is no"),
        (
            ["{u}/q.fa", "t.fa", "-o", "o.sam"],
            ANONYMOUS,
            1,
            "{u}/q.fa: no credentials were found: set AWS_",
        ),
        (["q.fa", "t.fa", "-o", "{u}/o.sam"], ANONYMOUS, 1, "{u}/o.sam: cannot be written: no credentials were found"),
        (["{u}/q.fa", "t.fa", "-o", "{u}/q.fa"], {}, 2, "{u}/q.fa is an input; writing to it would destroy it"),
        (["s3://me:pw@b/q.fa", "t.fa", "-o", "o.sam"], {}, 2, "s3://***@b/q.fa: the URL contains a user or password"),
        (["https://a.b/q?X-Amz-Signature=pw", "t.fa"], {}, 2, "https://a.b/q?***: the URL contains a signature"),
        (["q.fa", "t.fa", "-o", "{u}/o.cram"], {}, 2, "CRAM is written to a file, not to a URL"),
        (["foo://bar/q.fa", "t.fa", "-o", "o.sam"], {}, 1, "foo://bar/q.fa: Protocol not known: foo"),
    ],
)
def test_errors(words, env, code, message, store, tmp_path):
    (tmp_path / "q.fa").write_text(">a\nACGT\n")
    (tmp_path / "t.fa").write_text(">b\nACGT\n")
    put(store, tmp_path, "q.fa")
    bucket = {"u": URL}
    environ = {name: value for name, value in environment(**env).items() if value}
    done = run("align", *(w.format(**bucket) for w in words), cwd=tmp_path, program=command(), env=environ)
    assert_failure(done, code, message.format(**bucket))
    assert not {"pw", "very-secret-key"} & set(done.err.replace(":", " ").split())
    assert not list(tmp_path.glob("o.*"))


class _Relay(socketserver.ThreadingTCPServer):
    """Passes connections on to a server; while it is broken, it closes all."""

    allow_reuse_address = daemon_threads = True

    def __init__(self, port: int) -> None:
        self.port, self.broken, self.refused, self.passed = port, False, 0, 0
        super().__init__(("127.0.0.1", 0), _Connection)


class _Connection(socketserver.BaseRequestHandler):
    def handle(self):
        import select
        import socket

        if self.server.broken:
            self.server.refused += 1
            return
        with socket.create_connection(("127.0.0.1", self.server.port)) as there:
            while not self.server.broken:
                ready, _, _ = select.select([self.request, there], [], [], 0.05)
                for side in ready:
                    if not (data := side.recv(1 << 16)):
                        return
                    self.server.passed += len(data)
                    (there if side is self.request else self.request).sendall(data)


@pytest.fixture
def relay(server):
    with _Relay(int(server.rpartition(":")[2])) as relay:
        threading.Thread(target=relay.serve_forever, daemon=True).start()
        yield relay
        relay.shutdown()


def _started(relay, folder: Path) -> subprocess.Popen[bytes]:
    """Start a run that reads some MB through a relay, and return it when a part of that has come."""
    env = environment(AWS_ENDPOINT_URL=f"http://127.0.0.1:{relay.server_address[1]}")
    words = ["align", f"{URL}/q.fa", f"{URL}/t.fa", "--format", "paf", "-t", "1", "-o", "out.paf"]
    process = start(*words, cwd=folder, stdin=subprocess.DEVNULL, env=env)
    end = time.monotonic() + 60
    while relay.passed < 1_000_000:
        assert time.monotonic() < end and process.poll() is None
        time.sleep(0.001)
    return process


@pytest.fixture
def large(store, tmp_path):
    """Write files of some MB, in which few bases differ."""
    rng = random.Random(1)
    symbols = "".join(rng.choices("ACGT", k=30_000))
    for name in ("q.fa", "t.fa"):
        (tmp_path / name).write_text("".join(f">{name[0]}{n}\n{symbols[:-n]}\n" for n in range(1, 600)))
    put(store, tmp_path, "q.fa", "t.fa")
    assert_success(wfacli(tmp_path, "align", "q.fa", "t.fa", "--format", "paf", "-o", "expected.paf"))
    return tmp_path


def test_a_network_that_breaks_for_a_while(relay, large):
    process = _started(relay, large)
    relay.broken = True
    time.sleep(1.5)
    relay.broken = False
    messages = process.communicate(timeout=120)[1].decode()
    assert process.returncode == 0, messages
    assert (large / "out.paf").read_bytes() == (large / "expected.paf").read_bytes()


def test_a_network_that_stays_broken(relay, large):
    process = _started(relay, large)
    relay.broken = True
    messages = process.communicate(timeout=240)[1].decode()
    assert process.returncode == 1, messages
    assert f"wfacli: error: {URL}/" in messages
    assert "Traceback" not in messages
    assert not (large / "out.paf").exists()


def test_an_interrupted_run_does_not_wait_for_a_broken_network(relay, large):
    process = _started(relay, large)
    relay.broken = True
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    begun = time.monotonic()
    messages = process.communicate(timeout=60)[1].decode()
    assert process.returncode == 130, messages
    assert time.monotonic() - begun < 20
    assert "Traceback" not in messages


def test_an_upload_that_is_interrupted_leaves_nothing(relay, large, store):
    env = {**os.environ, "AWS_ENDPOINT_URL": f"http://127.0.0.1:{relay.server_address[1]}"}
    words = ["align", f"{URL}/q.fa", f"{URL}/t.fa", "--format", "paf", "-t", "1"]
    process = start(*words, "-o", f"{URL}/out.paf", cwd=large, stdin=subprocess.DEVNULL, env=env)
    while relay.passed < 2_000_000 and process.poll() is None:
        time.sleep(0.001)
    process.terminate()
    messages = process.communicate(timeout=60)[1].decode()
    assert process.returncode in (143, 0), messages
    assert "Traceback" not in messages
    assert "were written, to s3" not in messages
    store.invalidate_cache()
    assert store.exists(f"{BUCKET}/out.paf") == (process.returncode == 0)
