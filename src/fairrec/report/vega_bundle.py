"""The script that draws the charts, which every page carries with it."""

from __future__ import annotations

import os
import sys
import tempfile
from functools import cache
from importlib.metadata import version
from pathlib import Path


@cache
def vega_bundle() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script, safe inside an HTML page.

    Putting it together takes seconds, so it is kept on disk for the next time.
    """
    kept = _cache_folder() / f"vega-{version('vl-convert-python')}.js"
    try:
        return kept.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        pass
    import vl_convert

    # its type says that a snippet must be given, but all of it is the default
    script = vl_convert.javascript_bundle().replace("\r\n", "\n")  # type: ignore[call-arg]
    # inside a page these would end the script or begin a comment
    script = script.replace("</script", r"<\/script").replace("<!--", r"<\!--")
    _keep(kept, script)
    return script


def _cache_folder() -> Path:
    """Where this user's caches are."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or tempfile.gettempdir()) / "fairrec" / "cache"
    if sys.platform == "darwin":
        return Path("~/Library/Caches/fairrec").expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "fairrec"


def _keep(file: Path, script: str) -> None:
    """Write the file whole or not at all; a cache that cannot be written is none."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=file.parent, delete=False) as f:
            f.write(script)
        Path(f.name).replace(file)
    except (OSError, RuntimeError):
        pass
