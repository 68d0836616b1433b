"""Makes docs/pictures: reports, MultiQC's page of two samples, help of all commands, README's badges and first screen.

It needs minimap2, Chromium (WFACLI_CHROMIUM names another program), and for MultiQC's page multiqc (WFACLI_MULTIQC).
"""

from __future__ import annotations

import io
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from markdown_it import MarkdownIt
from PIL import Image
from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "docs/pictures"
sys.path.insert(0, str(ROOT))

from tests.browser import Browser, chromium, opened  # noqa: E402

_REFERENCE = str(ROOT / "data/sarscov2.fa.gz")
_LENGTHS = (("300-900", "150"), ("800-2k", "350"), ("1500-4k", "300"), ("3k-8k", "100"))  # of long reads, and counts
_COLOURS, _WIDEST = 128, 1000
_WAIT = "new Promise(done => setTimeout(done, 4000))"  # MultiQC draws its plots as they come into view


# The whole program ("") and its commands.
COMMANDS = (
    *("", "align", "map", "extend", "plan", "merge", "distance"),
    *("local", "dotplot", "simulate", "bench", "doctor"),
)
_STYLE = """<style>
body { font: 16px/1.5 sans-serif; max-width: 820px; margin: 24px auto; color: #1f2328 }
pre { background: #f6f8fa; padding: 12px; overflow: auto } code { font: 13px monospace; background: #f6f8fa }
table { border-collapse: collapse } td, th { border: 1px solid #d1d9e0; padding: 4px 10px; text-align: left }
h1, h2 { border-bottom: 1px solid #d1d9e0; padding-bottom: 6px } img { max-width: 100% }
</style>"""


def wfacli(*arguments: str | Path, folder: Path) -> str:
    """Run the command of this environment in a folder, and return its output."""
    program = Path(sys.executable).with_name("wfacli")
    environment = {**os.environ, "COLUMNS": "80"}
    done = subprocess.run(
        [program, *arguments], cwd=folder, env=environment, check=True, capture_output=True, text=True
    )
    return done.stdout


def runs(folder: Path) -> None:
    """Map two simulated samples: noisy long reads, some of them of something else, and pairs of short reads."""
    for seed, (lengths, count) in enumerate(_LENGTHS, 1):
        some = ("-m", "ont", "-l", lengths, "-n", count, "--seed", str(seed), "--reference", _REFERENCE)
        wfacli("simulate", *some, "-q", "-o", f"{seed}.fq", folder=folder)
    reads = [(folder / f"{seed}.query.fq").read_text().replace("@sim", f"@run{seed}.sim") for seed in (1, 2, 3, 4)]
    symbols = random.Random(1)
    for number in range(45):
        size = symbols.randint(300, 4000)
        reads.append(f"@other{number}\n{''.join(symbols.choices('ACGT', k=size))}\n+\n{'5' * size}\n")
    (folder / "ont.fq").write_text("".join(reads))
    pairs = ("-n", "12k", "--insert", "380", "--insert-sd", "60", "--reference", _REFERENCE, "-q", "-o", "pe.fq")
    wfacli("simulate", "--paired", *pairs, folder=folder)
    for name, reads in (("nanopore", ["ont.fq", "-x", "map-ont"]), ("illumina", ["pe_1.fq", "pe_2.fq"])):
        shutil.copy(_REFERENCE, folder / "sarscov2.fa.gz")
        more = ("--sort", "-q", "-o", f"{name}.bam", "--report", f"{name}.html", "--multiqc", name)
        wfacli("map", "sarscov2.fa.gz", *reads, *more, folder=folder)


