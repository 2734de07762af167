"""The script that draws the charts, which every page carries with it."""

from __future__ import annotations

import hashlib
import os
import re
import sys
import tempfile
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path

from fairrec.core.files import write_text
from fairrec.core.version import __version__


@cache
def vega_bundle() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script, safe inside an HTML page.

    Putting it together takes seconds, so it is kept on disk for the next time.
    """
    folder = _cache_folder()
    kept = None
    if folder is not None:
        kept = folder / f"vega-{version('vl-convert-python')}-fairrec-{__version__}.js"
        script = _kept(kept)
        if script is not None:
            return script
    import vl_convert

    # its type says that a snippet must be given, but all of it is the default
    script = vl_convert.javascript_bundle().replace("\r\n", "\n")  # type: ignore[call-arg]
    # inside a page these would end the script or begin a comment
    script = re.sub("</script", r"<\\/script", script, flags=re.IGNORECASE)
    script = script.replace("<!--", r"<\!--")
    if kept is not None:
        _keep(kept, script)
    return script


def _cache_folder() -> Path | None:
    """Where this user's caches are; None where that cannot be told."""
    try:
        if sys.platform == "win32":
            home = os.environ.get("LOCALAPPDATA") or tempfile.gettempdir()
            return Path(home) / "fairrec" / "cache"
        if sys.platform == "darwin":
            return Path("~/Library/Caches/fairrec").expanduser()
        given = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
        return given / "fairrec" if given.is_absolute() else None
    except RuntimeError:  # there is no home
        return None


def _kept(file: Path) -> str | None:
    """The script as it was kept; None where there is none, or it was changed since."""
    try:
        checksum, _, script = file.read_text(encoding="utf-8").partition("\n")
    except (OSError, UnicodeDecodeError):
        return None
    return script if checksum == _checksum(script) else None


def _checksum(script: str) -> str:
    return hashlib.sha256(script.encode()).hexdigest()


def _keep(file: Path, script: str) -> None:
    """Write the file whole or not at all; a cache that cannot be written is none."""
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        write_text(file, f"{_checksum(script)}\n{script}")
