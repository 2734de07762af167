"""Synthetic worlds as bundles, of any size or shaped like the paper's data sets."""

from __future__ import annotations

from fairrec.demo.world import make_world
from fairrec.demo.world_options import WorldOptions
from fairrec_paper.datasets.bundle import Bundle, Manifest


def synthetic_bundle(options: WorldOptions | None = None) -> Bundle:
    """A world in which users choose by popularity and by taste for two categories."""
    options = options or WorldOptions()
    world = make_world(options)
    group = ", ".join(f"{name}={value}" for name, value in (options.worse_served or {}).items())
    gap = f"planted in {group}: {options.gap}, strength {options.strength:g}" if group else "none"
    n_interactions = world.interactions.height
    manifest = Manifest(
        name=options.name,
        source=f"made by FairRec, seed {options.seed}; gap: {gap}",
        licence="none needed",
        attributes=tuple(options.attributes),
        positive="every interaction",
        order="random",
        n_interactions=n_interactions,
        n_positive=n_interactions,
        n_users=options.n_users,
        n_items=options.n_items,
    )
    return Bundle(world.interactions, world.users, world.items, manifest)
