"""Make the script that draws the charts of a page, and the notices of all that is in it.

Vega, Vega-Lite and Vega-Embed are shipped with FairRec, so that a page needs neither a network nor
the 80 MB of vl-convert, which puts them together. `tests/test_vega.py` makes the script again and
compares. After a new version of vl-convert in constraints.txt:

    .venv/bin/python .ci/make_vega.py    # the notices come from the npm registry
"""

import io
import json
import re
import tarfile
import urllib.request
from pathlib import Path

TEMPLATES = Path(__file__).parents[1] / "src/fairrec/report/page/templates"
SCRIPT = TEMPLATES / "vega.js"
NOTICES = TEMPLATES / "vega.LICENSES.txt"
# what vl-convert 1.9.0 has in its bundle, as its repository lists it (vl-convert-rs/vendor); the
# parts of Vega (vega-scale, ...) have the licence of Vega, robust-predicates 3.0.0 that of 3.0.1
PACKAGES = [
    *("vega@6.2.0", "vega-lite@6.4.1", "vega-embed@7.0.2"),
    *("vega-interpreter@2.0.0", "vega-schema-url-parser@3.0.2", "vega-themes@3.0.0"),
    *("vega-tooltip@1.0.0",),
    *("d3-array@3.2.4", "d3-color@3.1.0", "d3-delaunay@6.0.4", "d3-dispatch@3.0.1"),
    *("d3-dsv@3.0.1", "d3-force@3.0.0", "d3-format@3.1.0", "d3-geo@3.1.1"),
    *("d3-geo-projection@4.0.0", "d3-hierarchy@3.1.2", "d3-interpolate@3.0.1", "d3-path@3.1.0"),
    *("d3-quadtree@3.0.1", "d3-scale@4.0.2", "d3-scale-chromatic@3.1.0", "d3-shape@3.2.0"),
    *("d3-time@3.1.0", "d3-time-format@4.1.0", "d3-timer@3.0.1"),
    *("clone@2.1.2", "delaunator@5.0.0", "fast-deep-equal@3.1.3"),
    *("fast-json-stable-stringify@2.1.0", "internmap@2.0.3", "json-stringify-pretty-compact@4.0.0"),
    *("lodash.debounce@4.0.8", "robust-predicates@3.0.1", "topojson-client@3.1.0"),
    *("fast-json-patch@3.1.1", "semver@7.7.1"),  # within vega-embed
]


def script() -> str:
    """The bundle of vl-convert with a notice before it, safe inside an HTML page."""
    import vl_convert

    listed = dict(one.split("@") for one in PACKAGES)
    for name, made in (
        ("vega", vl_convert.get_vega_version()),
        ("vega-embed", vl_convert.get_vega_embed_version()),
    ):
        if listed[name] != made:
            raise SystemExit(
                f"vl-convert has {name} {made}: bring PACKAGES in {__file__} up to date"
            )
    # its type says that a snippet must be given, but all of it is the default
    text = vl_convert.javascript_bundle().replace("\r\n", "\n")
    # inside a page these would end the script or begin a comment
    text = re.sub("</script", r"<\\/script", text, flags=re.IGNORECASE).replace("<!--", r"<\!--")
    main = ", ".join(PACKAGES[:3])
    return (
        f"/*! {main}: Copyright (c) 2015-2023 University of Washington Interactive Data Lab, "
        "BSD-3-Clause. With d3 (ISC) and others. All notices: "
        f"fairrec/report/page/templates/{NOTICES.name} of the package fairrec. */\n{text}"
    )


def notices() -> str:
    """The licence of every package as it is published, alike ones once."""
    names: dict[str, list[str]] = {}
    for package in PACKAGES:
        names.setdefault(_licence(*package.split("@")), []).append(package)
    parts = [f"{', '.join(those)}\n\n{text}" for text, those in names.items()]
    head = "vega.js has the following packages in it. Their licences, as each of them is published:"
    return f"\n\n{'=' * 80}\n".join([head, *parts]) + "\n"


def _licence(name: str, version: str) -> str:
    with urllib.request.urlopen(
        f"https://registry.npmjs.org/{name}/{version}", timeout=60
    ) as answer:
        said = json.load(answer)
    with urllib.request.urlopen(said["dist"]["tarball"], timeout=60) as answer:
        packed = answer.read()
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        for member in archive:
            if re.fullmatch(r"[^/]+/licen[cs]e(\.\w+)?", member.name, re.IGNORECASE):
                file = archive.extractfile(member)
                assert file is not None
                return file.read().decode().strip().replace("\r\n", "\n")
    return f"(no licence file in the package; its metadata says: {said.get('license')})"


def main() -> None:
    """Write both files."""
    SCRIPT.write_bytes(script().encode())
    NOTICES.write_bytes(notices().encode())


if __name__ == "__main__":
    main()
