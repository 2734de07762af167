"""Recommendations by RecBole: `python -m tests.inputs.made_by.make_recbole`."""

from __future__ import annotations

import tempfile
from contextlib import chdir
from pathlib import Path
from typing import Any

from tests.inputs.made_by.world import HERE, TEST, TRAIN

ATOMIC = {"user_id": "token", "item_id": "token", "rating": "float", "timestamp": "float"}


def main() -> None:
    """BPR by `run_recbole`, then the top ten of its case study in a long table.

    `full_sort_topk` returns a matrix of scores and one of items for the users it is given; ids are
    tokens, which are text.
    """
    import pandas as pd

    out = HERE / "recbole"
    out.mkdir(exist_ok=True)
    # it writes its logs into the working folder
    with tempfile.TemporaryDirectory() as name, chdir(name):
        users, items, scores = top_ten(Path(name), out)
    recs = pd.DataFrame(
        {
            "user_id": users.repeat(items.shape[1]),
            "item_id": items.ravel(),
            "score": scores.ravel(),
        }
    )
    recs.to_csv(out / "full_sort_topk.csv", index=False)


def top_ten(home: Path, out: Path) -> tuple[Any, Any, Any]:
    """Users, their items and scores, by a model trained on files in RecBole's own format."""
    import numpy as np
    import pandas as pd
    from recbole.config import Config
    from recbole.data import create_dataset, data_preparation
    from recbole.model.general_recommender import BPR
    from recbole.trainer import Trainer
    from recbole.utils import init_seed
    from recbole.utils.case_study import full_sort_topk

    folder = home / "world"
    folder.mkdir()
    train, test = pd.read_csv(TRAIN), pd.read_csv(TEST)
    names = {column: f"{column}:{kind}" for column, kind in ATOMIC.items()}
    # its own way to take a split that was made before: one file a part
    parts = {"part1": train, "part2": test, "part3": test}
    for part, rows in parts.items():
        file = folder / f"world.{part}.inter"
        rows.rename(columns=names).to_csv(file, sep="\t", index=False)
    (out / "test.inter").write_bytes((folder / "world.part3.inter").read_bytes())
    config = Config(
        model="BPR",
        dataset="world",
        config_dict={
            "data_path": str(home),
            "checkpoint_dir": str(home),
            "benchmark_filename": list(parts),
            "load_col": {"inter": list(ATOMIC)},
            "epochs": 20,
            "embedding_size": 16,
            "use_gpu": False,
            "seed": 1,
            "show_progress": False,
            "state": "ERROR",
        },
    )
    init_seed(config["seed"], config["reproducibility"])
    dataset = create_dataset(config)
    train_data, _, test_data = data_preparation(config, dataset)
    model = BPR(config, train_data.dataset).to(config["device"])
    Trainer(config, model).fit(train_data, saved=False, show_progress=False)

    tokens = np.unique(test["user_id"]).astype(str)
    inner = dataset.token2id(dataset.uid_field, tokens)
    scores, items = full_sort_topk(inner, model, test_data, k=10, device=config["device"])
    return tokens, dataset.id2token(dataset.iid_field, items.cpu()), scores.cpu().numpy()


if __name__ == "__main__":
    main()
