"""The parts of ISAAC: components and their grouping, code lengths, the search, and mixtures."""

from __future__ import annotations

from itertools import combinations, combinations_with_replacement, product

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.decomposition import FastICA
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

from multifacet.isaac.coding import CodingCost, merge_indicators
from multifacet.isaac.density import density_bits
from multifacet.isaac.isa import group_components, independent_components
from multifacet.isaac.mixture import choose_clusters, cluster_code, fit_mixtures
from multifacet.isaac.published import kernel_bits, published_clusters
from multifacet.isaac.search import find_partition, find_subspaces


def clusters(n, centres, width, rng):
    """Rows around centres (k, b), and their labels."""
    centres = np.asarray(centres, dtype=float)
    labels = rng.integers(0, len(centres), n)
    return centres[labels] + width * rng.standard_normal((n, centres.shape[1])), labels


def scaled(S):
    return (S - S.mean(axis=0)) / S.std(axis=0)


def ring(n, rng):
    angle = rng.uniform(0, 2 * np.pi, n)
    points = np.column_stack([np.cos(angle), np.sin(angle)])
    return scaled(points + 0.1 * rng.standard_normal((n, 2)))


def cross(n, rng):
    points = 0.1 * rng.standard_normal((n, 2))
    points[np.arange(n), rng.integers(0, 2, n)] += rng.uniform(-1, 1, n)
    return scaled(points)


def moons(n, rng):
    upper, angle = rng.integers(0, 2, n).astype(bool), rng.uniform(0, np.pi, n)
    x = np.where(upper, np.cos(angle), 1 - np.cos(angle))
    y = np.where(upper, np.sin(angle), 0.5 - np.sin(angle))
    return scaled(np.column_stack([x, y]) + 0.08 * rng.standard_normal((n, 2)))


# --- components


def leak(demixing, mixing):
    """Largest share of a wrong source in a component (an Amari-like error)."""
    gain = np.abs(demixing @ mixing)
    return np.sort(gain / gain.max(axis=1, keepdims=True), axis=1)[:, -2].max()


def test_components_invert_the_mixing():
    rng = np.random.default_rng(0)
    S = rng.uniform(-1, 1, (2000, 4))
    mixing = rng.standard_normal((4, 4))
    found = independent_components(S @ mixing.T + 3.0)
    assert leak(found.demixing, mixing) < 0.05
    np.testing.assert_allclose(found.sources.std(axis=0), 1.0, atol=1e-10)
    X = S @ mixing.T + 3.0
    np.testing.assert_allclose(found.sources, (X - found.mean) @ found.demixing.T, atol=1e-10)


@pytest.mark.parametrize("seed", range(3))
def test_tight_clusters_are_separated_better_than_by_fastica(seed):
    rng = np.random.default_rng(seed)
    columns = [clusters(1000, np.arange(k)[:, None], 0.05, rng)[0] for k in (2, 3, 4, 5)]
    mixing = rng.standard_normal((4, 4))
    X = np.hstack(columns) @ mixing.T
    plain = FastICA(random_state=0, whiten="unit-variance", max_iter=1000).fit(X)
    ours = leak(independent_components(X).demixing, mixing)
    assert ours < 0.01
    assert ours < 0.5 * leak(plain.components_, mixing)


def test_rank_and_row_limits():
    rng = np.random.default_rng(0)
    flat = rng.uniform(size=(300, 3)) @ rng.standard_normal((3, 7))
    assert independent_components(flat).sources.shape == (300, 3)
    wide = rng.uniform(size=(60, 200))
    assert independent_components(wide).sources.shape == (60, 6)
    assert independent_components(wide, n_components=9).sources.shape == (60, 9)
    # Three directions that stand out of the noise of 80 features.
    signal = rng.uniform(size=(400, 3)) @ rng.choice([-1.0, 1.0], (3, 80))
    noisy = signal + 0.05 * rng.standard_normal((400, 80))
    assert independent_components(noisy).sources.shape == (400, 3)


