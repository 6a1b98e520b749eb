"""The box tree, compared with all pairs of leaves and with every ray against every box."""

from __future__ import annotations

from fractions import Fraction

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gjk3d.broad import HEIGHT, LEFT, PARENT, RIGHT, ROOT, Tree


def random_boxes(rng, count, spread=5.0, size=1.0):
    low = rng.uniform(-spread, spread, (count, 3)).round(1)
    return np.hstack([low, low + rng.uniform(0, size, (count, 3)).round(1)])


def gaps(a, b):
    """Return the gap between every box of a and every box of b, along the axis of the widest gap."""
    return np.maximum(a[:, None, :3] - b[None, :, 3:], b[None, :, :3] - a[:, None, 3:]).max(axis=2)


def pairs_found(tree, within=0.0, room=7):
    pairs = [(min(p), max(p)) for block in tree.pairs(within, room) for p in block.tolist()]
    assert len(pairs) == len(set(pairs))
    return set(pairs)


def expected(boxes, within=0.0):
    """Return the pairs of a dictionary of boxes whose gap is at most `within`."""
    names = sorted(boxes)
    table = np.array([boxes[n] for n in names]).reshape(-1, 6)
    near = np.triu(gaps(table, table) <= within, 1)
    return {(names[i], names[j]) for i, j in np.argwhere(near).tolist()}


def check_links(tree):
    """Check that each inner node bounds its two children and they link back to it, and that all leaves are reached."""
    root = int(tree.state[ROOT])
    seen, stack = [], [] if root < 0 else [root]
    if stack:
        assert tree.links[root, PARENT] == -1
    while stack:
        node = stack.pop()
        if tree.links[node, HEIGHT] == 0:
            seen.append(node)
            continue
        children = tree.links[node, [LEFT, RIGHT]]
        assert (tree.links[children, PARENT] == node).all()
        assert tree.links[node, HEIGHT] == tree.links[children, HEIGHT].max() + 1
        np.testing.assert_array_equal(tree.boxes[node, :3], tree.boxes[children, :3].min(axis=0))
        np.testing.assert_array_equal(tree.boxes[node, 3:], tree.boxes[children, 3:].max(axis=0))
        stack += children.tolist()
    assert sorted(seen) == tree.leaves.tolist()
    assert len(seen) == len(tree)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 17, 300])
@pytest.mark.parametrize("within", [0.0, 0.7])
def test_pairs_of_a_built_tree(count, within):
    boxes = random_boxes(np.random.default_rng(count), count)
    tree = Tree()
    tree.insert(np.arange(count), boxes)
    check_links(tree)
    assert pairs_found(tree, within) == expected(dict(enumerate(boxes)), within)


@given(st.integers(0, 2**32 - 1), st.lists(st.sampled_from("immmrR"), max_size=40))
def test_any_sequence_of_changes(seed, changes):
    rng = np.random.default_rng(seed)
    tree, current = Tree(), {}
    for change in changes:
        absent = [k for k in range(60) if k not in current]
        if change == "i" and absent:
            some = rng.choice(absent, min(len(absent), rng.integers(1, 30)), replace=False)
        elif not current:
            continue
        else:
            most = len(current) if rng.random() < 0.3 else 2
            some = rng.choice(sorted(current), rng.integers(1, min(most, len(current)) + 1), replace=False)
        boxes = random_boxes(rng, len(some))
        if change == "i" and absent:
            tree.insert(some, boxes)
        elif change in "rR":
            tree.remove(some)
            current = {k: box for k, box in current.items() if k not in some}
            continue
        else:
            if rng.random() < 0.5:  # small moves do not change the position in the tree
                boxes = np.array([current[k] for k in some]) + 0.1
            tree.move(some, boxes)
        current.update(zip(some.tolist(), boxes, strict=True))
    check_links(tree)
    assert pairs_found(tree) == expected(current)


def test_small_leaf_move_refits_nodes_above():
    """A leaf moves within the box two levels above; the nodes between are refitted."""
    rng = np.random.default_rng(14)
    boxes = random_boxes(rng, 100)
    tree = Tree()
    tree.insert(np.arange(100), boxes)
    for leaf in range(0, 100, 10):  # too few moves to trigger a rebuild
        above = tree.links[tree.links[leaf, PARENT], PARENT]
        low, high = tree.boxes[above, :3], tree.boxes[above, 3:]
        ends = np.sort(rng.uniform(low, high, (2, 3)), axis=0)
        boxes[leaf] = ends.ravel()
        tree.move(np.array([leaf]), boxes[leaf : leaf + 1].copy())
        check_links(tree)
    assert pairs_found(tree) == expected(dict(enumerate(boxes)))


@pytest.mark.parametrize("side", [1.0, -1.0])
@pytest.mark.parametrize("axis", range(3))
def test_leaf_moved_to_distant_group_is_reinserted_there(axis, side):
    """A leaf that moves to a distant group of boxes gets a parent within that group."""
    shifts = 100.0 * np.vstack([np.zeros((1, 3)), np.eye(3), -np.eye(3)])
    low = (shifts[:, None] + random_boxes(np.random.default_rng(4), 8, spread=1.0)[:, :3]).reshape(-1, 3)
    low[0] = 0.0
    boxes = np.hstack([low, low + 0.5])
    tree = Tree()
    tree.insert(np.arange(len(boxes)), boxes)
    boxes[0, [axis, axis + 3]] += 100.0 * side
    tree.move(np.array([0]), boxes[:1].copy())
    check_links(tree)
    parent = tree.boxes[tree.links[0, PARENT]]
    assert (parent[3:] - parent[:3] < 10.0).all()


