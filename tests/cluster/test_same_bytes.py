"""Runs on a cluster, of which a worker is killed in mid-shard: the bytes of one machine's run."""

from __future__ import annotations

import hashlib
import random
import shutil

import pytest

from tests.shards.test_mapped import as_mates, mate_records, write_world

from .support import on_cluster, on_one_machine, with_a_killed_worker, write_pairs

FORMS = {
    "paf": ("out.paf", []),
    "sam": ("out.sam", []),
    "bam": ("out.bam", ["--batch-bases", "20000"]),
    "sorted bam": ("out.bam", ["--sort", "--write-index"]),
}


def assert_same(cluster, folder, name, arguments, shards=6):
    """Assert that a run on a cluster whose worker is killed has the md5 of the run on one machine."""
    expected = hashlib.md5(on_one_machine(folder, name, *arguments)).hexdigest()
    index = folder / f"{name}.bai"
    expected_index = index.read_bytes() if index.exists() else None
    index.unlink(missing_ok=True)
    code, messages = with_a_killed_worker(cluster, folder, "work", *arguments, "-o", name, "--shards", str(shards))
    assert code == 0, messages
    assert "Traceback" not in messages
    assert hashlib.md5((folder / name).read_bytes()).hexdigest() == expected
    if expected_index is not None:
        assert index.read_bytes() == expected_index
    assert not (folder / "work").exists(), "what the command made is removed"


@pytest.mark.parametrize("form", FORMS)
def test_pairs(form, cluster, tmp_path):
    name, options = FORMS[form]
    assert_same(cluster, tmp_path, name, ["align", *write_pairs(tmp_path, 3000, 60), *options])


def test_extensions(cluster, tmp_path):
    files = write_pairs(tmp_path, 2000, 60)
    assert_same(cluster, tmp_path, "out.sam", ["extend", *files, "--mode", "local", "--scores", "2,4,4,2"])


@pytest.mark.parametrize("form", FORMS)
def test_mappings(form, cluster, tmp_path):
    write_world(random.Random(form), tmp_path, 1500)
    name, options = FORMS[form]
    arguments = ["align", "reads.fq", "ref.fa", "--mappings", "map.paf", *options]
    assert_same(cluster, tmp_path, name, arguments, 4)


def test_pairs_of_reads(cluster, tmp_path):
    world = write_world(random.Random(2), tmp_path, 1200)
    as_mates(world)
    world.write(tmp_path)
    (tmp_path / "map.sam").write_text("@HD\tVN:1.6\n" + mate_records(world))
    arguments = ["align", "reads.fq", "ref.fa", "--mappings", "map.sam"]
    assert_same(cluster, tmp_path, "out.sam", arguments, 4)


@pytest.mark.skipif(not shutil.which("minimap2"), reason="minimap2 is not installed")
@pytest.mark.parametrize("form", ["sam", "sorted bam"])
def test_mapping(form, cluster, tmp_path):
    rng = random.Random(form)
    reference = "".join(rng.choices("ACGT", k=100_000))
    (tmp_path / "ref.fa").write_text(f">chr\n{reference}\n")
    lines = []
    for number in range(800):
        at = rng.randrange(98_000)
        read = "".join(c if rng.random() > 0.03 else rng.choice("ACGT") for c in reference[at : at + 1500])
        lines.append(f"@r{number}\n{read}\n+\n{'I' * len(read)}\n")
    (tmp_path / "reads.fq").write_text("".join(lines))
    name, options = FORMS[form]
    arguments = ["map", "ref.fa", "reads.fq", "--preset", "map-hifi", "-t", "1", *options]
    assert_same(cluster, tmp_path, name, arguments, 4)


def test_the_default_work_folder_and_number_of_shards(cluster, tmp_path):
    files = write_pairs(tmp_path, 300)
    expected = on_one_machine(tmp_path, "out.sam", "align", *files)
    done = on_cluster(cluster, tmp_path, "align", *files, "-o", "out.sam")
    assert done.code == 0, done.err
    assert "out.sam.work/run.plan: 300 records in 1 shard" in done.err
    assert "2 workers, 2 shards at a time" in done.err
    assert (tmp_path / "out.sam").read_bytes() == expected
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*files, "out.sam"])