def test_a_search_without_end_is_said():
    X = np.random.default_rng(0).standard_normal((200, 4))
    assert not independent_components(X, steps=1).converged
    with pytest.warns(ConvergenceWarning, match="did not converge from any start"):
        find_subspaces(X, steps=1)


def within(T, groups):
    return sum(T[i, j] for group in groups for i, j in combinations(group, 2))


@pytest.mark.parametrize("sizes", [(2, 2, 2), (3, 2, 1), (1, 5), (4, 2)])
def test_dependent_components_are_grouped(sizes):
    rng = np.random.default_rng(0)
    for _ in range(20):
        place = rng.permutation(6)
        true = np.split(place, np.cumsum(sizes)[:-1])
        T = rng.uniform(0, 0.3, (6, 6))
        for block in true:
            T[np.ix_(block, block)] += 1.0
        T = T + T.T
        found = group_components(T, sizes)
        assert [sorted(block) for block in true] == [block.tolist() for block in found] or within(
            T, found
        ) == pytest.approx(within(T, true))


def test_no_exchange_is_left_that_helps():
    rng = np.random.default_rng(1)
    for _ in range(10):
        T = rng.uniform(size=(7, 7))
        T = T + T.T
        start = [np.array([0, 1, 2]), np.array([3, 4]), np.array([5, 6])]
        found = group_components(T, [3, 2, 2], start=start)
        best = within(T, found)
        assert best >= within(T, start)
        for a, b in combinations(range(3), 2):
            for i, j in product(range(len(found[a])), range(len(found[b]))):
                other = [group.copy() for group in found]
                other[a][i], other[b][j] = other[b][j], other[a][i]
                assert within(T, other) <= best + 1e-9
    with pytest.raises(ValueError, match=r"sizes=\[3, 3\] must be positive and sum to 7"):
        group_components(T, [3, 3])


# --- code lengths


def direct_bits(S):
    """Spell out the definition: loops over pairs, each row left out, the best of ten widths."""
    n, b = S.shape
    quartiles = np.subtract(*np.percentile(S, [75, 25], axis=0)) / 1.34
    rule = 0.9 * n ** (-1 / (b + 4)) * np.minimum(S.std(axis=0, ddof=1), quartiles)
    found = []
    for j in range(10):
        h = rule * 2 ** (-j / 2)
        total = 0.0
        for i in range(n):
            others = np.delete(S, i, axis=0)
            kernels = np.exp(-0.5 * (((S[i] - others) / h) ** 2).sum(axis=1))
            f = kernels.mean() / ((2 * np.pi) ** (b / 2) * h.prod())
            total -= np.log2((1 - 1 / n) * f + 1 / (n * np.ptp(S, axis=0).prod()))
        found.append(total)
    return min(found)


@pytest.mark.parametrize("b", [1, 2, 3, 4])
@pytest.mark.parametrize("kind", ["gaussian", "clusters"])
def test_code_length_is_the_definition(b, kind):
    rng = np.random.default_rng(b)
    S = rng.standard_normal((150, b))
    if kind == "clusters":
        S += 8 * rng.integers(0, 3, (150, 1))
    S = S + 100  # differences of large numbers
    expected = direct_bits(S)
    assert density_bits(S, method="pairs") == pytest.approx(expected, rel=1e-4)
    if b <= 2:
        # The grid is asked for an error of 1 %; it has less than 0.2 %.
        assert density_bits(S, method="grid") == pytest.approx(expected, rel=2e-3)


@pytest.mark.parametrize("b", [1, 2])
def test_a_grid_and_pairs_agree_on_many_rows(b):
    S = np.random.default_rng(0).standard_t(5, size=(6000, b))  # heavy tails, few centres
    assert density_bits(S, method="grid") == pytest.approx(
        density_bits(S, method="pairs"), rel=2e-3
    )


