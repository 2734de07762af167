"""Build the files of a release twice, see that both have the same bytes, and what is in them.

    python .ci/release.py dist

The last commit is built, nothing else: its time is the time of all files. The wheel is built from
the sdist, so that an sdist without something that is needed shows. `setuptools` and `build` are
those of the Python that runs it.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("src/fairrec/", "src/fairrec_paper/")
NOTICES = f"{PACKAGES[0]}report/page/templates/vega.LICENSES.txt"
BESIDE = ("CHANGELOG.md", "CITATION.cff", "LICENSE", "MANIFEST.in", "README.md", "pyproject.toml")
"""What the sdist has besides the packages."""
MADE = {
    "sdist": (
        *("PKG-INFO", "setup.cfg"),
        *(
            f"src/fairrec.egg-info/{name}"
            for name in (
                *("PKG-INFO", "SOURCES.txt", "dependency_links.txt", "entry_points.txt"),
                *("requires.txt", "top_level.txt"),
            )
        ),
    ),
    "wheel": (
        *("METADATA", "RECORD", "WHEEL", "entry_points.txt", "top_level.txt"),
        *("licenses/LICENSE", f"licenses/{NOTICES}"),
    ),
}
"""What the build adds: to the root of the sdist, to the metadata of the wheel."""
SITE = "https://fairrec.github.io/fairrec/"
RAW = "https://raw.githubusercontent.com/fairrec/fairrec/main/"


def expected(kind: str, tracked: Iterable[str], name: str) -> set[str]:
    """The files of an archive: all of the packages that are in git, and nothing else.

    Parameters
    ----------
    kind : sdist or wheel
    tracked : the files in git
    name : `fairrec-VERSION`
    """
    files = {file for file in tracked if file.startswith(PACKAGES)}
    if kind == "sdist":
        return {f"{name}/{file}" for file in {*files, *BESIDE, *MADE[kind]}}
    made = {f"{name}.dist-info/{file}" for file in MADE[kind]}
    return {file.removeprefix("src/") for file in files} | made


def contents(archive: Path) -> Counter[str]:
    """The files in an archive, and how often each is there; a link is told as such."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            return Counter(wheel.namelist())
    with tarfile.open(archive) as sdist:
        files = [member for member in sdist if not member.isdir()]
        return Counter(one.name if one.isfile() else f"{one.name} (no file)" for one in files)


def refuse_other_contents(archive: Path, tracked: Iterable[str]) -> None:
    """An error where something is missing, or is there that should not be."""
    kind = "wheel" if archive.suffix == ".whl" else "sdist"
    name = "-".join(archive.name.removesuffix(".tar.gz").split("-")[:2])
    there, wanted = contents(archive), Counter(expected(kind, tracked, name))
    if there != wanted:
        raise SystemExit(
            f"{archive.name}: missing {sorted(wanted - there)}, not expected "
            f"{sorted(there - wanted)}"
        )


def repack(sdist: Path, time: int) -> None:
    """The same sdist with one time, owner and order, as setuptools knows no other way."""
    with tarfile.open(sdist) as archive:
        members = sorted(archive.getmembers(), key=lambda member: member.name)
        parts = [(one, archive.extractfile(one) if one.isfile() else None) for one in members]
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as new:
            for member, content in parts:
                member.mtime, member.uid, member.gid = time, 0, 0
                member.uname = member.gname = ""
                member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
                member.pax_headers = {}
                new.addfile(member, content)
    sdist.write_bytes(gzip.compress(packed.getvalue(), mtime=time))


def build(tree: Path, out: Path, time: int) -> list[Path]:
    """The sdist of a tree, and the wheel of the sdist; warnings are errors."""
    out.mkdir()
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(time), "PYTHONWARNINGS": "error"}

    def run(kind: str, source: Path) -> None:
        command = [sys.executable, "-m", "build", "--no-isolation", kind, "--outdir", str(out)]
        subprocess.run(
            [*command, str(source)], env=environment, stdout=subprocess.DEVNULL, check=True
        )

    run("--sdist", tree)
    (sdist,) = out.iterdir()
    repack(sdist, time)
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(sdist) as archive:
            archive.extractall(folder, filter="data")
        (unpacked,) = Path(folder).iterdir()
        run("--wheel", unpacked)
    return sorted(out.iterdir())


def link_absolutely(readme: str) -> str:
    """The README for a package index: links to files of the repository lead to the site.

    >>> link_absolutely("[CI](docs/how-to/ci.md#x)")
    '[CI](https://fairrec.github.io/fairrec/how-to/ci.html#x)'
    """
    readme = re.sub(r"\]\(docs/images/", f"]({RAW}docs/images/", readme)
    return re.sub(r"\]\(docs/([\w/-]+)\.md", rf"]({SITE}\1.html", readme)


def git(*words: str) -> bytes:
    """What git says of this repository."""
    return subprocess.run(["git", "-C", str(ROOT), *words], check=True, capture_output=True).stdout


def main(dist: Path) -> None:
    """Build twice, compare, check, and write the files with their checksums."""
    if git("status", "--porcelain"):
        raise SystemExit("There are changes that are not committed; a release is of a commit.")
    os.umask(0o022)
    time = int(git("log", "-1", "--format=%ct"))
    tracked = git("ls-files").decode().splitlines()
    tree = git("archive", "--format=tar", "HEAD")
    with tempfile.TemporaryDirectory() as folder:
        built = []
        for turn in ("first", "second"):
            with tarfile.open(fileobj=io.BytesIO(tree)) as archive:
                archive.extractall(f"{folder}/{turn}-tree", filter="data")
            readme = Path(folder, f"{turn}-tree", "README.md")
            readme.write_text(link_absolutely(readme.read_text("utf-8")), "utf-8")
            built.append(build(Path(folder, f"{turn}-tree"), Path(folder, turn), time))
        dist.mkdir(parents=True, exist_ok=True)
        sums = []
        for first, second in zip(*built, strict=True):
            content = first.read_bytes()
            if (first.name, content) != (second.name, second.read_bytes()):
                raise SystemExit(f"{first.name}: two builds of one commit differ")
            refuse_other_contents(first, tracked)
            (dist / first.name).write_bytes(content)
            sums.append(f"{hashlib.sha256(content).hexdigest()}  {first.name}\n")
    (dist / "SHA256SUMS").write_text("".join(sums))
    print("".join(sums), end="")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
