"""Fingerprints of input files, which show that a file is not the one that a plan was made of."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass

from ..errors import InputError
from ..io.read.remote import ranges_of, size_of
from ..io.read.urls import is_url

_SAMPLES, _SAMPLE = 64, 1 << 16  # number of samples, and bytes of each


@dataclass(frozen=True)
class Fingerprint:
    """Identity of a file's content: its size, and a digest of samples.

    Samples are compared instead of the whole file, since every shard checks every input before it begins.

    Attributes:
        size: bytes of the file.
        sha256: digest of the first and last 64 KiB and of 62 blocks of 64 KiB at equal distances; of a file of at
            most 4 MiB, of all bytes.
    """

    size: int
    sha256: str

    @classmethod
    def of(cls, path: str) -> Fingerprint:
        """Read the samples of a file. Raises InputError."""
        digest = hashlib.sha256()
        try:
            if is_url(path):
                size = size_of(path)
                for sample in ranges_of(path, [(at, min(at + _SAMPLE, size)) for at in _offsets(size)]):
                    digest.update(sample)
                return cls(size, digest.hexdigest())
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            try:
                size = os.fstat(descriptor).st_size
                for at in _offsets(size):
                    digest.update(os.pread(descriptor, _SAMPLE, at))
            finally:
                os.close(descriptor)
        except OSError as error:
            raise InputError(path, error.strerror or str(error)) from None
        return cls(size, digest.hexdigest())


def _offsets(size: int) -> list[int]:
    if size <= _SAMPLES * _SAMPLE:
        return list(range(0, size, _SAMPLE))
    last = size - _SAMPLE
    return [number * last // (_SAMPLES - 1) for number in range(_SAMPLES)]
