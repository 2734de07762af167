"""`fairrec datasets`, `fairrec prepare` and `fairrec synthetic`: data to train on."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from fairrec.cli.shared import (
    DebugOption,
    QuietOption,
    SeedOption,
    errors_in_words,
    say,
    shown_progress,
    stdout,
)
from fairrec.core.errors import InputError

if TYPE_CHECKING:
    from fairrec.datasets.bundle import Manifest
    from fairrec.datasets.synthetic import WorldOptions

BundleOption = Annotated[Path, typer.Option(help="Folder for the bundle.")]


def datasets_command(debug: DebugOption = False) -> None:
    """List the data sets that can be prepared, and where to get them."""
    with errors_in_words(debug):
        from fairrec.datasets import DATASETS

        console = stdout()
        for name in DATASETS:
            entry = DATASETS[name]
            console.print(Text.assemble((name, "bold"), f": {entry.title}"))
            for label, text in (
                ("from", entry.where),
                ("files", ", ".join(entry.files)),
                ("licence", entry.licence),
                ("attributes", f"{', '.join(entry.attributes)} ({entry.n_groups} groups)"),
            ):
                console.print(Text(f"  {label}: {text}"), soft_wrap=True)


def prepare_command(
    name: Annotated[str, typer.Argument(help="The data set; see fairrec datasets.")],
    raw: Annotated[Path, typer.Option(help="Folder with the publisher's files.")],
    out: BundleOption,
    quiet: QuietOption = False,
    debug: DebugOption = False,
) -> None:
    """Turn a publisher's files into a bundle to train on."""
    with errors_in_words(debug), shown_progress(quiet) as progress:
        from fairrec.datasets.prepare import prepare

        manifest = prepare(name, raw, out, progress)
    _print_manifest(manifest, out, quiet)


def synthetic_command(
    out: BundleOption,
    shape: Annotated[
        str | None, typer.Option(help="Like a data set: movielens-1m, lfm360k, blackfriday, ...")
    ] = None,
    users: Annotated[int | None, typer.Option(help="Number of users.")] = None,
    items: Annotated[int | None, typer.Option(help="Number of items.")] = None,
    attributes: Annotated[
        str | None, typer.Option(help="Attributes and their numbers of values: gender:2,age:7")
    ] = None,
    categories: Annotated[int | None, typer.Option(help="Number of categories.")] = None,
    interactions: Annotated[
        float | None, typer.Option(help="Mean number of interactions of a user.")
    ] = None,
    skew: Annotated[float | None, typer.Option(help="How fast popularity falls.")] = None,
    taste: Annotated[
        float | None, typer.Option(help="Share of choices in favourite categories.")
    ] = None,
    worse_served: Annotated[
        str | None, typer.Option(help="The group with a gap: gender=F,age=56+. Default: none.")
    ] = None,
    gap: Annotated[str, typer.Option(help="accuracy, diversity or popularity.")] = "accuracy",
    strength: Annotated[float, typer.Option(help="0 for no gap, 1 for the largest.")] = 1.0,
    seed: SeedOption = 0,
    quiet: QuietOption = False,
    debug: DebugOption = False,
) -> None:
    """Make a bundle with a planted gap, or none, of any size."""
    with errors_in_words(debug), shown_progress(quiet) as progress:
        from fairrec.datasets.bundle import write_bundle
        from fairrec.datasets.synthetic import synthetic_bundle

        progress("making a world", 0, 0)
        changes = {
            "n_users": users,
            "n_items": items,
            "attributes": None if attributes is None else _attributes(attributes),
            "n_categories": categories,
            "interactions": interactions,
            "skew": skew,
            "taste": taste,
            "worse_served": None if worse_served is None else _group(worse_served),
            "gap": gap,
            "strength": strength,
            "seed": seed,
        }
        given = {name: value for name, value in changes.items() if value is not None}
        manifest = write_bundle(synthetic_bundle(_world(shape, given)), out)
    _print_manifest(manifest, out, quiet)


def _world(shape: str | None, changes: Mapping[str, object]) -> WorldOptions:
    from fairrec.datasets.synthetic import WorldOptions, shaped_like

    if shape is None:
        return WorldOptions(**changes)  # type: ignore[arg-type]
    return shaped_like(shape, **changes)


def _attributes(text: str) -> dict[str, dict[str, float]]:
    from fairrec.datasets.synthetic import skewed

    attributes = {}
    for part in text.split(","):
        name, _, n_values = part.partition(":")
        if not (name and n_values.isdecimal() and int(n_values) >= 1):
            raise InputError(f"--attributes {part!r} is not of the form name:number, such as age:7")
        attributes[name] = skewed(int(n_values), 0.5)
    return attributes


def _group(text: str) -> dict[str, str]:
    conditions = {}
    for part in text.split(","):
        name, equals, value = part.partition("=")
        if not (name and equals):
            raise InputError(f"--worse-served {part!r} is not of the form attribute=value")
        conditions[name] = value
    return conditions


def _print_manifest(manifest: Manifest, out: Path, quiet: bool) -> None:
    console = stdout()
    console.print(
        Text(
            f"{manifest.name}: {manifest.n_users:,} users, {manifest.n_items:,} items, "
            f"{manifest.n_interactions:,} interactions, {manifest.n_positive:,} positive "
            f"({manifest.positive})"
        ),
        soft_wrap=True,
    )
    for note in manifest.notes:
        console.print(Text.assemble(("note: ", "yellow"), note), soft_wrap=True)
    if not quiet:
        train = ("fairrec", "train", manifest.name, "--data", str(out), "--model", "deepfm")
        say(f"Written to {out}. Next: {shlex.join([*train, '--out', 'runs/deepfm'])}")