ENTROPIES = {
    "gaussian": (lambda rng, size: rng.standard_normal(size), 0.5 * np.log2(2 * np.pi * np.e)),
    "uniform": (lambda rng, size: rng.uniform(0, 4, size), 2.0),
    "laplace": (lambda rng, size: rng.laplace(0, 1, size), np.log2(2 * np.e)),
    "clusters": (
        lambda rng, size: 20 * rng.integers(0, 4, size) + rng.standard_normal(size),
        2 + 0.5 * np.log2(2 * np.pi * np.e),
    ),
}


@pytest.mark.parametrize("kind", ENTROPIES)
@pytest.mark.parametrize(("b", "error"), [(1, 0.04), (2, 0.16), (3, 0.4)])
def test_known_entropies(kind, b, error):
    """The error falls with n and grows with b, as that of any density estimate."""
    draw, entropy = ENTROPIES[kind]
    S = draw(np.random.default_rng(0), (2000, b))
    assert density_bits(S) / 2000 == pytest.approx(b * entropy, abs=error)
    assert density_bits(8 * S) == pytest.approx(density_bits(S) + 2000 * b * 3, rel=1e-5)


def test_repeated_values_cost_finite_bits():
    S = np.random.default_rng(0).integers(0, 2, (300, 2)).astype(float)
    S[:290] = S[0]
    S[295, 1] = 0.5
    assert np.isfinite(density_bits(S))
    assert np.isfinite(CodingCost(S).group(np.array([0, 1])))


# --- merging


def test_indicators_are_differences_of_code_lengths():
    rng = np.random.default_rng(0)
    S = np.hstack([ring(400, rng), scaled(rng.uniform(size=(400, 2)))])
    groups = [np.array([0]), np.array([1]), np.array([2, 3])]
    added = merge_indicators(S, groups)
    for i, j in combinations(range(3), 2):
        a, b = groups[i], groups[j]
        expected = density_bits(S[:, [*a, *b]]) - density_bits(S[:, a]) - density_bits(S[:, b])
        assert added[i, j] == pytest.approx(expected, abs=1.0)  # of some thousand bits
        assert added[i, j] == added[j, i]
    assert np.isinf(np.diag(added)).all()


def test_cost_of_a_partition():
    S = scaled(np.random.default_rng(0).uniform(size=(200, 3)))
    cost = CodingCost(S)
    groups = [np.array([0, 2]), np.array([1])]
    # Sizes 2 and 1 of 3: (2/2) log2(3/2) + (1/2) log2(3). Four entries of the demixing matrix are
    # between the groups, at half of log2 200 each.
    extra = np.log2(1.5) + 0.5 * np.log2(3) + 4 * 0.5 * np.log2(200)
    assert cost(groups) == pytest.approx(sum(map(cost.group, groups)) + extra)
    kernel = density_bits(S[:, [1]]) + 3 * 0.5 * np.log2(200)  # mean, variance and width
    mixtures = [mixture.density_bits for mixture in fit_mixtures(S[:, [1]])]
    assert cost.group(groups[1]) == pytest.approx(min(kernel, *mixtures))
    singles = [np.array([i]) for i in range(3)]
    pair = [np.array([0, 1]), np.array([2])]
    assert cost.merged(*singles[:2]) == pytest.approx(cost(pair) - cost(singles))


def test_gaussian_directions_cost_no_entries():
    S = scaled(np.random.default_rng(0).standard_normal((400, 2)))
    cost = CodingCost(S)
    groups = [np.array([0]), np.array([1])]
    # 400 rows of unit variance, a mean and a variance at half of log2 400 each.
    single = 200 * np.log2(2 * np.pi * np.e) + np.log2(400)
    assert cost.group(groups[0]) == pytest.approx(single, abs=0.1)
    assert cost.demixing(*groups) == 0


