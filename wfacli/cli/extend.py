"""`wfacli extend`: turns options into a run."""

from __future__ import annotations

from functools import partial

from ..config import Ambiguous
from ..core.cores import usable_cores
from ..errors import UsageError
from ..io.read.reader import PairFiles
from ..io.read.sources import is_pipe
from ..io.write.output import refuse_overwriting
from ..run.extend import ExtendConfig, extend_run
from ..run.pairs import Choice
from ..scoring.scheme import DEFAULT_SCORES, Scheme, numbers
from ..scoring.spec import ExtendMode, ExtendSpec
from .console import note, warning
from .extend_options import ExtendEngineOptions, ExtendExtent, ExtendScores, Scores, Selection
from .groups import grouped
from .options import CheckOption, DebugOption, MaxLineOption, Reporting, command_line
from .outputs import Records
from .report_options import Reports
from .requests import Request
from .scoring import gpu_memory_of, limits_of
from .shard_options import ShardChoice


@grouped
def extend(
    *,
    pairs: Selection,
    scores: ExtendScores,
    extent: ExtendExtent,
    records: Records,
    engine: ExtendEngineOptions,
    check: CheckOption = False,
    max_line: MaxLineOption = "16M",
    reporting: Reporting,
    reports: Reports,
    shard: ShardChoice,
    debug: DebugOption = False,
) -> Request:
    """Aligns pairs under any scores; the help is extend_options.EXTEND_HELP."""
    shard.refuse()
    written = reports.files(reporting.stats, mapped=False, scores_only=scores.score_only)
    refuse_overwriting([scores.matrix], [records.output, *written.paths])
    config = ExtendConfig(
        spec=ExtendSpec(
            scheme=scheme_of(scores),
            mode=extent.mode or ExtendMode.LOCAL,
            score_only=scores.score_only,
            second_best=scores.second_best,
            band=extent.band,
            xdrop=extent.xdrop,
            zdrop=extent.zdrop,
        ),
        output=records.spec(
            "extend",
            score_only=scores.score_only,
            piped=is_pipe(pairs.target or pairs.query),
            tell=None if reporting.quiet else note,
        ),
        limits=limits_of(engine.max_memory),
        threads=engine.threads or usable_cores(),
        engine=engine.engine,
        gpu_memory=gpu_memory_of(engine.gpu_memory),
        batch_bases=engine.batch_bases,
        check=check,
        command_line=command_line(),
    )
    if extent.mode is None and not reporting.quiet:
        warning("extend aligns locally, since --mode is not given: give --mode local, or another mode")
    choice = Choice(pairs.all_, pairs.pair_list)
    chosen = pairs.all_ or pairs.pair_list is not None
    run = partial(extend_run, choice=choice)
    files = PairFiles(pairs.query, pairs.target)
    return Request(
        "extend",
        config,
        lambda: files,
        run,
        records.output,
        reporting,
        uncut="--all and --pair-list choose pairs out of whole files, which cannot be cut" if chosen else "",
        reports=written,
    )


def scheme_of(options: Scores) -> Scheme:
    """Return the scheme of the scoring options.

    Raises:
        UsageError: options are incompatible.
        InputError: the matrix file cannot be read, or is invalid.
    """
    scores, matrix, gaps = options.scores, options.matrix, options.gaps
    if matrix is None:
        if gaps is not None:
            raise UsageError("--gaps requires --matrix; --scores M,X,O,E includes the gap penalties")
        text = ",".join(map(str, DEFAULT_SCORES)) if scores is None else scores
        return Scheme.parse(text, options.ambiguous, options.n_score)
    if scores is not None:
        raise UsageError("--scores and --matrix both set substitution scores: give one of them (gaps: --gaps O,E)")
    if options.ambiguous is not Ambiguous.MISMATCH or options.n_score is not None:
        raise UsageError(
            "--ambiguous and --n-score cannot be used with --matrix, which has scores for all its symbols"
        )
    costs = None
    if gaps is not None:
        values = numbers(gaps)
        if len(values) != 2:
            raise UsageError(f"--gaps expects a gap's opening and extension like 11,1, not {gaps!r}")
        costs = (values[0], values[1])
    return Scheme.of_matrix(matrix, costs)
