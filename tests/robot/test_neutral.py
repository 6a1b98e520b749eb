"""Every robot of example-robot-data loads, and its collisions at neutral are those listed in neutral.json."""

from __future__ import annotations

import json

import pytest
from example_robots import SHARE
from message_checks import assert_names
from neutral import FILE, NAMES, hits, loaded, raw_pairs

from gjk3d.errors import Gjk3dError

LISTED = json.loads(FILE.read_text())
FEW = {  # number of collisions if pairs of parent and child are ignored as in MuJoCo, with welded links as one body
    "a1_description/urdf/a1.urdf": 0,
    "go1_description/urdf/go1.urdf": 0,
    "laikago_description/urdf/laikago.urdf": 0,
    "b1_description/urdf/b1.urdf": 4,
    "baxter_description/urdf/baxter.urdf": 8,
    "tiago_pro_description/robots/tiago_pro.urdf": 6,
    "pr2_description/urdf/pr2.urdf": 14,
}
REFUSED = {  # words that the message of each error contains
    "alex_description/urdf/alex_psyonic_hands.urdf": ("'Left_index_q2'", "'index_q1'", "<mimic>"),
    "alexander_description/urdf/alexander_v1.lowerBodyOnly.urdf": ("'Alexander'", "--collision visual"),
    "asr_twodof_description/urdf/TwoDofs.urdf": ("'twodofs'", "--collision visual"),
    "human_description/robots/human.urdf": ("'human_36dof_ISB_model'", "--collision visual"),
    "simple_humanoid_description/urdf/simple_humanoid_classical.urdf": (
        "'simple_humanoid_classical'",
        "--collision visual",
    ),
    "ur_description/urdf/ur3.urdf": ("ur3.urdf", "links"),
}


def test_neutral_json_lists_every_robot():
    assert len(NAMES) == 69
    assert list(LISTED) == NAMES
    assert {name for name, entry in LISTED.items() if "refused" in entry} == set(REFUSED)
    counts = {name: sum(map(len, LISTED[name].values())) for name in FEW}
    assert counts == FEW


@pytest.mark.many
@pytest.mark.parametrize("name", [n if n in FEW else pytest.param(n, marks=pytest.mark.full) for n in NAMES])
def test_collisions_at_neutral_are_those_listed(name):
    listed = LISTED[name]
    if "refused" in listed:
        with pytest.raises(Gjk3dError) as caught:
            hits(loaded(name))
        assert type(caught.value).__name__ == listed["refused"]
        assert_names(caught.value, *REFUSED[name])
        return
    assert hits(loaded(name)) == {frozenset(pair) for pairs in listed.values() for pair in pairs}


@pytest.mark.many
@pytest.mark.parametrize("name", FEW)
def test_listed_overlaps_agree_with_coal(name):
    """Pinocchio and coal report the same overlaps of the raw meshes. ``neutral.py`` checks all robots this way."""
    robot = loaded(name)
    listed = {frozenset(pair) for pair in LISTED[name].get("shapes overlap", [])}
    assert raw_pairs(SHARE / name, robot) == listed
