"""The survey of reads that each shard maps for itself."""

from __future__ import annotations

from collections.abc import Iterator

from .._native import PairReader
from ..config import Config
from ..core.batch import U8, PairBatch
from ..errors import UsageError
from ..io.mapper.bam_places import BamPlaces
from ..io.mapper.bam_reads import BamReads
from ..io.mapper.mapped import read_reference, reference_lines
from ..io.mapper.mapper import MapperFiles, check_alike
from ..io.mapper.presets import PAIRING
from ..io.mapper.swapped import check_order
from ..io.read.reader import alignment_format, batches_of, refuse_alignments
from ..io.read.sam_header import InputHeader, read_header
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
        self._bam: BamPlaces | None = None
        self._process: BamReads | None = None
        self._reads_header = InputHeader()
        self._prefixes = [0] * len(self.cut_paths)
        try:
            for path in self.cut_paths:
                self.sources += (Source(path),)
                check_cuttable(self.sources[-1])
            if len(self.sources) == 1 and alignment_format(self.sources[0]) in ("BAM", "SAM"):
                self._convert(config.threads)
            self._streams = (self._process.source,) if self._process else self.sources
            for source in self._streams:
                refuse_alignments(source)
            if files.more:
                check_alike(self.sources)
            check_order(self._reference, self._streams, files.preset)
        except BaseException:
            self.close()
            raise
        self.survey = Survey(Places(len(self.sources)), prefixes=self._prefixes)
        self._step = cutting.step_of(self.sources, _MAX_STEP)

    def _convert(self, threads: int) -> None:
        """Start the process that converts reads in BAM or SAM. Raises InputError."""
        self._reads_header = read_header(self.sources[0])
        self.sources[0].check_end()
        self.sources[0].close()
        self._bam = BamPlaces(self._files.query, threads)
        self.sources = (self._bam.source,)
        self._prefixes = [self._bam.prefix]
        self._process = BamReads(self._files.query, True)

    @property
    def cut_paths(self) -> list[str]:
        """See Pass."""
        files = self._files
        return [path for path in (files.query, *files.more, files.mates) if path is not None]

    def header(self, seen: Seen) -> Iterator[bytes | U8]:
        """See Pass."""
        config, files = self._config, self._files
        if has_sam_header(config):
            reference = read_reference(self._reference, config.threads)
            lines = reference_lines(reference, config.output.checksums, files.reference)
            before = [self._reads_header.checked()]
            yield from header_around(lines, config, self._version, before, files.planned_mapper().line)
        yield from drained(counted_batches(self._batches(), seen))
        if self._process:
            self._process.finished()

    def _batches(self) -> Iterator[PairBatch]:
        places, threads = self.survey.places, self._config.threads
        if self._files.mates is not None:
            return surveyed(PairReader("two", False, False), places, self._streams, self._step, threads)
        if self._files.preset in PAIRING:
            return self._adjacent_mates()
        return self._file_by_file()

    def _file_by_file(self) -> Iterator[PairBatch]:
        """Yield the batches of single reads; a cut has a position in each file, perhaps its end or beginning."""
        places = self.survey.places
        positions = [_BEGIN] * len(self._streams)
        for number, source in enumerate(self._streams):
            reader = PairReader("targets", False, False)
            for batch, found in positioned(reader, (source,), self._step, self._config.threads, bam=self._bam):
                if found:
                    positions[number] = found[0]
                add_place(places, batch, positions if found else None)
                yield batch
            (positions[number],) = end_of(reader, (source,), self._bam)
        places.end(positions)

    def _adjacent_mates(self) -> Iterator[PairBatch]:
        """Yield the batches of a file in which mates may follow one another, between which it is not cut."""
        (source,) = self._streams
        reader, places = PairReader("targets", False, False), self.survey.places
        reader.track()
        source.keep_places()
        held: tuple[int, int, list[Position]] | None = None  # the place behind the batch before
        template = ""  # of the last read of that batch
        for batch in batches_of(reader, self._streams, self._step, threads=self._config.threads):
            if held and _template_of(batch, 0) != template:
                places.add(*held)
            elif held:
                places.skip(*held[:2])
            held = len(batch), work_of(batch), end_of(reader, self._streams, self._bam)
            template = _template_of(batch, len(batch) - 1)
            yield batch
        if held:
            places.skip(*held[:2])
        places.end(end_of(reader, self._streams, self._bam))

    def close(self) -> None:
        """See Pass."""
        for source in (self._reference, *self.sources):
            source.close()
        if self._process:
            self._process.source.close()
            self._process.close()


def _template_of(batch: PairBatch, row: int) -> str:
    """Return the name of a read without the number of the mate."""
    name = batch.records.target_name(row)
    return name[:-2] if name.endswith(("/1", "/2")) else name
