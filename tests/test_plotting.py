from __future__ import annotations

import io
import itertools
import subprocess
import sys
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from matplotlib.figure import Figure

from multifacet import find_views
from multifacet.datasets import make_gaussian_views
from multifacet.explain import explain
from multifacet.plotting import (
    plot_frontier,
    plot_loadings,
    plot_sparsity,
    plot_view,
    plot_views,
)

RNG = np.random.default_rng(0)
LONG = [f"a_name_of_sixty_characters_with_$dollars$_that_never_ends_no_{i:02d}" for i in range(15)]


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def pixels(figure):
    """Draw everything: this is where labels that do not parse or fit would warn."""
    file = io.BytesIO()
    figure.savefig(file, format="rgba", dpi=20)
    return np.frombuffer(file.getvalue(), dtype=np.uint8)


def make_view(q=2, k=2, *, d=15, name="view", stability=0.9, p_value=0.004):
    X, labels = RNG.standard_normal((60, d)), np.arange(60) % k
    components = np.linalg.qr(RNG.standard_normal((d, q)))[0].T
    return SimpleNamespace(
        name=name,
        labels=labels,
        components=components,
        projection=X @ components.T,
        explanation=explain(X, labels, components, feature_names=LONG[:d]),
        quality=1.0,
        novelty=0.0,
        stability=stability,
        p_value=p_value,
    )


def drawn(ax):
    return [len(collection.get_offsets()) for collection in ax.collections]


FRONTIER = SimpleNamespace(
    weights=[0, 1, 2, 4], quality=[2, 1.9, 1.5, 1.5], dependence=[1, 0.3, 0.1, 0.1], chosen=1
)


def test_scatter_shows_every_row_in_the_colour_of_its_cluster():
    points, labels = RNG.standard_normal((30, 3)), np.repeat(["a", "b", "c"], [15, 10, 5])
    ax = plot_view(points, labels, title="t", axis_labels=["u", "v", "w"])
    assert drawn(ax) == [15, 10, 5]
    np.testing.assert_allclose(ax.collections[1].get_offsets(), points[15:25, :2])
    assert len({tuple(c.get_facecolor()[0]) for c in ax.collections}) == 3
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts == ["group a (15)", "group b (10)", "group c (5)"]
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_title(loc="left")) == ("u", "v", "t")
    assert pixels(ax.figure).std() > 0


def test_many_rows_are_thinned_and_many_clusters_stay_apart():
    points, labels = RNG.standard_normal((12_000, 2)), np.arange(12_000) % 11
    ax = plot_view(points, labels)
    assert sum(drawn(ax)) == 5000
    assert min(drawn(ax)) > 300
    assert ax.get_legend() is None
    looks = {(tuple(c.get_facecolor()[0]), len(c.get_paths()[0].vertices)) for c in ax.collections}
    assert len(looks) == 11


def test_one_coordinate_gives_a_stacked_histogram():
    labels = np.repeat([0, 1], [60, 40])
    ax = plot_view(RNG.standard_normal((100, 1)), labels)
    heights = [sum(bar.get_height() for bar in bars) for bars in ax.containers]
    assert heights == [60, 40]
    assert ax.get_ylabel() == "rows"
    assert len(ax.get_legend().get_texts()) == 2


def test_wrong_projection_is_named():
    with pytest.raises(ValueError, match=r"projection has shape \(5, 2\), expected \(4, q\)"):
        plot_view(np.zeros((5, 2)), [0, 0, 1, 1])


@pytest.mark.parametrize(("q", "axes"), [(1, 1), (2, 2), (5, 3)])
def test_loadings_are_bars_of_the_largest_features(q, axes):
    explanation = make_view(q).explanation
    ax = plot_loadings(explanation, max_features=4)
    assert len(ax.patches) == 4 * axes
    loadings = explanation.loadings[:axes]
    largest = np.argsort(-(loadings**2).sum(axis=0))[:4]
    widths = [bar.get_width() for bar in ax.patches[:4]]
    np.testing.assert_allclose(widths, loadings[0, largest])
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert all(len(name.replace("\\", "")) <= 24 for name in names)
    assert [name[-2:] for name in names] == [LONG[i][-2:] for i in largest]
    assert ax.get_xlabel() == "loading (4 of 15 features)"
    assert len(plot_loadings(explanation).patches) == 12 * axes


