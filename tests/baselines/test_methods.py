"""What each rival computes, against brute force, closed forms and what its paper proves."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.optimize import minimize
from sklearn.cluster import KMeans
from sklearn.metrics import mutual_info_score
from sklearn.mixture import GaussianMixture

from multifacet.baselines import (
    ADFT,
    CAMI,
    CIB,
    COALA,
    MSC,
    ConsKL,
    DecorrelatedKMeans,
    OrthogonalClustering,
    OrthogonalSubspaceClustering,
)
from multifacet.baselines.cami import _fit_of, _penalised_step, mutual_information
from multifacet.baselines.cib import _Gaussian
from multifacet.baselines.decorrelated_kmeans import representatives
from multifacet.datasets import make_gaussian_views
from multifacet.metrics import match_labelings, nmi
from multifacet.problems import one_hot

RNG = np.random.default_rng(0)
X, LABELINGS = make_gaussian_views(150, [3, 2], rotate=False, random_state=0)
GIVEN, HIDDEN = LABELINGS.T
#: Corners of a rectangle, each a little group: long side given, short side hidden.
CORNERS = np.repeat([[-9.0, -2.0], [-9.0, 2.0], [9.0, -2.0], [9.0, 2.0]], 2, axis=0)
CORNERS += 0.1 * RNG.standard_normal(CORNERS.shape)
LONG, SHORT = np.repeat([0, 1], 4), np.tile(np.repeat([0, 1], 2), 2)


# COALA


def coala_by_pairs(points, labelings, k, omega):
    """Average linkage over explicit pairs of rows; returns labels and quality merges."""
    clusters = [[i] for i in range(len(points))]
    quality = 0
    while len(clusters) > k:
        candidates = []
        for a, b in combinations(range(len(clusters)), 2):
            pairs = list(product(clusters[a], clusters[b]))
            d = np.mean([np.linalg.norm(points[i] - points[j]) for i, j in pairs])
            free = not any(labels[i] == labels[j] for labels in labelings for i, j in pairs)
            candidates.append((d, free, a, b))
        best = min(candidates)
        allowed = [c for c in candidates if c[1]]
        take_quality = not allowed or best[0] < omega * min(allowed)[0]
        quality += take_quality
        _, _, a, b = best if take_quality else min(allowed)
        clusters[a] += clusters.pop(b)
    labels = np.empty(len(points), dtype=int)
    for c, rows in enumerate(clusters):
        labels[rows] = c
    return labels, quality


@pytest.mark.parametrize("omega", [0.0, 0.6, 0.9])
@pytest.mark.parametrize("n_given", [1, 2])
def test_coala_is_the_search_over_pairs(omega, n_given):
    rng = np.random.default_rng(n_given)
    points = rng.standard_normal((22, 3))
    labelings = [rng.integers(0, 3, 22), rng.integers(0, 2, 22)][:n_given]
    expected, quality = coala_by_pairs(points, labelings, 3, omega)
    model = COALA(3, omega=omega).fit(points, given=labelings)
    assert nmi(model.labels_, expected) == pytest.approx(1)
    assert (model.n_quality_merges_, model.n_dissimilarity_merges_) == (quality, 19 - quality)


def test_coala_beyond_one_is_average_linkage():
    points = RNG.standard_normal((60, 3))
    expected = fcluster(linkage(points, "average"), 5, "maxclust")
    for given in (None, RNG.integers(0, 3, 60)):
        labels = COALA(5, omega=1.01).fit_predict(points, given=given)
        assert nmi(labels, expected) == pytest.approx(1)


def test_coala_merges_without_conflict_are_limited():
    model = COALA(3, omega=0).fit(X, given=GIVEN)
    assert 0 < model.n_dissimilarity_merges_ <= len(X) - np.bincount(GIVEN).max()


# CIB


@pytest.mark.parametrize("mode", ["additive", "coordinated"])
def test_cib_objective_never_falls_at_one_temperature(mode):
    model = CIB(2, mode=mode, n_init=1, random_state=0).fit(X, given=GIVEN)
    assert len(model.objective_path_) == 5
    for path in model.objective_path_:
        assert np.diff(path).min(initial=0) > -1e-9
    assert model.objective_ == model.objective_path_[-1][-1]


def test_cib_without_coordination_does_not_see_how_groups_are_matched():
    term = _Gaussian(X, GIVEN, 1.0)
    whole = _Gaussian(X, np.zeros(len(X), int), 0.1)
    q = np.eye(2)[HIDDEN]
    swapped = np.where((GIVEN == 1)[:, None], q[:, ::-1], q)
    assert (q * term.log_likelihood(q)).sum() == pytest.approx(
        (swapped * term.log_likelihood(swapped)).sum()
    )
    assert (q * whole.log_likelihood(q)).sum() > 1 + (swapped * whole.log_likelihood(swapped)).sum()


def information(p):
    """I(C; Y) of a joint distribution."""
    outer = np.outer(p.sum(axis=1), p.sum(axis=0))
    positive = p > 0
    return (p[positive] * np.log(p[positive] / outer[positive])).sum()


def test_cib_on_counts_is_the_best_of_all_hard_clusterings():
    # Four kinds of rows: given words against others, hidden words against others.
    rates = np.array([[20, 2, 9, 1], [20, 2, 1, 9], [2, 20, 9, 1], [2, 20, 1, 9]])
    counts = np.repeat(rates, 2, axis=0) + RNG.integers(0, 3, (8, 4))
    shares = counts / counts.sum(axis=1, keepdims=True) / 8

    def objective(labels):
        C = np.eye(2)[labels]
        inside = sum(
            (z == LONG).mean() * information(C[z == LONG].T @ shares[z == LONG] * 2)
            for z in range(2)
        )
        p = C.mean(axis=0)
        return inside + 0.1 * information(C.T @ shares) + 0.05 * (p * np.log(p)).sum()

    every = [np.array(labels) for labels in product([0, 1], repeat=8) if 0 < sum(labels) < 8]
    best = max(every, key=objective)
    model = CIB(2, mode="coordinated", likelihood="multinomial", random_state=0)
    assert nmi(model.fit_predict(counts, given=LONG), best) == pytest.approx(1)
    assert nmi(best, SHORT) == pytest.approx(1)


def test_cib_crosses_labelings_with_large_cells_and_adds_them_otherwise():
    many, labelings = make_gaussian_views(240, [2, 2, 2], rotate=False, random_state=0)
    model = CIB(2, mode="coordinated", n_init=1, random_state=0)
    objectives = []
    for n in (240, 24):  # cells of 60 rows, and of about 6
        pair = labelings[:n, :2]
        separate = model.fit(many[:n], given=pair).objective_
        objectives.append((separate, model.fit(many[:n], given=pair @ [2, 1]).objective_))
    assert objectives[0][0] == pytest.approx(objectives[0][1], rel=1e-12)
    assert objectives[1][0] < 1.5 * objectives[1][1]  # two terms, both negative


# Orthogonal projections


@pytest.mark.parametrize("cls", [OrthogonalClustering, OrthogonalSubspaceClustering])
def test_orthogonal_projection_removes_the_means(cls):
    rng = np.random.default_rng(0)
    points = rng.standard_normal((40, 5)) + 4 * rng.standard_normal((3, 5))[np.arange(40) % 3]
    points -= points.mean(axis=0)
    labels = np.arange(40) % 3
    rest = cls()._remove(points, labels)
    for c in range(3):
        np.testing.assert_allclose(rest[labels == c].mean(axis=0), 0, atol=1e-12)
        mean = points[labels == c].mean(axis=0)
        np.testing.assert_allclose(rest[labels == c] @ mean, 0, atol=1e-12)


def test_orthogonal_methods_by_hand():
    # Means (-4, 0) and (4, 0) for the given halves: the first feature goes, the second stays.
    points = np.array([[-5.0, 1], [-3, -1], [3, 1], [5, -1]])
    given = [0, 0, 1, 1]
    for cls in (OrthogonalClustering, OrthogonalSubspaceClustering):
        model = cls(random_state=0).fit(points, given=given)
        assert nmi(model.labels_, [0, 1, 0, 1]) == pytest.approx(1)
        # What was found is removed as well, and nothing is left.
        np.testing.assert_allclose(model.residual_, 0, atol=1e-12)


def test_orthogonal_clustering_removes_one_direction_per_cluster():
    # Three means in a plane: method 1 takes one direction from each row, method 2 the plane.
    corner = np.array([[2.0, 0, 0], [-1, np.sqrt(3), 0], [-1, -np.sqrt(3), 0]])
    labels = np.repeat(np.arange(3), 20)
    points = corner[labels] + np.random.default_rng(0).standard_normal((60, 3))
    points -= points.mean(axis=0)
    assert np.linalg.matrix_rank(OrthogonalClustering()._remove(points, labels)) == 3
    assert np.linalg.matrix_rank(OrthogonalSubspaceClustering()._remove(points, labels)) == 1


def test_orthogonal_subspaces_are_orthogonal():
    data, labelings = make_gaussian_views(200, [3, 3], random_state=3)
    model = OrthogonalSubspaceClustering(3, n_views=2, random_state=0).fit(data)
    assert match_labelings(labelings, model.labelings_).score > 0.95
    spans = []
    for labels in model.labelings_.T:
        means = np.stack([data[labels == c].mean(axis=0) for c in range(3)])
        spans.append(means[1:] - means[0])
    # The residual has lost the four directions of both views, all that there are.
    assert np.linalg.matrix_rank(np.vstack(spans)) == 4
    np.testing.assert_allclose(model.residual_, 0, atol=1e-10)


# cons-KL


def foreign_scatter(points, labels):
    S = np.zeros((points.shape[1], points.shape[1]))
    for i, j in product(range(len(points)), np.unique(labels)):
        if labels[i] != j:
            away = points[i] - points[labels == j].mean(axis=0)
            S += np.outer(away, away) / len(points)
    return S


def test_cons_kl_minimises_its_constrained_divergence():
    D = ConsKL(2, random_state=0).fit(X, given=LABELINGS).transform_
    S = foreign_scatter(X, GIVEN) + foreign_scatter(X, HIDDEN)
    np.testing.assert_allclose(D @ S @ D, np.eye(4), atol=1e-5)
    B = D @ D
    best, budget = np.linalg.slogdet(B)[1], np.trace(B @ S)
    for _ in range(50):
        factor = RNG.standard_normal((4, 4))
        other = factor @ factor.T
        other *= budget / np.trace(other @ S)
        assert np.linalg.slogdet(other)[1] < best


def test_cons_kl_exponent_goes_from_the_data_to_the_closed_form():
    plain = ConsKL(3, novelty=0, random_state=0).fit(X, given=GIVEN)
    np.testing.assert_allclose(plain.transform_, np.eye(4), atol=1e-12)
    expected = KMeans(3, n_init=10, random_state=0).fit_predict(X - X.mean(axis=0))
    np.testing.assert_array_equal(plain.labels_, expected)
    one, two = (ConsKL(novelty=a).fit(X, given=GIVEN).transform_ for a in (1, 2))
    np.testing.assert_allclose(one @ one, two, rtol=1e-10)


# ADFT


def test_adft_by_hand():
    # Within: variances 1 and 4. Between: 25 along the first feature.
    square = np.array([[-1.0, -2], [-1, 2], [1, -2], [1, 2]])
    points = np.vstack([square - [5, 0], square + np.array([5, 0])])
    model = ADFT().fit(points, given=LONG)
    np.testing.assert_allclose(model.metric_, np.diag([np.sqrt(26), 0.5]), rtol=1e-4)
    np.testing.assert_allclose(model.transform_, np.diag([1 / np.sqrt(26), 2]), rtol=1e-4)


def test_adft_inverts_the_stretch_and_keeps_the_directions():
    model = ADFT().fit(X @ np.linalg.qr(RNG.standard_normal((4, 4)))[0], given=GIVEN)
    left, singular, right = np.linalg.svd(model.metric_)
    np.testing.assert_allclose(
        left.T @ model.transform_ @ right.T, np.diag(1 / singular), atol=1e-8
    )


def test_adft_pair_metric_solves_its_program():
    rng = np.random.default_rng(0)
    labels = np.arange(24) % 2
    points = rng.standard_normal((24, 3)) + 1.5 * labels[:, None] * [1, 0.5, 0]
    points -= points.mean(axis=0)
    squares = (points[:, None] - points) ** 2
    apart = labels[:, None] != labels

    def negative(weights):
        return -np.sqrt(squares[apart] @ weights + 1e-15).sum()

    inside = squares[~apart].sum(axis=0)
    best = minimize(
        negative, np.full(3, 1 / 3) / inside, bounds=[(0, None)] * 3, method="SLSQP",
        constraints={"type": "eq", "fun": lambda w: inside @ w - 1}, options={"ftol": 1e-14},
    )  # fmt: skip
    found = np.diag(ADFT(metric="pairs").fit(points, given=labels).metric_) ** 2
    assert inside @ found == pytest.approx(1)
    assert negative(found) <= best.fun * (1 - 1e-6)


# CAMI


@pytest.mark.parametrize("given", [None, GIVEN])
def test_cami_objective_never_falls(given):
    model = CAMI(2, eta=5.0, n_init=2, random_state=0).fit(X, given=given)
    assert len(model.objective_path_) == model.n_iter_ > 2
    assert np.diff(model.objective_path_).min() > -1e-10


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("covariance", ["full", "diag", "spherical"])
def test_cami_without_penalty_is_a_gaussian_mixture(covariance):
    model = CAMI(3, eta=0, covariance=covariance, n_init=3, random_state=0).fit(X, given=GIVEN)
    Q = model.memberships_[0]
    shares, ridge = Q.mean(axis=0), 1e-3 * X.var(axis=0).mean()
    means = (Q.T @ X) / (len(X) * shares)[:, None]
    covariances = [
        (q[:, None] * (X - m)).T @ (X - m) / q.sum() + ridge * np.eye(4)
        for q, m in zip(Q.T, means, strict=True)
    ]
    precisions = {
        "full": np.linalg.inv(covariances),
        "diag": np.stack([1 / np.diag(c) for c in covariances]),
        "spherical": np.array([4 / np.trace(c) for c in covariances]),
    }
    # A further step of scikit-learn's EM from here changes nothing; it says that it is only one.
    mixture = GaussianMixture(
        3, covariance_type=covariance, reg_covar=ridge, max_iter=1, weights_init=shares,
        means_init=means, precisions_init=precisions[covariance],
    ).fit(X)  # fmt: skip
    assert mixture.score(X) == pytest.approx(model.objective_, abs=1e-5)
    np.testing.assert_allclose(mixture.predict_proba(X), Q, atol=1e-2)


def test_cami_information_of_hard_clusterings():
    a, b = RNG.integers(0, 3, 200), RNG.integers(0, 4, 200)
    expected = mutual_info_score(a, b)
    assert mutual_information(one_hot(a), one_hot(b)) == pytest.approx(expected, rel=1e-6)


def test_cami_step_solves_the_concave_problem():
    rng = np.random.default_rng(0)
    density = rng.standard_normal((7, 2))
    other = np.eye(2)[[0, 0, 0, 1, 1, 1, 1]]
    Q = np.full((7, 2), 0.5)
    for _ in range(300):
        Q = _penalised_step(Q, density, [other], 2.0)

    def negative(logits):
        first = 1 / (1 + np.exp(-logits))
        P = np.column_stack([first, 1 - first])
        return 2.0 * mutual_information(P, other) - _fit_of(P, density)

    best = min(minimize(negative, rng.standard_normal(7)).fun for _ in range(3))
    assert _fit_of(Q, density) - 2.0 * mutual_information(Q, other) == pytest.approx(
        -best, abs=1e-6
    )


# Decorrelated k-means


def test_representatives_solve_their_normal_equations():
    means, foreign = RNG.standard_normal((3, 6)), RNG.standard_normal((4, 6))
    sizes = np.array([5.0, 8.0, 2.0])
    found = representatives(means, sizes, foreign, 1.7)
    for r, a, n in zip(found, means, sizes, strict=True):
        expected = np.linalg.solve(np.eye(6) + 1.7 / n * foreign.T @ foreign, a)
        np.testing.assert_allclose(r, expected, atol=1e-12)


def decorrelated_objective(points, labelings, lam):
    means = [[points[labels == c].mean(axis=0) for c in range(2)] for labels in labelings]
    total = 0.0
    for t, labels in enumerate(labelings):
        foreign = np.vstack([m for s, m in enumerate(means) if s != t])
        for c in range(2):
            inside = points[labels == c]
            pull = np.eye(2) + lam / len(inside) * foreign.T @ foreign
            r = np.linalg.solve(pull, means[t][c])
            total += ((inside - r) ** 2).sum() + lam * ((foreign @ r) ** 2).sum()
    return total


@pytest.mark.parametrize("frozen", [True, False])
def test_decorrelated_kmeans_finds_the_best_of_all_labelings(frozen):
    rows = np.arange(8) if frozen else np.arange(0, 8, 2)
    model = DecorrelatedKMeans(2, n_init=20, random_state=0)
    model.fit(CORNERS[rows], given=LONG if frozen else None)
    points = CORNERS[rows] - CORNERS[rows].mean(axis=0)
    every = [np.array((0, *v)) for v in product([0, 1], repeat=len(rows) - 1) if any(v)]
    best = min(
        decorrelated_objective(points, [a, b], model.penalty_weight_)
        for a in ([LONG] if frozen else every)
        for b in every
    )
    assert model.objective_ == pytest.approx(best)
    assert nmi(model.labelings_[:, -1], SHORT[rows]) == pytest.approx(1)


def test_decorrelated_kmeans_without_penalty_is_kmeans():
    model = DecorrelatedKMeans(3, n_views=1, decorrelation=0, n_init=1, random_state=0).fit(X)
    expected = KMeans(3, n_init=1, random_state=0).fit(X - X.mean(axis=0))
    assert model.objective_ == pytest.approx(expected.inertia_)


# mSC


def test_msc_begins_in_groups_of_dependent_features_and_leaves_noise():
    data, labelings = make_gaussian_views(200, [3, 3], n_noise=2, rotate=False, random_state=0)
    model = MSC(3, random_state=0).fit(data)
    assert match_labelings(labelings, model.labelings_).score > 0.95
    owner = [{0: 0, 1: 0, 2: 1, 3: 1}.get(f) for f in range(6)]
    for group, W in zip(model.groups_, model.subspaces_, strict=True):
        assert len({owner[f] for f in group} - {None}) == 1
        np.testing.assert_allclose(W @ W.T, np.eye(len(W)), atol=1e-8)


def test_msc_views_avoid_each_other_and_the_given():
    data, labelings = make_gaussian_views(200, [3, 3, 3], rotate=False, random_state=4)
    model = MSC(3, n_views=2, random_state=0).fit(data, given=labelings[:, 1])
    assert match_labelings(labelings[:, [0, 2]], model.labelings_).score > 0.95
    # The features of the given view have no weight in the subspaces found.
    for W in model.subspaces_:
        assert (W[:, 2:4] ** 2).sum() < 0.05
    fixed = MSC(3, n_views=2, n_components=1, bandwidth=0.5, random_state=0).fit(data)
    assert [W.shape for W in fixed.subspaces_] == [(1, 6), (1, 6)]
