"""A small world, ranked without training, for all tests of experiments."""

from __future__ import annotations

import pytest

from fairrec_paper.datasets.synthetic import shaped_like
from fairrec_paper.reproduction.data import DataSource, Subject, small, world_source
from fairrec_paper.reproduction.experiment import Setting
from fairrec_paper.reproduction.options import ReproduceOptions
from tests.fairrec_paper.reproduction.trial_rows import silent


@pytest.fixture(scope="session")
def source(tmp_path_factory: pytest.TempPathFactory) -> DataSource:
    """MovieLens' shape with 240 users."""
    folder = tmp_path_factory.mktemp("worlds")
    return world_source("movielens-1m", small(shaped_like("movielens-1m")), folder, silent)


@pytest.fixture(scope="session")
def setting(source: DataSource, tmp_path_factory: pytest.TempPathFactory) -> Setting:
    folder = tmp_path_factory.mktemp("setting")
    options = ReproduceOptions(n_seeds=2, models=("taste",), permutations=19, quick=True)
    return Setting(options, (source,), folder / "runs", folder / "data", silent)


@pytest.fixture(scope="session")
def subject(setting: Setting, source: DataSource) -> Subject:
    return setting.subject(source, "taste")
