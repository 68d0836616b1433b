"""Names of inputs and outputs that are URLs, such as s3://bucket/reads.fq.gz, beside names of files."""

from __future__ import annotations

import re
from pathlib import Path

from ...errors import UsageError

_URL = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)
_CHAINED = re.compile(r"[a-z][a-z0-9+.-]*::", re.IGNORECASE)  # of fsspec: simplecache::s3://bucket/x
_LOCAL = re.compile(r"^(--[a-z-]+=|-[a-zA-Z])?(?:file|local)://", re.IGNORECASE)
_MEMORY = re.compile(r"memory://", re.IGNORECASE)  # of fsspec: kept by one process
_USER = re.compile(r"(?<=://)[^/@\s]*@")
# Parameters of signed URLs (S3, Google, Azure, CloudFront) and of tokens.
_SIGNED = re.compile(r"[?&](x-amz-[a-z-]+|x-goog-[a-z-]+|signature|sig|[a-z_-]*(?:token|secret|password|key))=", re.I)


def is_url(path: str | None) -> bool:
    """Return True if a name is a URL, which fsspec opens, and False if it is that of a file."""
    return path is not None and bool(_URL.match(path))


def check_url(url: str) -> None:
    """Raise UsageError if a URL contains credentials: command lines are stored in plans and in SAM's header."""
    secret = "a user or password" if _USER.search(url) else "a signature or key" if _SIGNED.search(url) else ""
    if secret:
        raise UsageError(
            f"{without_secrets(url)}: the URL contains {secret}, which would be stored in plans and headers: put "
            "credentials into the environment or the settings of fsspec"
        )


def plain_words(words: list[str]) -> list[str]:
    """Return the words of a command line with file:// and local:// URLs as names of files.

    A file then has one kind of name wherever files are compared, such as inputs and outputs.

    Raises:
        UsageError: a URL contains credentials, or names the memory of this process.
    """
    for word in words:
        value = word.partition("=")[2] if word.startswith("--") and "=" in word else word
        if is_url(value) or _CHAINED.match(value):
            check_url(value)
        if _MEMORY.match(value):
            raise UsageError(f"{value}: nothing of it is left when the command ends: name a file, or a URL of a store")
    return [_LOCAL.sub(r"\1", word) for word in words]


def without_secrets(text: str) -> str:
    """Return a text in which users, passwords and parameters of URLs are hidden."""
    return re.sub(r"(://[^\s?]*)\?[^\s'\"]*", r"\1?***", _USER.sub("***@", text))


def joined(folder: str, name: str) -> str:
    """Return the name of a file in a folder; either may be a URL's."""
    return f"{folder.rstrip('/')}/{name}" if is_url(folder) else str(Path(folder) / name)
