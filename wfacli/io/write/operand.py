"""Names of files as htslib and samtools take them for nothing else."""

from __future__ import annotations

import os

from ...errors import WfacliError

_DELIMITER = "##idx##"  # between a file and its index (htslib's HTS_IDX_DELIM)


def operand(path: str) -> str:
    """Return a file's name as an argument of samtools.

    A relative name gets `./` before it: one that begins with a dash would be an option, and one like `data:x` an
    address.

    Raises:
        WfacliError: htslib would take the name apart.
    """
    if _DELIMITER in path:
        raise WfacliError(f"{path}: htslib takes {_DELIMITER} in a name for the end of it; rename the file")
    return path if path.startswith(os.sep) else f"{os.curdir}{os.sep}{path}"
