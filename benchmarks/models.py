"""Deep models: negatives drawn, rows trained and rows scored a second."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from benchmarks.measure import Row, call_in_child

N_SCORED = 13_350_000
TRAIN_BAR, SCORE_BAR, DRAW_BAR = 150_000, 600_000, 5_000_000
GPU_EAGER_BAR, GPU_COMPILED_BAR = 100_000_000, 400_000_000


def run(shrink: int) -> Iterator[Row]:
    """DeepFM at embedding 8 and layers 256-128 on the shape of MovieLens-1M."""
    _, speeds = call_in_child(training_speeds, shrink)
    yield _speed("negatives drawn", speeds["drawn"], DRAW_BAR)
    yield _speed("DeepFM: rows trained", speeds["trained"], TRAIN_BAR)
    child, scored = call_in_child(scoring_speed, shrink)
    yield _speed(f"DeepFM: {scored['n']:,} rows scored", scored["speed"], SCORE_BAR)
    peak = child.peak_bytes / 1e9
    yield Row("models", "scoring them: peak", f"{peak:.2f} GB", "2 GB", peak <= 2)
    _, gpu = call_in_child(gpu_speeds, shrink)
    if gpu is None:
        yield Row("models", "DeepFM on a GPU", "no CUDA device here")
        return
    yield _speed(f"DeepFM on {gpu['device']}, eager, float32", gpu["eager"], GPU_EAGER_BAR)
    yield _speed(f"DeepFM on {gpu['device']}, compiled, TF32", gpu["compiled"], GPU_COMPILED_BAR)
    yield _speed(f"DeepFM on {gpu['device']}: rows trained", gpu["trained"], None)
    yield Row("models", "GPU against CPU: largest difference of logits", f"{gpu['difference']:.1e}")


def _speed(what: str, per_second: float, bar: int | None) -> Row:
    measured = f"{per_second / 1e6:.3g} million/s"
    if bar is None:
        return Row("models", what, measured)
    return Row("models", what, measured, f"{bar / 1e6:g} million/s", per_second >= bar)


def _world(shrink: int) -> Any:
    from fairrec_paper.datasets.synthetic import shaped_like, synthetic_bundle
    from fairrec_paper.models.data import training_data

    bundle = synthetic_bundle(shaped_like("movielens-1m"))
    return bundle, training_data(bundle)


def _deepfm(features: Any) -> Any:
    from fairrec_paper.models.run import build_model

    return build_model("deepfm", {"embedding": 8, "layers": (256, 128)}, features)


def training_speeds(shrink: int) -> dict[str, float]:
    """Negatives drawn and rows trained a second, the second time round."""
    import tempfile
    from pathlib import Path

    import numpy as np

    from fairrec_paper.models.options import TrainingOptions
    from fairrec_paper.models.training import train

    bundle, data = _world(shrink)
    rng = np.random.default_rng(0)
    data.sampler.draw(data.users, rng)
    started = time.perf_counter()
    data.sampler.draw(data.users, rng)
    drawn = len(data.users) / (time.perf_counter() - started)
    with tempfile.TemporaryDirectory() as folder:
        options = TrainingOptions(epochs=3, patience=3)
        record = train(bundle, "deepfm", Path(folder), options=options)
    # the time of an epoch includes drawing its negatives and its validation
    seconds = min(epoch.seconds for epoch in record.epochs)
    return {"drawn": drawn, "trained": 2 * record.n_train / seconds}


def scoring_speed(shrink: int) -> dict[str, float]:
    """Rows scored a second on the CPU."""
    import numpy as np

    from fairrec_paper.models.networks import score_pairs

    _, data = _world(shrink)
    n = N_SCORED // shrink
    rng = np.random.default_rng(0)
    users = np.sort(rng.integers(0, data.features.n_users, n))
    items = rng.integers(0, data.features.n_items, n).astype(np.int32)
    model = _deepfm(data.features)
    score_pairs(model, users[:100_000], items[:100_000])
    started = time.perf_counter()
    score_pairs(model, users, items)
    return {"n": n, "speed": n / (time.perf_counter() - started)}


def gpu_speeds(shrink: int) -> dict[str, Any] | None:
    """Rows scored a second on a GPU from tensors that lie there; None without one."""
    import tempfile
    from pathlib import Path

    import torch

    if not torch.cuda.is_available():
        return None
    from fairrec_paper.models.options import TrainingOptions
    from fairrec_paper.models.training import train

    bundle, data = _world(shrink)
    model = _deepfm(data.features).eval()
    n = 1 << 24
    users = torch.randint(0, data.features.n_users, (n,))
    items = torch.randint(0, data.features.n_items, (n,))
    with torch.inference_mode():
        on_cpu = model(users[:100_000], items[:100_000])
        model = model.cuda()
        users, items = users.cuda(), items.cuda()
        on_gpu = model(users[:100_000], items[:100_000]).cpu()
        eager = _rows_per_second(model, users, items)
        torch.set_float32_matmul_precision("high")
        compiled = _rows_per_second(torch.compile(model), users, items)
    with tempfile.TemporaryDirectory() as folder:
        options = TrainingOptions(epochs=3, patience=3, device="cuda", batch_size=16384)
        record = train(bundle, "deepfm", Path(folder), options=options)
    seconds = min(epoch.seconds for epoch in record.epochs)
    return {
        "device": torch.cuda.get_device_name(),
        "eager": eager,
        "compiled": compiled,
        "trained": 2 * record.n_train / seconds,
        "difference": float((on_cpu - on_gpu).abs().max()),
    }


def _rows_per_second(call: Any, users: Any, items: Any) -> float:
    import torch

    for _ in range(3):
        call(users, items)
    torch.cuda.synchronize()
    started = time.perf_counter()
    for _ in range(10):
        call(users, items)
    torch.cuda.synchronize()
    return 10 * len(users) / (time.perf_counter() - started)
