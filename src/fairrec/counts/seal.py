"""A checksum of a Parquet file inside of it.

It stands between the rows and what is said of them, where no reader of Parquet looks, and is
checked before one does: some damage makes a reader end the whole program.
"""

from __future__ import annotations

import hashlib

_MARK = b"sealed by FairRec"
_LENGTH = hashlib.sha256().digest_size


def sealed(content: bytes) -> bytes:
    """The same file with a seal.

    Parameters
    ----------
    content : of a Parquet file, which ends with the length of its last part and four letters
    """
    rows = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    return content[:rows] + _MARK + hashlib.sha256(content).digest() + content[rows:]


def is_as_sealed(content: bytes) -> bool | None:
    """Whether a file is as it was sealed; None where it has no seal.

    >>> is_as_sealed(sealed(b"PAR1 rows and more" + bytes([4, 0, 0, 0]) + b"PAR1"))
    True
    >>> is_as_sealed(b"PAR1")
    """
    at = content.rfind(_MARK)
    if at < 0:
        return None
    after = at + len(_MARK)
    found = hashlib.sha256(content[:at] + content[after + _LENGTH :]).digest()
    return content[after : after + _LENGTH] == found
