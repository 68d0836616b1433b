"""File names as arguments of htslib and samtools."""

from __future__ import annotations

import os

from ...errors import WfacliError

_DELIMITER = "##idx##"  # separates a file name from that of its index (htslib's HTS_IDX_DELIM)


def operand(path: str) -> str:
    """Return a file's name as an argument of samtools.

    A relative name is prefixed with `./`: a leading dash would make it an option, and a prefix like `data:` a URL.

    Raises:
        WfacliError: htslib would split the name.
    """
    if _DELIMITER in path:
        raise WfacliError(f"{path}: htslib treats {_DELIMITER} as the end of a name; rename the file")
    return path if path.startswith(os.sep) else f"{os.curdir}{os.sep}{path}"