def save(picture: bytes, name: str) -> None:
    """Write a picture with few colours, which takes a quarter of the bytes."""
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    if image.width > _WIDEST:
        image = image.resize((_WIDEST, image.height * _WIDEST // image.width), Image.Resampling.LANCZOS)
    image = image.quantize(_COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    image.save(PICTURES / name, optimize=True)


def report(browser: Browser, folder: Path) -> None:
    """Take the report in light and dark."""
    for scheme in ("light", "dark"):
        browser.show(folder / "nanopore.html", 1000, scheme, height=1310)
        save(browser.picture(1000, 1310), f"report-{scheme}.png")


def multiqc(browser: Browser, folder: Path) -> None:
    """Take MultiQC's page of both samples."""
    program = os.environ.get("WFACLI_MULTIQC") or shutil.which("multiqc")
    if not program:
        sys.stderr.write("there is no multiqc: its picture is left as it is\n")
        return
    subprocess.run([program, "--quiet", "--outdir", folder / "multiqc", folder], check=True)
    browser.show(folder / "multiqc/multiqc_report.html", 1500, "light", height=4500)
    browser.call("Runtime.evaluate", expression=_WAIT, awaitPromise=True)
    browser.value("document.getElementById('mqc_welcome')?.remove()")
    save(browser.picture(1500, 1850), "multiqc.png")


def help_pages() -> None:
    """Draw the help of each command on a terminal of 80 columns."""
    for command in COMMANDS:
        words = ["wfacli", *command.split(), "-h"]
        console = Console(record=True, width=80, file=io.StringIO())
        console.print(Text(f"$ {' '.join(words)}", style="bold"))
        console.print(Text(wfacli(*words[1:], folder=ROOT).rstrip()))
        drawn = console.export_svg(title=" ".join(words), unique_id="help")
        # Fonts of other sites are not asked for: those of the reader are good enough.
        drawn = re.sub(r"@font-face \{.*?\}\n", "", drawn, flags=re.DOTALL)
        (PICTURES / f"help-{command or 'wfacli'}.svg").write_text(drawn.replace("Fira Code", "ui-monospace"))


def readme(browser: Browser, folder: Path) -> None:
    """Take README's first screen."""
    text = (ROOT / "README.md").read_text()
    page = MarkdownIt("commonmark", {"html": True}).enable("table").render(text)
    (folder / "readme.html").write_text(
        f"<!doctype html><meta charset=utf-8><base href='{ROOT.as_uri()}/'>{_STYLE}{page}"
    )
    browser.show(folder / "readme.html", 900, "light", height=1000)
    save(browser.picture(900, 1000), "readme.png")


def badges() -> None:
    """Draw README's badges, from the package's own metadata."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    python = project["requires-python"].removeprefix(">=") + " or newer"
    for name, left, right in (
        ("licence", "licence", project["license"]),
        ("python", "Python", python),
        ("platform", "platform", "Linux"),
    ):
        (PICTURES / f"{name}.svg").write_text(badge(left, right))


def badge(left: str, right: str) -> str:
    """Return a badge as SVG: a name on grey, and its value on blue."""
    widths = [round(6.6 * len(text)) + 12 for text in (left, right)]
    whole = sum(widths)
    texts = "".join(
        f'<text x="{x}" y="14" textLength="{width - 12}" lengthAdjust="spacingAndGlyphs">{text}</text>'
        for text, x, width in ((left, 6, widths[0]), (right, widths[0] + 6, widths[1]))
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{whole}" height="20" role="img" aria-label="{left}: {right}">'
        f'<clipPath id="round"><rect width="{whole}" height="20" rx="3"/></clipPath><g clip-path="url(#round)">'
        f'<rect width="{whole}" height="20" fill="#57606a"/>'
        f'<rect x="{widths[0]}" width="{widths[1]}" height="20" fill="#2f6fb3"/></g>'
        f'<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">{texts}</g></svg>\n'
    )


def main() -> None:
    """Make all pictures."""
    badges()
    program = chromium()
    if not program:
        sys.exit("there is no chromium: set WFACLI_CHROMIUM")
    help_pages()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        runs(folder)
        with opened(program, folder / "profile") as browser:
            readme(browser, folder)
            report(browser, folder)
            multiqc(browser, folder)


if __name__ == "__main__":
    main()
