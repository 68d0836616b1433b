"""The survey of reads that each shard maps for itself."""

from __future__ import annotations

from collections.abc import Iterator

from .._native import PairReader
from ..config import Config
from ..core.batch import PairBatch
from ..errors import InputError, UsageError
from ..io.mapper.mapped import read_reference, reference_lines
from ..io.mapper.mapper import MapperFiles, check_alike
from ..io.mapper.presets import PAIRING
from ..io.mapper.swapped import check_order
from ..io.read.reader import alignment_format, batches_of
from ..io.read.section import Position
from ..io.read.sources import Source
from ..io.write.header import header_around
from ..run.pairs import has_sam_header
from .cuts import Places
from .survey import (
    Cutting,
    Seen,
    Survey,
    add_place,
    check_cuttable,
    counted_batches,
    drained,
    end_of,
    positioned,
    surveyed,
    work_of,
)

_MAX_STEP = 1 << 20  # bases of reads between two places
_BEGIN = Position(0, 0, 0, 0)


class MapSurvey:
    """A pass over reads; cuts are between reads, or pairs of them. See Pass."""

    # Batches of a run on one machine depend on where reads map, so that no cut can be between them.
    batch_bases: int | None = None

    def __init__(self, files: MapperFiles, config: Config, version: str, cutting: Cutting) -> None:
        """Open the files.

        Raises:
            UsageError, InputError: an input cannot be cut.
        """
        reads = (files.query, *files.more)
        if len(set(reads)) < len(reads):
            raise UsageError("a file of reads is named twice")
        self._files, self._config, self._version = files, config, version
        self._reference = Source(files.reference)
        self.sources: tuple[Source, ...] = ()
        try:
            for path in self.cut_paths:
                self.sources += (Source(path),)
                check_cuttable(self.sources[-1])
                if name := alignment_format(self.sources[-1]):
                    raise InputError(path, f"is {name}, which shards cannot cut: samtools fastq FILE | bgzip > NEW")
            if files.more:
                check_alike(self.sources)
            check_order(self._reference, self.sources, files.preset)
        except BaseException:
            self.close()
            raise
        self.survey = Survey(Places(len(self.sources)), prefixes=[0] * len(self.sources))
        self._step = cutting.step_of(self.sources, _MAX_STEP)

    @property
    def cut_paths(self) -> list[str]:
        """See Pass."""
        files = self._files
        return [path for path in (files.query, *files.more, files.mates) if path is not None]

    def header(self, seen: Seen) -> Iterator[bytes]:
        """See Pass."""
        config, files = self._config, self._files
        if has_sam_header(config):
            reference = read_reference(self._reference, config.threads)
            lines = reference_lines(reference, config.output.checksums, files.reference)
            yield from header_around(lines, config, self._version, mapper=files.planned_mapper().line)
        yield from drained(counted_batches(self._batches(), seen))

    def _batches(self) -> Iterator[PairBatch]:
        places, threads = self.survey.places, self._config.threads
        if self._files.mates is not None:
            return surveyed(PairReader("two", False, False), places, self.sources, self._step, threads)
        if self._files.preset in PAIRING:
            return self._adjacent_mates()
        return self._file_by_file()

    def _file_by_file(self) -> Iterator[PairBatch]:
        """Yield the batches of single reads; a cut has a position in each file, perhaps its end or beginning."""
        places = self.survey.places
        positions = [_BEGIN] * len(self.sources)
        for number, source in enumerate(self.sources):
            reader = PairReader("targets", False, False)
            for batch, found in positioned(reader, (source,), self._step, self._config.threads):
                if found:
                    positions[number] = found[0]
                add_place(places, batch, positions if found else None)
                yield batch
            (positions[number],) = end_of(reader, (source,))
        places.end(positions)

    def _adjacent_mates(self) -> Iterator[PairBatch]:
        """Yield the batches of a file in which mates may follow one another, between which it is not cut."""
        (source,) = self.sources
        reader, places = PairReader("targets", False, False), self.survey.places
        reader.track()
        source.keep_places()
        source.inflate_ahead(self._config.threads - 1)
        held: tuple[int, int, list[Position]] | None = None  # the place behind the batch before
        template = ""  # of the last read of that batch
        for batch in batches_of(reader, self.sources, self._step):
            if held and _template_of(batch, 0) != template:
                places.add(*held)
            elif held:
                places.skip(*held[:2])
            held = len(batch), work_of(batch), end_of(reader, self.sources)
            template = _template_of(batch, len(batch) - 1)
            yield batch
        if held:
            places.skip(*held[:2])
        places.end(end_of(reader, self.sources))

    def close(self) -> None:
        """See Pass."""
        for source in (self._reference, *self.sources):
            source.close()


def _template_of(batch: PairBatch, row: int) -> str:
    """Return the name of a read without the number of the mate."""
    name = batch.records.target_name(row)
    return name[:-2] if name.endswith(("/1", "/2")) else name
