"""The Last.fm 360K reader on a generated file of full size, in the publisher's format."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import data
from benchmarks.measure import Row, call_in_child, in_gigabytes, in_seconds

if TYPE_CHECKING:
    import polars as pl

N_USERS = 359_347
N_ROWS = 17_559_530
N_ARTISTS = 294_015
N_COUNTRIES = 239
PLAYS = "usersha1-artmbid-artname-plays.tsv"
PROFILE = "usersha1-profile.tsv"
MAX_SECONDS = 180
MAX_BYTES = 4e9


def run(shrink: int) -> Iterator[Row]:
    """Time and peak memory of one preparation in a process of its own."""
    raw = data.folder(shrink) / "lfm360k"
    out = data.folder(shrink) / "lfm360k-bundle"
    if not (raw / PLAYS).exists():
        call_in_child(make_lfm360k, shrink)
    shutil.rmtree(out, ignore_errors=True)
    child, n_kept = call_in_child(prepare_lfm360k, str(raw), str(out))
    what = f"lfm360k, {N_ROWS // shrink:,} rows, {n_kept:,} kept"
    seconds, peak = child.seconds or 0, child.peak_bytes
    yield Row(
        "prepare", f"{what}: time", in_seconds(seconds), f"{MAX_SECONDS} s", seconds <= MAX_SECONDS
    )
    yield Row("prepare", f"{what}: peak", in_gigabytes(peak), "4 GB", peak <= MAX_BYTES)


def prepare_lfm360k(raw: str, out: str) -> int:
    """What is measured; the number of interactions kept."""
    from fairrec_paper.datasets.bundle import prepare

    return prepare("lfm360k", Path(raw), Path(out)).n_interactions


def make_lfm360k(shrink: int) -> None:
    """Profiles with gaps and junk ages, and some 49 artists a user; written in pieces."""
    import numpy as np
    import polars as pl

    raw = data.folder(shrink) / "lfm360k"
    raw.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(data.SEED)
    n_users, n_rows = N_USERS // shrink, N_ROWS // shrink
    users = pl.Series("user", [rng.bytes(20).hex() for _ in range(n_users)])
    artists = _artists(rng)
    bounds = np.linspace(0, n_rows, n_users + 1).astype(np.int64)
    part = raw / "plays.part"
    for file in (part, raw / PROFILE):
        file.unlink(missing_ok=True)
    _append(_profiles(rng, users), raw / PROFILE)
    for start in range(0, n_users, 20_000):
        stop = min(start + 20_000, n_users)
        owners = np.repeat(np.arange(start, stop), np.diff(bounds[start : stop + 1]))
        place = np.arange(bounds[start], bounds[stop]) - bounds[owners]
        n_mine = (bounds[owners + 1] - bounds[owners]).astype(np.float64)
        # one artist from each part of the ranks, popular parts being narrow: hardly any twice
        at = (place + rng.random(len(place))) / n_mine
        rank = 50 * ((N_ARTISTS + 50) / 50) ** at - 50
        plays = np.exp(rng.normal(4.5, 1.4, len(place))).astype(np.int64) + 1
        rows = artists[rank.astype(np.int64)].with_columns(pl.Series("plays", plays))
        _append(rows.insert_column(0, users.gather(owners)), part)
    part.replace(raw / PLAYS)


def _profiles(rng: Any, users: pl.Series) -> pl.DataFrame:
    import numpy as np
    import polars as pl

    n = len(users)
    ages = rng.normal(24, 8, n).astype(np.int64)
    ages[rng.random(n) < 0.001] = -1337
    countries = np.array([f"Country {number}" for number in range(N_COUNTRIES)])
    return pl.DataFrame(
        {
            "user": users,
            "gender": rng.choice(["m", "f", ""], n, p=[0.67, 0.24, 0.09]),
            "age": np.where(rng.random(n) < 0.2, "", ages.astype(str)),
            "country": countries[(N_COUNTRIES ** rng.random(n) - 1).astype(np.int64)],
            "signup": "Feb 1, 2007",
        }
    )


def _artists(rng: Any) -> pl.DataFrame:
    import numpy as np
    import polars as pl

    letters = np.array(list("abcdefghijklmnopqrstuvwxyz     é"))
    lengths = rng.integers(4, 20, N_ARTISTS)
    texts = ["".join(rng.choice(letters, length)) for length in lengths]
    codes = [rng.bytes(16).hex() for _ in range(N_ARTISTS)]
    mbids = [f"{c[:8]}-{c[8:12]}-{c[12:16]}-{c[16:20]}-{c[20:]}" for c in codes]
    # nearly all popular artists have one, and 64 % of all
    has_mbid = rng.random(N_ARTISTS) < np.where(np.arange(N_ARTISTS) < 50_000, 0.99, 0.57)
    return pl.DataFrame({"mbid": np.where(has_mbid, mbids, ""), "name": texts})


def _append(rows: pl.DataFrame, path: Path) -> None:
    with path.open("ab") as stream:
        rows.write_csv(stream, separator="\t", include_header=False, quote_style="never")
