"""Making of plans."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from ..config import Config, Format, MappingSpec, RunConfig
from ..core.batch import PairBatch
from ..core.stats import Stats
from ..errors import OutputError
from ..io.mapper.mapped import MappedFiles
from ..io.read.names import with_sam_names
from ..io.read.reader import Files, PairFiles
from ..io.read.sources import Source
from ..io.read.unnamed import temporary_folder
from ..io.write.header import header_around
from ..io.write.targets import sq_lines
from ..run.pairs import has_sam_header
from ..run.parts import Watch
from .mapped_survey import MappedSurvey
from .plan import Plan, PlannedFile
from .plan_file import HeaderSpool, write_plan
from .survey import Survey, batch_bases_of, survey_pairs


@dataclass(frozen=True)
class Command:
    """The run that is planned.

    Attributes:
        name: align, map or extend.
        arguments: words of its command line, without the command.
        line: its command line, as one machine has it.
        output: path of its output; None: standard output.
        version: version of wfacli.
    """

    name: str
    arguments: tuple[str, ...]
    line: str
    output: str | None
    version: str


class Planning:
    """A pass over the inputs of a run, after which the plan is written."""

    def __init__(
        self, command: Command, config: RunConfig, files: Files, mapping: MappingSpec | None, shards: int
    ) -> None:
        """Take what is planned; its configuration must have the command's line.

        Args:
            command: the run.
            config: its configuration.
            files: PairFiles, or MappedFiles.
            mapping: how mappings are used; None for pairs.
            shards: number of shards.
        """
        self._command, self._config, self._files = command, config, files
        self._mapping, self._shards = mapping, shards
        self._sources: tuple[Source, ...] = ()
        self._stats = Stats()

    @property
    def watch(self) -> Watch:
        """Progress of write()."""
        sizes = [source.size or 0 for source in self._sources]
        return Watch(sum(sizes), lambda: sum(source.bytes_read for source in self._sources), self._stats)

    def open(self) -> None:
        """Open the inputs. Raises InputError."""
        self._sources = self._files.open()

    def close(self) -> None:
        """Close the inputs."""
        for source in self._sources:
            source.close()
        if isinstance(self._files, MappedFiles):
            self._files.close()

    def write(self, path: str) -> Plan:
        """Read the inputs, and write the plan.

        Raises:
            UsageError, InputError: an input cannot be cut, or is faulty.
            OutputError: the plan, or a temporary file, cannot be written.
        """
        try:
            with ExitStack() as stack:
                header = HeaderSpool()
                stack.callback(header.close)
                survey, pieces = self._survey()
                for text in pieces:
                    header.add(text)
                plan = self._plan(survey)
                write_plan(path, plan, header)
        except OSError as error:
            reason = error.strerror or error
            raise OutputError(f"temporary file for a header, in {temporary_folder()} (TMPDIR): {reason}") from None
        return plan

    def _survey(self) -> tuple[Survey, Iterable[bytes]]:
        """Return the survey, and the header of SAM whose iteration completes it."""
        files = self._files
        if isinstance(files, PairFiles):
            survey, batches = survey_pairs(files, self._config, self._shards, self._sources)
            return survey, self._header_of_pairs(self._counted(batches))
        assert isinstance(files, MappedFiles) and self._mapping and isinstance(self._config, Config)
        mapped = MappedSurvey(files, self._mapping, self._config, self._command.version, self._shards, self._sources)
        return mapped.survey, _then(mapped.header, self._counted(mapped.batches()))

    def _header_of_pairs(self, batches: Iterator[PairBatch]) -> Iterator[bytes]:
        files = self._files
        if self._config.output.format is Format.SAM:
            batches = with_sam_names(batches, files.query, files.reference)
        if has_sam_header(self._config):
            lines = sq_lines(files.reference, batches)
            yield from header_around(lines, self._config, self._command.version)
        else:
            for _ in batches:
                yield b""

    def _counted(self, batches: Iterator[PairBatch]) -> Iterator[PairBatch]:
        for batch in batches:
            self._stats.add("counts", {"pairs": len(batch)})
            yield batch

    def _plan(self, survey: Survey) -> Plan:
        paths = [path for path in dict.fromkeys(self._files.paths) if path is not None]
        cut = self._cut_paths()
        command = self._command
        return Plan(
            version=command.version,
            command=command.name,
            arguments=command.arguments,
            command_line=command.line,
            output=command.output,
            inputs=tuple(PlannedFile.of(path) for path in paths),
            streams=tuple(paths.index(path) for path in cut),
            prefixes=tuple(survey.prefixes),
            layout=survey.layout,
            columns=survey.columns,
            batch_bases=batch_bases_of(self._config),
            header=has_sam_header(self._config),
            folder=str(Path.cwd()),
            cuts=survey.places.balanced(self._shards),
        )

    def _cut_paths(self) -> list[str]:
        files = self._files
        if isinstance(files, MappedFiles):
            return [path for path in (files.query, files.mappings, files.mates) if path is not None]
        return [path for path in files.paths if path is not None]


def _then(header: Callable[[], Iterator[bytes]], batches: Iterator[PairBatch]) -> Iterator[bytes]:
    """Yield a header, and read all batches after it."""
    yield from header()
    for _ in batches:
        yield b""


def for_shard(config: RunConfig, plan: Plan) -> RunConfig:
    """Return the configuration of a shard of a run: a part has no header, and may have set batches."""
    out = config.output
    output = replace(out, header=out.header and out.format is not Format.SAM, index=False)
    return replace(config, output=output, batch_bases=plan.batch_bases or config.batch_bases)  # type: ignore[type-var]
