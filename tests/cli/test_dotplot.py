"""Figures written by `wfacli dotplot`, parsed without code of wfacli, and error messages."""

from __future__ import annotations

import base64
import json
import re
import signal
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import wfacli.dotplot
from wfacli.cli import entry
from wfacli.core.cigar import from_text
from wfacli.errors import InputError, OutputError, UsageError

from .support import COMPRESSIONS, Result, assert_failure, assert_success, environment, fasta, random_symbols, run

Dotplot = Callable[..., Result]
TARGET = random_symbols(6000, 1)
# An inversion in the middle, and 1,000 bases missing in the query.
INVERTED = TARGET[2000:3000].translate(str.maketrans("ACGT", "TGCA"))[::-1]
QUERY = TARGET[:2000] + INVERTED + TARGET[3000:4000] + TARGET[5000:]
CIGAR = "2000=1000X1000=1000D1000="
PAF = f"r1\t5000\t0\t5000\t+\tt1\t6000\t0\t6000\t4000\t6000\t255\tcg:Z:{CIGAR}\n"
PAPER = (255, 255, 255)


@pytest.fixture
def plots(tmp_path: Path) -> Path:
    (tmp_path / "q.fa").write_bytes(fasta([QUERY]))
    (tmp_path / "t.fa").write_bytes(fasta([TARGET], "t"))
    (tmp_path / "ab.paf").write_text(PAF)
    return tmp_path


@pytest.fixture
def dotplot(plots: Path) -> Dotplot:
    return partial(run, "dotplot", cwd=plots)


