"""A swarm whose next velocities can be written out."""

from __future__ import annotations

import numpy as np

from fairrec.search.searchers.swarms import Swarm


def small_swarm():
    swarm = Swarm(np.array([[0, 3], [2, 1]]), np.array([[1.0, -0.5], [0.25, 2.0]]), 1.0)
    swarm.learn(np.array([0.4, 0.1]))
    swarm.follow(swarm.positions, np.array([0.4, 0.1]))
    swarm.positions = np.array([[1, 1], [4, 0]])
    return swarm
