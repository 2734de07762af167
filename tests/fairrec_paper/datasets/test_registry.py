from __future__ import annotations

import subprocess
import sys

import pytest

from fairrec_paper.datasets.bundle import DATASETS


def test_all_data_sets_are_registered_with_what_a_user_must_know():
    groups = {name: DATASETS[name].n_groups.split()[0] for name in DATASETS}
    assert groups == {
        "amazon-electronics": "1,000",
        "blackfriday": "8,820",
        "lfm360k": "53,058",
        "movielens-1m": "294",
        "movielens-100k": "2,562",
        "online-retail": "1,000",
    }
    for name in DATASETS:
        dataset = DATASETS[name]
        assert dataset.name == name
        assert "http" in dataset.where
        assert dataset.title and dataset.licence and dataset.files and dataset.attributes


@pytest.mark.slow
def test_importing_data_sets_imports_no_torch():
    code = "import fairrec_paper.datasets.bundle, sys; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