@pytest.fixture
def here(
    plots: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Iterator[Callable[..., Result]]:
    """A function that runs `wfacli dotplot` in that folder, but in this process, which is faster."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}

    def dotplot(*arguments: str) -> Result:
        monkeypatch.chdir(plots)
        monkeypatch.setenv("COLUMNS", "200")
        monkeypatch.setattr(sys, "argv", ["wfacli", "dotplot", *arguments])
        with pytest.raises(SystemExit) as end:
            entry()
        out, err = capfd.readouterr()
        return Result(int(end.value.code or 0), out.encode(), err)

    yield dotplot
    for number, handler in handlers.items():
        signal.signal(number, handler)


def png_of(data: bytes) -> np.ndarray:
    """Return the pixels u8[height, width, 4] of a PNG with eight bits and without interlacing."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, packed, size = 8, b"", (0, 0)
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        body = data[at + 8 : at + 8 + length]
        assert zlib.crc32(kind + body) == struct.unpack(">I", data[at + 8 + length : at + 12 + length])[0]
        if kind == b"IHDR":
            *size, depth, colour, _, _, interlaced = struct.unpack(">2I5B", body)
            assert (depth, colour, interlaced) == (8, 6, 0)
        packed += body if kind == b"IDAT" else b""
        at += 12 + length
    width, height = size
    rows = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(height, 1 + 4 * width)
    pixels, above = np.zeros((height, width, 4), np.uint8), np.zeros((width, 4), np.uint8)
    for y, row in enumerate(rows):
        above = pixels[y] = unfiltered(int(row[0]), row[1:].reshape(width, 4), above)
    return pixels


def unfiltered(kind: int, row: np.ndarray, above: np.ndarray) -> np.ndarray:
    if kind == 0:
        return row
    if kind == 1:
        return np.cumsum(row, axis=0, dtype=np.uint8)
    if kind == 2:
        return row + above
    out, left, corner = [], [0] * 4, [0] * 4
    for values, up in zip(row.tolist(), above.tolist(), strict=True):
        left = [(v + guess(kind, a, b, c)) & 255 for v, a, b, c in zip(values, left, up, corner, strict=True)]
        corner = up
        out.append(left)
    return np.array(out, np.uint8)


def guess(kind: int, left: int, up: int, corner: int) -> int:
    if kind == 3:
        return (left + up) // 2
    return min((abs(up - corner), 0, left), (abs(left - corner), 1, up), (abs(left + up - 2 * corner), 2, corner))[2]


def density_in(pixels: np.ndarray, width: int, height: int) -> np.ndarray:
    """Return the pixels within the darkest frame, of this size, from the start of the query."""
    dark = pixels[:, :, :3].sum(axis=2) < 150
    across = np.flatnonzero(dark.sum(axis=1) > 0.9 * width)
    upright = np.flatnonzero(dark.sum(axis=0) > 0.9 * height)
    top, left = across[0], upright[0]
    assert abs(upright[-1] - left - width) <= 3
    return pixels[top : top + height, left : left + width, :3][::-1].astype(int)


def data_of(page: bytes) -> dict:
    found = re.search(rb"^const data = (\{.*\});$", page, re.MULTILINE)
    assert found
    return json.loads(found[1])


def levels_of(data: dict) -> np.ndarray:
    levels = np.frombuffer(zlib.decompress(base64.b64decode(data["levels"])), np.uint8)
    return levels.reshape(2, data["rows"], data["columns"])


def coloured(region: np.ndarray, strand: str) -> int:
    """Return the number of clearly blue (same strand) or orange (reverse strand) pixels."""
    warm = region[:, :, 0] - region[:, :, 2]
    return int((warm < -20).sum() if strand == "same" else (warm > 20).sum())


def test_png(dotplot: Dotplot, plots: Path) -> None:
    result = dotplot("q.fa", "t.fa", "-o", "plot.png", "--size", "600")
    assert_success(result)
    assert result.out == b""
    assert "5,000 by 6,000 bp, exact matches of 13 bases, both strands" in result.err
    pixels = png_of((plots / "plot.png").read_bytes())
    inside = density_in(pixels, 600, 500)
    # The first part of the target is on the diagonal, the inversion on the antidiagonal, the last part 1,000 bases
    # off.
    for row, column, strand in ((0, 0, "same"), (100, 100, "same"), (300, 300, "same"), (400, 500, "same")):
        assert coloured(inside[row + 2 : row + 98, column + 2 : column + 98], strand) > 60
    assert coloured(inside[202:298, 202:298], "reverse") > 60
    assert coloured(inside[202:298, 202:298], "same") < 10
    assert coloured(inside[10:190, 210:590], "same") < 20
    assert (inside == PAPER).all(axis=2).mean() > 0.9


def test_path_in_png(here: Dotplot, plots: Path) -> None:
    result = here("q.fa", "t.fa", "-o", "plot.png", "--size", "600", "--alignments", "ab.paf")
    assert_success(result)
    assert "path with 66.67% identity" in result.err
    inside = density_in(png_of((plots / "plot.png").read_bytes()), 600, 500)
    for row, column, alike in ((100, 100, True), (250, 250, False), (350, 350, True), (400, 450, False)):
        red, green, _ = inside[row, column]
        assert green - red > 60 if alike else red - green > 60, (row, column, inside[row, column])


def test_svg(here: Dotplot, plots: Path) -> None:
    assert_success(here("q.fa", "t.fa", "-o", "plot.svg", "--alignments", "ab.paf", "--size", "200"))
    written = (plots / "plot.svg").read_bytes()
    root = ElementTree.fromstring(written)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    embedded = [value for tag in root.iter() for name, value in tag.items() if name.endswith("href")]
    assert any(value.startswith("data:image/png;base64,") for value in embedded)
    assert all(value.startswith(("data:", "#")) for value in embedded)
    # The figure is reproducible, byte for byte.
    assert_success(here("q.fa", "t.fa", "-o", "plot.svg", "--alignments", "ab.paf", "--size", "200"))
    assert (plots / "plot.svg").read_bytes() == written


def test_pdf(here: Dotplot, plots: Path) -> None:
    assert_success(here("q.fa", "t.fa", "-o", "plot.pdf", "--size", "200"))
    written = (plots / "plot.pdf").read_bytes()
    assert written.startswith(b"%PDF-")
    assert written.rstrip().endswith(b"%%EOF")


def test_html(here: Dotplot, plots: Path) -> None:
    assert_success(here("q.fa", "t.fa", "-o", "plot.html", "--size", "600", "--alignments", "ab.paf"))
    page = (plots / "plot.html").read_bytes()
    assert not re.search(rb"https?:|\b(src ?=|href|url\(|import|fetch|XMLHttpRequest)", page)
    assert b"default-src 'none'" in page
    data = data_of(page)
    assert (data["target"]["names"], data["target"]["starts"]) == (["t1"], [0, 6000])
    forward, reverse = levels_of(data)
    assert forward.shape == (500, 600)
    steps = np.arange(10, 190)
    assert forward[steps, steps].min() > 100
    assert reverse[steps + 200, 499 - steps].sum() == 0
    assert np.count_nonzero(reverse[200:300, 200:300]) > 90
    (line,) = data["lines"]
    assert (line["query"][-1], line["target"][-1]) == (5000, 6000)
    assert len(line["query"]) == len(line["target"]) == len(line["identity"]) + 1
    assert set(line["identity"]) <= {0, 1} | {value for value in line["identity"] if 0 < value < 1}


def test_html_needs_no_matplotlib_and_others_say_so(plots: Path) -> None:
    # A package whose import fails, as if it were not installed.
    (plots / "without" / "matplotlib").mkdir(parents=True)
    (plots / "without" / "matplotlib" / "__init__.py").write_text("raise ModuleNotFoundError('none')")
    program = [sys.executable, "-c", "import sys; sys.path.insert(0, 'without'); import wfacli.cli as c; c.entry()"]
    without = partial(run, "dotplot", "q.fa", "t.fa", "-o", cwd=plots, program=program)
    assert_success(without("plot.html"))
    assert_failure(without("plot.png"), 1, "pip install '.[plot]'")
    assert not (plots / "plot.png").exists()


def test_matplotlib_is_imported_only_to_draw() -> None:
    code = "import sys, wfacli.cli.app, wfacli.dotplot; print([m for m in sys.modules if 'matplotlib' in m])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


def test_tags_in_names_are_text(here: Dotplot, plots: Path) -> None:
    (plots / "q.fa").write_text(f"></script><b>$\\q$&\n{QUERY}\n")
    assert_success(here("q.fa", "t.fa", "-o", "plot.html"))
    page = (plots / "plot.html").read_bytes()
    assert page.count(b"</script>") == 1
    assert data_of(page)["query"]["names"] == ["</script><b>$\\q$&"]
    assert b"<title>&lt;/script&gt;&lt;b&gt;$\\q$&amp; against t1</title>" in page
    assert_success(here("q.fa", "t.fa", "-o", "plot.svg", "--size", "100"))
    ElementTree.fromstring((plots / "plot.svg").read_bytes())


def test_several_records_stand_one_after_another(here: Dotplot, plots: Path) -> None:
    (plots / "t.fa").write_bytes(fasta([TARGET[:2500], TARGET[2500:]], "t", width=60))
    assert_success(here("q.fa", "t.fa", "-o", "plot.html"))
    axis = data_of((plots / "plot.html").read_bytes())["target"]
    assert (axis["title"], axis["names"], axis["starts"]) == ("t.fa, 2 records", ["t1", "t2"], [0, 2500, 6000])
    assert_success(here("q.fa", "t.fa", "-o", "plot.html", "--target-name", "t2"))
    axis = data_of((plots / "plot.html").read_bytes())["target"]
    assert (axis["title"], axis["starts"]) == ("t2", [0, 3500])
    assert_failure(here("q.fa", "t.fa", "-o", "p.html", "--query-name", "r2"), 1, "q.fa: no record is named r2")
    assert_success(here("q.fa", "t.fa", "-o", "plot.svg", "--size", "100"))
    assert_failure(here("q.fa", "t.fa", "-o", "p.html", "--alignments", "ab.paf"), 1, "t1", "6,000 symbols here")


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_compressed_and_from_standard_input(dotplot: Dotplot, plots: Path, compression: str) -> None:
    packed = COMPRESSIONS[compression]((plots / "q.fa").read_bytes())
    result = dotplot("-", "t.fa", "-o", "plot.html", "--size", "100", "-q", stdin=packed)
    assert_success(result)
    assert result.err == ""
    forward, reverse = levels_of(data_of((plots / "plot.html").read_bytes()))
    assert np.count_nonzero(forward) > 60
    assert np.count_nonzero(reverse) > 15


def test_to_standard_output(dotplot: Dotplot, plots: Path) -> None:
    result = dotplot("q.fa", "t.fa", "-o", "-", "--format", "html", "--size", "100")
    assert_success(result)
    assert result.out.startswith(b"<!DOCTYPE html>")
    assert_failure(dotplot("q.fa", "t.fa", "-o", "-"), 2, "a picture ends in .png")


def test_text(here: Dotplot, plots: Path) -> None:
    text = "".join(f"line {number} of a text\n" for number in range(400))
    (plots / "old.txt").write_text(text)
    (plots / "new.txt").write_text(text[: len(text) // 2].upper() + text[len(text) // 2 :])
    assert_success(here("old.txt", "new.txt", "--text", "-o", "plot.html", "-k", "12"))
    data = data_of((plots / "plot.html").read_bytes())
    assert (data["unit"], data["strands"]) == ("symbols", 1)
    forward, reverse = levels_of(data)
    half = len(forward) // 2
    assert forward[half + 5 :, half + 5 :].any()
    assert not forward[: half - 12, : half - 12].any()  # the case of bytes is significant
    assert not reverse.any()
    assert_failure(here("old.txt", "new.txt", "--text", "--query-name", "a", "-o", "p.html"), 2, "--text reads whole")


def test_proteins(here: Dotplot, plots: Path) -> None:
    protein = "MVLSPADKTNVKAAWGKVGAHAGEYGAEALERMFLSFPTTKTYFPHFDLSH"
    (plots / "p.fa").write_text(f">p\n{protein}\n")
    (plots / "r.fa").write_text(f">r\n{protein.lower()}\n")
    result = here("p.fa", "r.fa", "-o", "plot.html")
    assert_success(result)
    assert "no exact match of 9 bases" in result.err
    assert "give --ambiguous literal" in result.err
    assert_success(here("p.fa", "r.fa", "-o", "plot.html", "--ambiguous", "literal"))
    data = data_of((plots / "plot.html").read_bytes())
    forward, _ = levels_of(data)
    assert forward.shape == (51, 51)
    assert forward[2:-1].max(axis=1).all()  # at the middle of a k-mer of four
    assert not forward[:2].any()


@pytest.mark.parametrize("suffix", ["png", "svg", "html"])
def test_empty_sequences(here: Dotplot, plots: Path, suffix: str) -> None:
    (plots / "q.fa").write_text(">r1\n")
    (plots / "ab.paf").write_text("r1\t0\t0\t0\t+\tt1\t6000\t0\t6000\t0\t6000\t255\tcg:Z:6000D\n")
    assert_success(here("q.fa", "t.fa", "-o", f"plot.{suffix}", "--alignments", "ab.paf", "--size", "100"))
    assert (plots / f"plot.{suffix}").stat().st_size > 1000


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("q.fa", "t.fa"), 2, ["--output"]),
        (("q.fa", "-o", "p.png"), 2, ["TARGET"]),
        (("q.fa", "t.fa", "-o", "p.jpg"), 2, ["'p.jpg'", ".png, .svg, .pdf or .html"]),
        (("q.fa", "t.fa", "-o", "p.png", "--format", "jpg"), 2, ["jpg"]),
        (("-", "-", "-o", "p.png"), 2, ["standard input"]),
        (("-", "t.fa", "--alignments", "-", "-o", "p.png"), 2, ["standard input"]),
        (("q.fa", "t.fa", "-o", "p.html", "-k", "33"), 2, ["k is 33", "1 to 32"]),
        (("q.fa", "t.fa", "-o", "p.html", "-k", "0"), 2, ["kmer"]),
        (("q.fa", "t.fa", "-o", "p.html", "--size", "9000"), 2, ["size"]),
        (("none.fa", "t.fa", "-o", "p.html"), 1, ["none.fa", "No such file"]),
        (("q.fa", "empty.fa", "-o", "p.html"), 1, ["empty.fa: has no records"]),
        (("q.fa", "ab.paf", "-o", "p.html"), 1, ["ab.paf, line 1"]),
        (("q.fa", "t.fa", "-o", "none/p.html"), 1, ["none/p.html", "cannot be written"]),
        (("q.fa", "t.fa", "-o", "p.html", "--alignments", "none.paf"), 1, ["none.paf"]),
        (
            ("q.fa", "t.fa", "-o", "p.html", "--alignments", "t.fa"),
            1,
            ["t.fa, line 1: is not an alignment of PAF or SAM"],
        ),
        (("t.fa", "q.fa", "-o", "p.html", "--alignments", "ab.paf"), 1, ["ab.paf", "r1 to t1"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_errors(here: Dotplot, plots: Path, arguments: tuple[str, ...], code: int, words: list[str]) -> None:
    (plots / "empty.fa").write_text("")
    before = sorted(plots.iterdir())
    assert_failure(here(*arguments), code, *words)
    assert sorted(plots.iterdir()) == before  # no file is left behind


def test_help_fits_a_narrow_terminal(dotplot: Dotplot) -> None:
    result = dotplot("--help-all", env=environment(COLUMNS="80", NO_COLOR="1"))
    assert_success(result)
    assert max(map(len, result.text.splitlines())) <= 80
    for words in ("blue on the same strand", "extra plot", "--target-name", "cg:Z"):
        assert words in result.text


def test_a_failure_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    symbols = np.frombuffer(QUERY.encode(), np.uint8)
    monkeypatch.setattr("wfacli.dotplot.page.page", lambda picture: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        wfacli.dotplot.save(str(tmp_path / "plot.html"), symbols, symbols)
    assert not list(tmp_path.iterdir())


def test_save(tmp_path: Path) -> None:
    query, target = (np.frombuffer(text.encode(), np.uint8) for text in (QUERY, TARGET))
    file = tmp_path / "plot.html"
    drawn = wfacli.dotplot.save(str(file), query, target, ("one", "other"), from_text(CIGAR), size=300)
    assert drawn.identity == pytest.approx(4000 / 6000)
    data = data_of(file.read_bytes())
    assert [data[axis]["title"] for axis in ("query", "target")] == ["one", "other"]
    assert len(data["lines"]) == 1
    assert data["columns"] == 300
    wfacli.dotplot.save(str(file), query, target)
    data = data_of(file.read_bytes())
    assert (data["lines"], data["columns"]) == ([], 2000)
    for sequences in ((QUERY, TARGET), (QUERY.encode(), TARGET.encode()), (query[::-1][::-1], target)):
        wfacli.dotplot.save(file, *sequences)
        assert data_of(file.read_bytes()) == data
    for wrong in (query.astype(np.int64), query.reshape(2, -1), list(QUERY), None):
        with pytest.raises(TypeError, match=r"^the target must be str, bytes, u8\[n\] or u32\[n\], not "):
            wfacli.dotplot.save(file, query, wrong)
    words = np.arange(500, dtype=np.uint32)
    drawn = wfacli.dotplot.save(str(tmp_path / "words.png"), words, words, k=1)
    assert (drawn.density.shared, drawn.unit) == (500, "symbols")
    with pytest.raises(UsageError):
        wfacli.dotplot.save(str(tmp_path / "plot"), query, target)
    with pytest.raises(OutputError):
        wfacli.dotplot.save(str(tmp_path / "none" / "plot.html"), query, target)
    with pytest.raises(InputError):
        wfacli.dotplot.save(str(file), query, target, cigar=from_text("5000="))


@pytest.mark.parametrize("module", ["matplotlib", "matplotlib.figure"])
def test_a_signal_does_not_interrupt_the_import_of_matplotlib(plots: Path, module: str) -> None:
    """It would leave half of a module, and maybe locks for which Python waits when it exits."""
    code = f"""
import os, signal, sys
def hook(event, details):
    if event == "import" and details[0] == {module!r} and "wfacli.dotplot" in sys.modules:
        os.kill(os.getpid(), signal.SIGTERM)
sys.addaudithook(hook)
from wfacli.cli import entry
try:
    entry()
finally:
    print({module!r} in sys.modules)
"""
    words = ["dotplot", "q.fa", "t.fa", "-o", "x.png"]
    done = subprocess.run([sys.executable, "-c", code, *words], cwd=plots, env=environment(), capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (143, b"True\n", b"")
    assert not list(plots.glob("x.png*"))
