"""Connected components of graphs, compared with a search from each node."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gjk3d.geometry.polygon import connected


def searched(starts, ends, count):
    """Return the component of each node, from a depth-first search."""
    label = [-1] * count
    for start in range(count):
        todo = [start] if label[start] < 0 else []
        number = max(label) + 1
        while todo:
            node = todo.pop()
            label[node] = number
            neighbors = [b if a == node else a for a, b in zip(starts, ends, strict=True) if node in (a, b)]
            todo += [end for end in neighbors if label[end] < 0]
    return label


@given(st.integers(1, 12).flatmap(lambda n: st.tuples(st.just(n), st.lists(st.tuples(*[st.integers(0, n - 1)] * 2)))))
def test_components_equal_those_of_a_search(graph):
    count, pairs = graph
    starts, ends = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    assert connected(starts, ends, count).tolist() == searched(starts.tolist(), ends.tolist(), count)


def test_long_chain_is_one_component():
    order = np.random.default_rng(4).permutation(100_000)
    assert not connected(order[1:], order[:-1], len(order)).any()
