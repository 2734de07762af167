from __future__ import annotations

import pytest
import torch

from fairrec_paper.models.evaluation import one_thread


def test_the_number_of_threads_is_as_before_whatever_happens(monkeypatch):
    set_to = []
    monkeypatch.setattr(torch, "get_num_threads", lambda: 3)
    monkeypatch.setattr(torch, "set_num_threads", set_to.append)
    with pytest.raises(ValueError, match="within"), one_thread() as before:
        assert (before, set_to) == (3, [1])
        raise ValueError("within")
    assert set_to == [1, 3]
