"""`wfacli extend`: turns options into a run."""

from __future__ import annotations

import shlex
import sys

from .. import __version__
from ..config import Ambiguous, CigarStyle, EngineName
from ..core.cores import usable_cores
from ..errors import UsageError
from ..io.read.reader import PairFiles
from ..io.write.output import refuse_overwriting
from ..run.extend import ExtendConfig, extend_run
from ..run.pairs import Choice
from ..scoring.scheme import DEFAULT_SCORES, Scheme, numbers
from ..scoring.spec import ExtendMode, ExtendSpec
from .console import note
from .extend_options import (
    AllOption,
    BandwidthOption,
    ExtendEngineOption,
    ExtendModeOption,
    GapsOption,
    MatrixOption,
    NScoreOption,
    PairsOption,
    ScoresOption,
    SecondBestOption,
    XdropOption,
    ZdropOption,
)
from .options import (
    AmbiguousOption,
    BatchBasesOption,
    CheckOption,
    CigarOption,
    CompressionOption,
    CsOption,
    DebugOption,
    FormatOption,
    GpuMemoryOption,
    HeaderOption,
    MaxLineOption,
    MaxMemoryOption,
    MdOption,
    OutputOption,
    ProgressOption,
    QueryArgument,
    QuietOption,
    ReadGroupOption,
    ScoreOnlyOption,
    SortOption,
    StatsOption,
    TargetArgument,
    ThreadsOption,
    WriteIndexOption,
)
from .outputs import Storage, Tags, output_spec
from .running import execute
from .scoring import gpu_memory_of, limits_of


def extend(
    query: QueryArgument,
    target: TargetArgument = None,
    all_: AllOption = False,
    pairs: PairsOption = None,
    scores: ScoresOption = None,
    matrix: MatrixOption = None,
    gaps: GapsOption = None,
    ambiguous: AmbiguousOption = Ambiguous.MISMATCH,
    n_score: NScoreOption = None,
    score_only: ScoreOnlyOption = False,
    second_best: SecondBestOption = False,
    mode: ExtendModeOption = ExtendMode.LOCAL,
    bandwidth: BandwidthOption = 0,
    xdrop: XdropOption = 0,
    zdrop: ZdropOption = 0,
    output: OutputOption = None,
    format_: FormatOption = None,
    cigar: CigarOption = CigarStyle.EQX,
    md: MdOption = False,
    cs: CsOption = False,
    read_group: ReadGroupOption = None,
    header: HeaderOption = True,
    sort: SortOption = False,
    write_index: WriteIndexOption = False,
    compression: CompressionOption = None,
    threads: ThreadsOption = None,
    engine: ExtendEngineOption = EngineName.AUTO,
    gpu_memory: GpuMemoryOption = None,
    batch_bases: BatchBasesOption = None,
    max_memory: MaxMemoryOption = "784M",
    check: CheckOption = False,
    max_line: MaxLineOption = "16M",
    quiet: QuietOption = False,
    progress: ProgressOption = None,
    stats: StatsOption = None,
    debug: DebugOption = False,
) -> None:
    """Aligns pairs under any scores; the help is extend_options.EXTEND_HELP."""
    refuse_overwriting([matrix], [output, stats])
    config = ExtendConfig(
        spec=ExtendSpec(
            scheme=scheme_of(scores, matrix, gaps, ambiguous, n_score),
            mode=mode,
            score_only=score_only,
            second_best=second_best,
            band=bandwidth,
            xdrop=xdrop,
            zdrop=zdrop,
        ),
        output=output_spec(
            "extend",
            output,
            format_,
            score_only,
            Tags(cigar, md, cs, read_group),
            Storage(header, sort, write_index, compression=compression),
        ),
        limits=limits_of(max_memory),
        threads=threads or usable_cores(),
        engine=engine,
        gpu_memory=gpu_memory_of(gpu_memory),
        batch_bases=batch_bases,
        check=check,
        command_line=shlex.join(["wfacli", *sys.argv[1:]]),
    )
    tell = None if quiet else note
    execute(
        lambda: extend_run(config, PairFiles(query, target), Choice(all_, pairs), output, __version__, stats, tell),
        progress=progress,
        quiet=quiet,
    )


def scheme_of(
    scores: str | None, matrix: str | None, gaps: str | None, ambiguous: Ambiguous, n_score: int | None
) -> Scheme:
    """Return the scheme of the scoring options.

    Raises:
        UsageError: options are incompatible.
        InputError: the matrix file cannot be read, or is invalid.
    """
    if matrix is None:
        if gaps is not None:
            raise UsageError("--gaps belongs to --matrix; --scores M,X,O,E has costs of gaps in it")
        text = ",".join(map(str, DEFAULT_SCORES)) if scores is None else scores
        return Scheme.parse(text, ambiguous, n_score)
    if scores is not None:
        raise UsageError("--scores and --matrix both set substitution scores: give one of them (gaps: --gaps O,E)")
    if ambiguous is not Ambiguous.MISMATCH or n_score is not None:
        raise UsageError("--ambiguous and --n-score do not go with --matrix, which has scores for all its symbols")
    costs = None
    if gaps is not None:
        values = numbers(gaps)
        if len(values) != 2:
            raise UsageError(f"--gaps expects a gap's opening and extension like 11,1, not {gaps!r}")
        costs = (values[0], values[1])
    return Scheme.of_matrix(matrix, costs)