def test_frontier_joins_points_by_weight_and_marks_the_chosen():
    shuffled = SimpleNamespace(
        weights=[2, 0, 4, 1], quality=[1.5, 2, 1.5, 1.9], dependence=[0.1, 1, 0.1, 0.3]
    )
    ax = plot_frontier(shuffled)
    (line,) = ax.get_lines()
    np.testing.assert_allclose(line.get_xydata(), np.c_[FRONTIER.dependence, FRONTIER.quality])
    ax = plot_frontier(FRONTIER)
    np.testing.assert_allclose(ax.get_lines()[1].get_xydata(), [[0.3, 1.9]])
    assert ax.get_legend().get_texts()[0].get_text() == "chosen: weight 1"
    # Two solutions coincide; only one of their weights is written.
    assert sorted(text.get_text() for text in ax.texts) == ["0", "1", "4"]


def test_views_in_one_figure():
    views = [
        make_view(1, name="first", stability=None, p_value=float("nan")),
        make_view(2, k=3, name=LONG[0], p_value=1e-5),
        make_view(3, k=9),
    ]
    figure = plot_views(views, frontier=FRONTIER)
    assert len(figure.axes) == 7
    titles = [ax.get_title(loc="left") for ax in figure.axes[::2]]
    assert titles[0] == "first"
    assert titles[1].endswith("stability 0.90, p < 0.001")
    assert titles[2] == "view, stability 0.90, p = 0.004"
    scatter = figure.axes[2]
    np.testing.assert_allclose(
        np.sort(np.vstack([c.get_offsets() for c in scatter.collections]), axis=0),
        np.sort(views[1].projection @ views[1].explanation.rotation.T, axis=0),
    )
    assert scatter.get_xlabel().startswith("axis 1: ")
    assert pixels(figure).std() > 0


@pytest.mark.parametrize("method", ["kdac", "linear", "embedding", "isaac"])
def test_views_of_every_method_can_be_drawn(method):
    X, _ = make_gaussian_views(90, [3, 2], rotate=False, random_state=0)
    fixed = {} if method == "isaac" else {"n_clusters": 3}
    views = find_views(X, n_views=1, method=method, n_refits=0, **fixed)
    assert len(views) == 1
    figure = views.plot()
    scatter, beside = figure.axes
    embedded = method == "embedding"
    assert scatter.get_xlabel().startswith("embedding 1" if embedded else "axis 1: ")
    assert beside.get_xlabel() == ("variance between groups" if embedded else "loading")
    if scatter.collections:  # one coordinate gives a histogram
        assert sum(drawn(scatter)) == 90
    assert pixels(figure).std() > 0


def test_no_view_is_said():
    assert plot_views([]).get_suptitle() == "no further view found"
    figure = plot_views([], frontier=FRONTIER)
    assert len(figure.axes) == 1
    assert pixels(figure).std() > 0


def test_no_state_is_touched_and_missing_matplotlib_is_explained():
    code = """
import sys
from multifacet.plotting import plot_view
assert "matplotlib" not in sys.modules
plot_view([[0, 1], [1, 0]], [0, 1])
assert "matplotlib.pyplot" not in sys.modules
for name in [name for name in sys.modules if name.startswith("matplotlib")]:
    sys.modules[name] = None
try:
    plot_view([[0, 1], [1, 0]], [0, 1])
except ImportError as error:
    assert 'pip install "multifacet[plot]"' in str(error)
else:
    raise AssertionError
"""
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("counts", [(8, 5, 3, 2), (26, 18, 12, 8, 5, 3, 2), (4710, 512, 63, 2)])
def test_numbers_below_a_path_do_not_run_together(counts):
    steps = [SimpleNamespace(n_loadings=n, n_features=n, score=0.9, error=0.1) for n in counts]
    figure = Figure(figsize=(8, 3))
    axes = figure.subplots(1, 2)
    ax = plot_sparsity(SimpleNamespace(path=steps, chosen=steps[0]), ax=axes[1])
    figure.canvas.draw()
    low, high = ax.get_xlim()
    labels = [
        label
        for place, label in zip(ax.get_xticks(), ax.get_xticklabels(), strict=True)
        if low <= place <= high
    ]
    assert len(labels) >= 2
    assert not any(label.get_text() for label in ax.get_xticklabels(minor=True))
    boxes = [label.get_window_extent() for label in labels]
    assert all(left.x1 < right.x0 for left, right in itertools.pairwise(boxes))
    assert all(label.get_text().isdigit() for label in labels)
