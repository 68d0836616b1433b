"""The survey of reads against a reference, with mappings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from .._native import MappedReader
from ..config import Config, Format, MappingSpec
from ..core.batch import U8, PairBatch
from ..errors import InputError, UsageError
from ..io.mapper.bam_places import BamPlaces
from ..io.mapper.mapped import MappedFiles, check_fits, mapped_reader, read_reference, reference_lines
from ..io.read.reader import batches_of
from ..io.write.header import header_around
from ..run.pairs import has_sam_header
from .cuts import Places
from .survey import (
    MANY_PLACES,
    Cutting,
    Seen,
    Survey,
    check_cuttable,
    counted_batches,
    drained,
    end_of,
    positions_of,
    work_of,
)

_READS, _MAPPINGS, _REFERENCE = 0, 1, 2  # indices of the streams of MappedFiles; mates follow


class MappedSurvey:
    """A pass over reads and mappings; cuts are between the mappings of a template and those of the next. See Pass."""

    def __init__(
        self, files: MappedFiles, mapping: MappingSpec, config: Config, version: str, cutting: Cutting
    ) -> None:
        """Open the files.

        Raises:
            UsageError, InputError: an input cannot be cut.
        """
        if mapping.keep_unmapped and not config.output.sort:
            raise UsageError(
                "--keep-unmapped writes unmapped reads after all others, which shards cannot: add --sort, which puts "
                "them there, or leave it out"
            )
        # Unmapped reads would all come after the last mapping, not where the shards have them.
        self._mapping = replace(mapping, keep_unmapped=False)
        self._files, self._config, self._version = files, config, version
        opened = files.open()
        self._streams = (*opened[:_REFERENCE], *opened[_REFERENCE + 1 :])
        self._bam: BamPlaces | None = None
        self.sources = opened
        self.survey = Survey(Places(len(self._streams)), prefixes=[0] * len(self._streams))
        self.batch_bases = cutting.batch_bases(config)
        self._last_is_kept = False  # whether the place behind the last batch is one of the survey's
        try:
            if files.reads_header.present:
                self._bam = BamPlaces(files.query, config.threads)
                self.sources = (self._bam.source, *opened[1:])
                self.survey.prefixes[_READS] = self._bam.prefix
            self._check()
            # Many places, since mappings that name earlier reads leave few of them.
            cut = (*self.sources[:_REFERENCE], *self.sources[_REFERENCE + 1 :])
            self._step = cutting.step(config, cut, MANY_PLACES)
            for source in self._streams:
                source.keep_places()
            self._reference = read_reference(self.sources[_REFERENCE], config.threads)
            files.read_mappings_header(self.sources[_MAPPINGS])
        except BaseException:
            self.close()
            raise

    def _check(self) -> None:
        """Raise UsageError or InputError if an input cannot be cut."""
        files = self._files
        if self.sources[_MAPPINGS].path != files.mappings:
            raise InputError(
                files.mappings,
                "has mappings of a read in several places, so that it cannot be cut: give them in the order of the "
                "reads",
            )
        for number, source in enumerate(self.sources):
            if number != _REFERENCE:
                check_cuttable(source)

    @property
    def cut_paths(self) -> list[str]:
        """See Pass."""
        return [path for path in (self._files.query, self._files.mappings, self._files.mates) if path is not None]

    def close(self) -> None:
        """See Pass."""
        for source in {*self.sources, *self._streams}:
            source.close()
        self._files.close()

    def header(self, seen: Seen) -> Iterator[bytes | U8]:
        """See Pass."""
        files, config = self._files, self._config
        if has_sam_header(config):
            lines = reference_lines(self._reference, config.output.checksums, files.reference)
            before = [header.checked() for header in (files.reads_header, files.mappings_header)]
            yield from header_around(lines, config, self._version, before)
        yield from drained(counted_batches(self._batches(), seen))

    def _batches(self) -> Iterator[PairBatch]:
        """Yield the batches of mapped reads. Raises InputError at the first fault."""
        out = self._config.output
        sam = out.format is Format.SAM
        reader = mapped_reader(self._reference, self._mapping, sam, bool(out.read_group))
        reader.track()
        for source in self._streams:
            source.inflate_ahead(self._config.threads - 1)
        try:
            for batch in batches_of(reader, self._streams, self._step):
                check_fits(self._reference, self._files.reference)
                self._add(reader, batch)
                yield batch
        except InputError as fault:
            self._files.check_cause(fault)
            raise
        self._files.finished()
        self.survey.places.end(end_of(reader, self._streams, self._bam))

    def _add(self, reader: MappedReader, batch: PairBatch) -> None:
        places = self.survey.places
        self.survey.prefixes[_MAPPINGS] = reader.first_mapping
        if reader.splits_mates() and self._last_is_kept:
            places.drop_last()
        if (early := reader.earliest_named()) >= 0:
            places.drop(early)
        positions = positions_of(reader, self._streams, self._bam)
        reads = reader.places()
        # A cut is at the same number of reads and mates, so that each shard has both of a pair.
        if positions is None or (len(reads) > _REFERENCE and reads[_READS][2] != reads[_REFERENCE][2]):
            places.skip(len(batch), work_of(batch))
            self._last_is_kept = False
        else:
            self._last_is_kept = places.add(len(batch), work_of(batch), positions, reader.early_reads)