SHAPES = {
    "gaussian": lambda rng, n: rng.standard_normal(n),
    "uniform": lambda rng, n: rng.uniform(size=n),
    "two clusters": lambda rng, n: rng.standard_normal(n) + 8 * rng.integers(0, 2, n),
    "four clusters": lambda rng, n: rng.standard_normal(n) + 8 * rng.integers(0, 4, n),
    "skewed": lambda rng, n: rng.exponential(size=n),
}


@pytest.mark.parametrize(("a", "b"), list(combinations_with_replacement(SHAPES, 2)))
def test_merging_independent_components_does_not_pay(a, b):
    added = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        S = scaled(np.column_stack([SHAPES[a](rng, 200), SHAPES[b](rng, 200)]))
        added.append(CodingCost(S).merged(np.array([0]), np.array([1])))
    assert np.mean(added) > 0


@pytest.mark.parametrize(("ratio", "whole"), [(1.0, False), (4.0, True)])
def test_a_direction_that_differs_in_width_only_belongs_to_the_clusters(ratio, whole):
    """Two clusters in space: the third coordinate has one mean, but another width in each."""
    added = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        S, labels = clusters(600, [[0, 0, 0], [8, 0, 0]], 1.0, rng)
        S[:, 1:] *= np.where(labels == 1, np.sqrt([[4.0], [ratio]]), 1.0).T
        added.append(CodingCost(scaled(S)).merged(np.array([0, 1]), np.array([2])))
    assert (np.mean(added) < 0) == whole


@pytest.mark.parametrize("shape", [ring, cross, moons])
def test_a_plane_is_not_split(shape):
    """Nonlinear dependence between uncorrelated coordinates, beside two other subspaces."""
    rng = np.random.default_rng(0)
    S = np.column_stack([shape(400, rng), rng.uniform(size=400), rng.exponential(size=400)])
    mixing = rng.standard_normal((4, 4))
    found = independent_components(S @ mixing.T)
    partition = find_partition(found.sources)
    planes = [group for group in partition.groups if len(group) == 2]
    assert sorted(len(group) for group in partition.groups) == [1, 1, 2]
    power = (found.demixing[planes[0]] @ mixing) ** 2 * S.var(axis=0)
    assert power[:, :2].sum() > 0.99 * power.sum()
    assert partition.cost == min(bits for _, bits in partition.path)


# --- mixtures


def test_bits_of_a_cluster():
    rng = np.random.default_rng(0)
    S = rng.standard_normal((80, 3)) @ rng.standard_normal((3, 3))
    normal = multivariate_normal(S.mean(axis=0), np.cov(S.T, bias=True))
    # 80 of 320 rows: two bits for the label of each; 9 parameters at half of log2 320.
    expected = -normal.logpdf(S).sum() / np.log(2) + 80 * 2 + 4.5 * np.log2(320)
    assert cluster_code(S, 320, 0.0) == pytest.approx(expected)
    assert cluster_code(S[:7], 320, 1e-6) == np.inf
    assert np.isfinite(cluster_code(np.repeat(S[:1], 9, axis=0), 320, 1e-6))


def test_density_code_is_half_the_bic():
    S, _ = clusters(600, [[0, 0], [6, 0], [0, 6]], 1.0, np.random.default_rng(0))
    for ours in fit_mixtures(S)[:3]:
        theirs = GaussianMixture(ours.n_clusters, n_init=5, random_state=0).fit(S)
        assert ours.density_bits == pytest.approx(theirs.bic(S) / (2 * np.log(2)), rel=1e-3)
        if ours.n_clusters == 3:
            order = np.lexsort(ours.means.round(1).T)
            other = np.lexsort(theirs.means_.round(1).T)
            np.testing.assert_allclose(ours.means[order], theirs.means_[other], atol=0.01)
            np.testing.assert_allclose(ours.weights[order], theirs.weights_[other], atol=0.01)


