"""`fairrec-paper datasets`, `prepare` and `synthetic`: data to train on."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from fairrec.cli.parameters import FieldsOf, Given, takes_options
from fairrec.cli.shared import DebugOption, LogOption, QuietOption, say, shown_progress, stdout
from fairrec.core.kinds import FOLDER, NAME
from fairrec.core.options import OUTPUT, Option
from fairrec.demo.world_options import WORLD, WorldOptions
from fairrec_paper.datasets.synthetic import SHAPES, shaped_like

if TYPE_CHECKING:
    from fairrec_paper.datasets.bundle import Manifest

BundleOption = Annotated[Path, Option(FOLDER, "Folder for the bundle", OUTPUT)]


@takes_options
def datasets_command(*, debug: DebugOption = False) -> None:
    """List the data sets that can be prepared, and where to get them."""
    from fairrec_paper.datasets.bundle import DATASETS

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


@takes_options
def prepare_command(
    *,
    name: Annotated[str, typer.Argument(help="The data set; see fairrec-paper datasets.")],
    raw: Annotated[Path, Option(FOLDER, "Folder with the publisher's files")],
    out: BundleOption,
    quiet: QuietOption = False,
    log: LogOption = None,
    debug: DebugOption = False,
) -> None:
    """Turn a publisher's files into a bundle to train on."""
    with shown_progress(quiet, log) as progress:
        from fairrec_paper.datasets.bundle import prepare

        manifest = prepare(name, raw, out, progress)
    _print_manifest(manifest, out, quiet)


@takes_options
def synthetic_command(
    *,
    shape: Annotated[
        str | None,
        Option(replace(NAME, metavar="|".join(SHAPES)), "Like a data set of that name", WORLD),
    ] = None,
    world: Annotated[
        Given,
        FieldsOf(
            WorldOptions, without=("name",), default="the shape's, or {}", panels={"seed": WORLD}
        ),
    ],
    out: BundleOption,
    quiet: QuietOption = False,
    log: LogOption = None,
    debug: DebugOption = False,
) -> None:
    """Make a bundle with a planted gap, or none, of any size."""
    with shown_progress(quiet, log) as progress:
        from fairrec_paper.datasets.bundle import refuse_no_bundle, write_bundle
        from fairrec_paper.datasets.synthetic import synthetic_bundle

        refuse_no_bundle(out)
        progress("making synthetic data", 0, 0)
        options = WorldOptions(**world) if shape is None else shaped_like(shape, **world)
        manifest = write_bundle(synthetic_bundle(options), out)
    _print_manifest(manifest, out, quiet)


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
        train = ("fairrec-paper", "train", "--data", str(out), "--model", "deepfm")
        say(f"Written to {out}. Next: {shlex.join([*train, '--out', 'runs/deepfm'])}")
