"""Making of plans."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from ..config import Config, Format, MappingSpec, RunConfig
from ..core.stats import Stats
from ..errors import OutputError
from ..io.mapper.mapped import MappedFiles
from ..io.mapper.mapper import MapperFiles
from ..io.read.reader import Files, PairFiles
from ..io.read.unnamed import temporary_folder
from ..run.parts import Watch
from .map_survey import MapSurvey
from .mapped_survey import MappedSurvey
from .plan import Plan, PlannedFile
from .plan_file import HeaderSpool, write_plan
from .survey import Cutting, PairSurvey, Pass


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
        self, command: Command, config: RunConfig, files: Files, mapping: MappingSpec | None, cutting: Cutting
    ) -> None:
        """Open the inputs; the configuration must have the command's line.

        Args:
            command: the run.
            config: its configuration.
            files: PairFiles, MappedFiles or MapperFiles.
            mapping: how mappings are used; None for pairs.
            cutting: how the inputs are cut.

        Raises:
            UsageError, InputError: an input cannot be read, or not be cut.
        """
        self._command, self._config, self._files, self._cutting = command, config, files, cutting
        self._pass = _pass_over(files, mapping, config, command.version, cutting)
        self._stats = Stats()

    @property
    def watch(self) -> Watch:
        """Progress of write()."""
        sources = self._pass.sources
        total = sum(source.size or 0 for source in sources)
        return Watch(total, lambda: sum(source.bytes_read for source in sources), self._stats)

    def close(self) -> None:
        """Close the inputs."""
        self._pass.close()

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
                for text in self._pass.header(lambda pairs: self._stats.add("counts", {"pairs": pairs})):
                    header.add(text)
                plan = self._plan()
                write_plan(path, plan, header)
        except OSError as error:
            reason = error.strerror or error
            raise OutputError(f"temporary file for a header, in {temporary_folder()} (TMPDIR): {reason}") from None
        return plan

    def _plan(self) -> Plan:
        paths = [path for path in dict.fromkeys(self._files.paths) if path is not None]
        survey, command = self._pass.survey, self._command
        return Plan(
            version=command.version,
            command=command.name,
            arguments=command.arguments,
            command_line=command.line,
            output=command.output,
            spec=self._config.output,
            reference=self._files.reference,
            inputs=tuple(PlannedFile.of(path) for path in paths),
            streams=tuple(paths.index(path) for path in self._pass.cut_paths),
            prefixes=tuple(survey.prefixes),
            layout=survey.layout,
            columns=survey.columns,
            batch_bases=self._pass.batch_bases,
            folder=str(Path.cwd()),
            cuts=survey.places.balanced(self._cutting.shards),
        )


def _pass_over(files: Files, mapping: MappingSpec | None, config: RunConfig, version: str, cutting: Cutting) -> Pass:
    """Open the inputs of a run for the pass over them. Raises UsageError, InputError."""
    if isinstance(files, PairFiles):
        return PairSurvey(files, config, version, cutting)
    assert isinstance(config, Config) and mapping
    if isinstance(files, MapperFiles):
        return MapSurvey(files, config, version, cutting)
    assert isinstance(files, MappedFiles)
    return MappedSurvey(files, mapping, config, version, cutting)


def for_shard(config: RunConfig, plan: Plan) -> RunConfig:
    """Return the configuration of a shard of a run: a part has no header, and may have set batches."""
    out = config.output
    output = replace(out, header=out.header and out.format is not Format.SAM, index=False)
    return replace(config, output=output, batch_bases=plan.batch_bases or config.batch_bases)  # type: ignore[type-var]