def test_distant_leaf_is_child_of_root():
    low = np.array([(0.0, 0, 0), (1, 0, 0), (2, 0, 0), (100, 0, 0)])
    tree = Tree()
    tree.insert(np.arange(4), np.hstack([low, low + 0.5]))
    assert tree.links[3, PARENT] == tree.state[ROOT]


def test_ordered_insertion_keeps_tree_shallow():
    tree = Tree(4096)
    for k in range(0, 4096, 64):  # most of these batches are small enough for one-by-one insertion
        low = np.repeat(np.arange(k, k + 64, dtype=float)[:, None], 3, axis=1)
        tree.insert(np.arange(k, k + 64), np.hstack([low, low + 0.5]))
    check_links(tree)
    assert tree.links[tree.state[ROOT], HEIGHT] <= 30


@pytest.mark.parametrize("boxes", [np.zeros((50, 6)), np.tile([0.0, 0, 0, 1, 1, 1], (50, 1)) * 1e50])
def test_coincident_boxes_form_all_pairs(boxes):
    """Equal boxes, which no cutting plane separates, still give all pairs."""
    tree = Tree()
    tree.insert(np.arange(50), boxes)
    check_links(tree)
    assert len(pairs_found(tree)) == 50 * 49 // 2


def test_rays_equal_slab_tests():
    rng = np.random.default_rng(3)
    boxes = random_boxes(rng, 150)
    tree = Tree()
    tree.insert(np.arange(150), boxes)
    starts = rng.uniform(-6, 6, (80, 3))
    ways = rng.normal(size=(80, 3))
    ways[:30, 0] = 0.0
    ways[10:20, 1] = 0.0
    ways[20] = (1e-310, 0.0, 1.0)
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    for far in (np.inf, 2.0):
        pairs = [tuple(p) for block in tree.along_rays(starts, ways, far, 11) for p in block.tolist()]
        assert len(pairs) == len(set(pairs))
        hits = {(i, k) for i in range(80) for k in range(150) if intersects(boxes[k], starts[i], ways[i], far)}
        assert len(hits) > 0
        assert set(pairs) == hits


def intersects(box, start, way, far):
    """Return whether a segment of a ray is within all three slabs of a box."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        t = np.array([(box[:3] - start) / way, (box[3:] - start) / way])
    still = way == 0.0
    if ((start < box[:3]) | (start > box[3:]))[still].any():
        return False
    t = t[:, ~still]
    return max(t.min(axis=0).max(), 0.0) <= min(t.max(axis=0).min(), far)


def test_ray_touching_box_edge_is_candidate():
    """In rational arithmetic each ray just intersects its box, and rounding of the slabs must not lose it."""
    rng = np.random.default_rng(21)
    starts, ways = rng.uniform(-1.0, 1.0, (300, 3)), rng.uniform(0.2, 1.0, (300, 3))
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    for k, x in enumerate(rng.uniform(2.0, 3.0, 300).tolist()):
        start, way = ([Fraction(c) for c in row[k].tolist()] for row in (starts, ways))
        time = (Fraction(x) - start[0]) / way[0]
        y, z = (s + time * w for s, w in zip(start[1:], way[1:], strict=True))
        # the ray enters the slab of x when it leaves the slab of y
        box = np.array([[x, float(y) - 5.0, float(z) - 5.0, x + 5.0, naive.float_above(y), float(z) + 5.0]])
        tree = Tree()
        tree.insert(np.array([0]), box)
        assert [len(block) for block in tree.along_rays(starts[k : k + 1], ways[k : k + 1])] == [1]


@pytest.mark.parametrize("side", [-1.0, 1.0])
@pytest.mark.parametrize("axis", [0, 1])
def test_ray_missing_box_within_rounding_is_candidate(axis, side):
    """A ray that misses a box by less than the rounding of a ray cast, 7.5e-15 of the distances, is a candidate."""
    box = np.array([[-1.0, -1.0, 9.0, 1.0, 1.0, 11.0]])
    start = np.zeros((1, 3))
    start[0, axis] = side * (1.0 + 7.5e-15 * 20.0)
    tree = Tree()
    tree.insert(np.array([0]), box)
    for way in ((0.0, 0.0, 1.0), (1e-20, 1e-20, 1.0)):
        assert [len(block) for block in tree.along_rays(start, np.array([way]))] == [1]
        start[0, axis] += side * 1e-11
        assert [len(block) for block in tree.along_rays(start, np.array([way]))] == [0]
        start[0, axis] -= side * 1e-11


def test_ray_ending_before_box_within_rounding_is_candidate():
    """A ray that ends just before a box is a candidate: box and ray are both extended by four times the rounding."""
    rounding = 7.5e-15 * 24.0
    tree = Tree()
    tree.insert(np.array([0]), np.array([[-1.0, -1.0, 9.0, 1.0, 1.0, 11.0]]))
    for gap, count in ((6.0 * rounding, 1), (1e-11, 0)):
        rays = np.zeros((1, 3)), np.array([(0.0, 0.0, 1.0)])
        assert [len(block) for block in tree.along_rays(*rays, 9.0 - gap)] == [count]


def test_bounds():
    tree = Tree()
    assert tree.bounds.tolist() == [np.inf] * 3 + [-np.inf] * 3
    tree.insert(np.array([3, 5]), np.array([[0.0, 0, 0, 1, 1, 1], [2, -1, 0, 3, 0, 4]]))
    assert tree.bounds.tolist() == [0, -1, 0, 3, 1, 4]
    assert tree.leaves.tolist() == [3, 5]
