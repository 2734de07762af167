"""Fetch axe-core, which the tests of the page run in the browser, into the folder `.axe`.

It is not part of FairRec: its licence (MPL-2.0) is its own, and nothing of it is shipped.
"""

import base64
import hashlib
import io
import tarfile
import urllib.request
from pathlib import Path

VERSION = "4.14.0"
SHA512 = "9WTZxEjsZ7b13TH8JPmbV2z8CHbl80/2hm3XPEG4JgNdQLK81IBRXmSxHfMAOkSqQeRxT/0dwNDz2GOm3zzpcQ=="
ADDRESS = f"https://registry.npmjs.org/axe-core/-/axe-core-{VERSION}.tgz"
FILE = Path(__file__).parents[1] / ".axe" / f"axe-{VERSION}.min.js"


def main() -> None:
    """Fetch the one file that is needed, unless it is there."""
    if FILE.exists():
        return
    with urllib.request.urlopen(ADDRESS, timeout=60) as answer:
        packed = answer.read()
    if base64.b64encode(hashlib.sha512(packed).digest()).decode() != SHA512:
        raise SystemExit(f"{ADDRESS} is not what it was: the sum of its bytes differs")
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        script = archive.extractfile("package/axe.min.js")
        assert script is not None
        FILE.parent.mkdir(exist_ok=True)
        FILE.write_bytes(script.read())


if __name__ == "__main__":
    main()
