"""A bundle as arrays of positions: what is trained on, and the candidates of both targets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

from fairrec.demo.held_out import SplitData, split_data
from fairrec_paper.datasets.bundle import Bundle
from fairrec_paper.models.deep.features import FeatureTables, feature_tables


@dataclass(frozen=True, slots=True)
class TrainingData(SplitData):
    """All that training and its evaluation need."""

    features: FeatureTables


def training_data(
    bundle: Bundle,
    all_positive: bool = False,
    holdout: float = 0.2,
    n_candidates: int = 50,
    seed: int = 0,
    features: Sequence[str] | None = None,
) -> TrainingData:
    """Split a bundle, keep out a share of the training rows, and draw the candidates.

    Parameters
    ----------
    all_positive : count every interaction as positive, whatever its rating
    features : what models see, see `feature_tables`
    """
    users, items = bundle.users, bundle.items
    split = split_data(bundle.interactions, users, items, all_positive, holdout, n_candidates, seed)
    return TrainingData(
        **{field.name: getattr(split, field.name) for field in fields(split)},
        features=feature_tables(users, items, bundle.manifest.attributes, features),
    )
