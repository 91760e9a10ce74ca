"""A search that was interrupted continues where it was, and comes to the same result."""

from __future__ import annotations

import numpy as np
import pytest

from multifacet import ViewFinder
from multifacet.datasets import make_gaussian_views

X, _ = make_gaussian_views(120, [2, 2], rotate=False, random_state=0)
OPTIONS = {"n_views": 2, "n_clusters": 2, "n_refits": 1, "n_starts": 2, "random_state": 0}


class Interrupt:
    """Receives progress, and presses Ctrl-C at one event."""

    def __init__(self, **when):
        self.when, self.stages = when, []

    def __call__(self, event):
        self.stages.append(event["stage"])
        if self.when and self.when.items() <= event.items():
            raise KeyboardInterrupt


@pytest.fixture(scope="module")
def uninterrupted():
    return ViewFinder(**OPTIONS).fit(X)


@pytest.fixture
def interrupted(tmp_path):
    path = tmp_path / "search"
    stop = Interrupt(stage="view", number=2)
    with pytest.raises(KeyboardInterrupt):
        ViewFinder(**OPTIONS, checkpoint=path, verbose=stop).fit(X)
    return path


def test_the_result_is_that_of_an_uninterrupted_run(interrupted, uninterrupted):
    listener = Interrupt()
    again = ViewFinder(**OPTIONS, checkpoint=interrupted, verbose=listener).fit(X)
    assert listener.stages.count("view") == 1  # the first one was not searched again
    np.testing.assert_array_equal(again.labelings_, uninterrupted.labelings_)
    for ours, theirs in zip(again.views_, uninterrupted.views_, strict=True):
        np.testing.assert_array_equal(ours.components, theirs.components)
        assert (ours.sentence, ours.separation, ours.stability, ours.p_value) == (
            theirs.sentence,
            theirs.separation,
            theirs.stability,
            theirs.p_value,
        )
        assert ours.settings == theirs.settings
        assert ours.selection == theirs.selection


def test_the_view_at_which_the_search_stopped_is_kept(tmp_path):
    noise = np.random.default_rng(0).standard_normal((60, 3))
    options = {"n_starts": 2, "n_refits": 0, "random_state": 0, "checkpoint": tmp_path / "c.npz"}
    first = ViewFinder(**options).fit(noise)
    assert first.rejected_ is not None
    listener = Interrupt()
    second = ViewFinder(**options, verbose=listener).fit(noise)
    assert listener.stages == []
    assert second.rejected_.sentence == first.rejected_.sentence
    assert second.rejected_.separation == first.rejected_.separation


def test_progress_names_the_stages():
    listener = Interrupt()
    ViewFinder(**OPTIONS | {"strategy": "simultaneous"}, verbose=listener).fit(X)
    stages = listener.stages
    assert stages.count("view") == stages.count("stability") == 2
    assert stages.index("view") < stages.index("select") < stages.index("climb")
    assert stages[-1] == "refine"


@pytest.mark.parametrize(
    ("change", "data", "message"),
    [
        ({"n_clusters": 3}, X, "was made with n_clusters=2: use the same again, or delete"),
        ({"random_state": 1}, X, "was made with random_state=0"),
        ({}, X + 1, "was made from other data"),
        ({"random_state": None}, X, "needs a seed to continue with"),
    ],
)
def test_another_search_cannot_continue_it(interrupted, change, data, message):
    with pytest.raises(ValueError, match=message):
        ViewFinder(**OPTIONS | change, checkpoint=interrupted).fit(data)


def test_other_files_are_refused(tmp_path):
    path = tmp_path / "other.npz"
    np.savez(path, numbers=np.arange(3))
    with pytest.raises(ValueError, match="does not hold a checkpoint"):
        ViewFinder(**OPTIONS, checkpoint=path).fit(X)
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(ValueError, match="does not hold a checkpoint"):
        ViewFinder(**OPTIONS, checkpoint=path).fit(X)


def test_a_change_of_what_is_given_is_seen(interrupted):
    with pytest.raises(ValueError, match="was made from other data"):
        ViewFinder(**OPTIONS, checkpoint=interrupted).fit(X, given=np.arange(120) % 2)