@pytest.mark.parametrize("b", [1, 2, 3])
@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_number_of_clusters(k, b):
    rng = np.random.default_rng(10 * k + b)
    centres = 10 * np.array(list(product(range(5), repeat=b)))
    S, labels = clusters(500, centres[rng.permutation(len(centres))[:k]], 1.0, rng)
    found = choose_clusters(fit_mixtures(S))
    assert found.n_clusters == k
    pairs = {*zip(labels.tolist(), found.labels.tolist(), strict=True)}
    assert len(pairs) == k  # the same clusters under other names
    np.testing.assert_array_equal(found.predict(S), found.labels)


def test_uniform_rows_are_one_cluster():
    S = np.random.default_rng(0).uniform(size=(800, 1))
    found = choose_clusters(fit_mixtures(S))
    assert found.n_clusters == 1
    # Both corners of the box at half of log2 800 each.
    assert found.cluster_bits == pytest.approx(800 * np.log2(np.ptp(S)) + np.log2(800))


def test_correlated_clusters_are_not_cut_into_pieces():
    rng = np.random.default_rng(0)
    S, _ = clusters(600, [[0, 0], [0, 8], [12, 0]], 1.0, rng)
    assert choose_clusters(fit_mixtures(S @ np.array([[1, 3], [0, 1]]))).n_clusters == 3


@pytest.mark.parametrize(
    "S",
    [
        np.repeat([[0.0], [1.0], [2.0]], 50, axis=0),  # values without any width
        np.repeat([[0.0, 1.0], [1.0, 3.0]], 30, axis=0),  # on a line as well
        np.arange(12.0)[:, None],
        np.vstack([np.random.default_rng(0).standard_normal((200, 2)), [[1e3, 1e3]]]),
    ],
)
def test_degenerate_samples(S):
    for mixture in fit_mixtures(S):
        assert np.isfinite(mixture.density_bits)
        assert np.isfinite(mixture.covariances).all()
    assert np.isfinite(choose_clusters(fit_mixtures(S)).cluster_bits)


@pytest.mark.parametrize("seed", range(6))
def test_no_small_cluster_at_the_rim(seed):
    """A few rows at the rim of a Gaussian are no cluster, as the published code would have it."""
    rng = np.random.default_rng(seed)
    centres = [[0, 0], [9, 0], [0, 9], [9, 9]]
    S, _ = clusters(200, centres, 1.0, rng)
    assert choose_clusters(fit_mixtures(S)).n_clusters == 4


# --- as published


def test_published_density_includes_each_row():
    S = np.random.default_rng(0).standard_normal((120, 2))
    quartiles = np.subtract(*np.percentile(S, [75, 25], axis=0)) / 1.34
    h = 0.9 * 120 ** (-1 / 6) * np.minimum(S.std(axis=0, ddof=1), quartiles)
    f = [np.exp(-0.5 * (((s - S) / h) ** 2).sum(axis=1)).mean() / (2 * np.pi * h.prod()) for s in S]
    assert kernel_bits(S) == pytest.approx(-np.log2(f).sum(), rel=1e-5)


def test_published_clusters_are_misled_by_correlations():
    """Standard deviations instead of covariances: the flaw is reproduced."""
    rng = np.random.default_rng(0)
    S, _ = clusters(600, [[0, 0], [0, 8], [12, 0]], 1.0, rng)
    S = S @ np.array([[1, 3], [0, 1]])
    mixtures = fit_mixtures(S)
    assert choose_clusters(mixtures).n_clusters == 3
    literal = published_clusters(S, mixtures)
    assert choose_clusters(literal).n_clusters != 3
    bits = [mixture.cluster_bits for mixture in literal]
    assert bits == sorted(bits, reverse=True)
    # One cluster: two standard deviations, and 5 parameters at half of log2 600.
    expected = 300 * np.log2(2 * np.pi * np.e * S.var(axis=0)).sum() + 2.5 * np.log2(600)
    assert bits[0] == pytest.approx(expected, rel=1e-3)
