"""Features and decision trees."""

import json
import pickle

import numpy as np
import pytest
from test_tables import all_positions

import doushouqi as dsq


def test_a_tree_tells_who_wins(three: dsq.Tables) -> None:
    """The paper's tree of E v E is perfect on its eleven features."""
    tree = dsq.learn_tree(three, "EvE", features="paper")
    assert (tree.misclassified, tree.indistinct) == (0, 0)
    assert len(tree.features) == 11
    wdl, _ = three.to_numpy("EvE")
    packed = all_positions(wdl, "EvE")
    white = packed[packed[:, 16] == 0]
    assert tree.positions == len(white)
    assert np.array_equal(tree.predict(white), three.probe_many(white)[0])
    assert json.loads(tree.to_json())
    assert tree.to_graphviz().startswith("digraph")
    assert tree.to_text().count("\n") >= tree.leaves


def test_a_small_tree_errs_as_it_says(three: dsq.Tables) -> None:
    tree = dsq.learn_tree(three, "LvE", max_leaves=3)
    wdl, _ = three.to_numpy("LvE")
    packed = all_positions(wdl, "LvE")
    white = packed[packed[:, 16] == 0]
    assert tree.leaves <= 3
    wrong = np.count_nonzero(tree.predict(white) != three.probe_many(white)[0])
    assert wrong == tree.misclassified > 0


def test_features() -> None:
    features = dsq.Features("EvL", choice="paper")
    assert len(features) == len(features.names) == len(features.meanings) == 11
    board = dsq.Board("7/7/3l3/7/7/7/3E3/7/7 w")
    values = dict(zip(features.names, features.values([board])[0].tolist(), strict=True))
    assert (values["distance_p"], values["parity"], values["adjacent"]) == (4, 0, 0)
    other = pickle.loads(pickle.dumps(features))
    assert (other.material, other.names) == ("EvL", features.names)


def test_wrong_studies(three: dsq.Tables) -> None:
    features = dsq.Features("EvL")
    for positions in (["7/7/3l3/7/7/7/3E3/7/7 b"], [dsq.Board()]):
        with pytest.raises(ValueError, match="row 0: not a position of EvL"):
            features.values(positions)
    with pytest.raises(ValueError, match="two or three pieces"):
        dsq.learn_tree(three, "EPvLR")
    with pytest.raises(ValueError, match="'paper' or 'all'"):
        dsq.Features("EvL", choice="some")
    with pytest.raises(ValueError, match="at least one leaf"):
        dsq.learn_tree(three, "EvL", max_leaves=0)
