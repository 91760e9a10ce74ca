"""
Cells: the type is known, what about the state?
===============================================

Counts of genes in single cells: every type of cell has its own genes, and some cells of every
type are stressed, which shows in a few other genes. The types are known. The data are generated,
with the noise and the many zeros of real counts.
"""

# %%
import numpy as np
from matplotlib import pyplot as plt

from multifacet import find_views
from multifacet.metrics import nmi
from multifacet.plotting import plot_loadings, plot_view

rng = np.random.default_rng(0)
cells, genes = 240, 30
kind, stressed = rng.integers(0, 3, cells), rng.integers(0, 2, cells)
rate = np.full((cells, genes), 1.0)
for i in range(3):
    rate[:, 4 * i : 4 * i + 4] += 6.0 * (kind == i)[:, None]
rate[:, 12:16] += 8.0 * stressed[:, None]
depth = rng.lognormal(0, 0.3, (cells, 1))  # cells are not read equally often
counts = rng.poisson(depth * rate * rng.gamma(4, 0.25, rate.shape))
print(f"{(counts == 0).mean():.0%} of the counts are zero")

# %%
# As usual: the same depth for all cells, then logarithms.
expression = np.log1p(counts / counts.sum(axis=1, keepdims=True) * np.median(counts.sum(axis=1)))
names = [f"type{i}_{j}" for i in range(3) for j in range(4)]
names += [f"heat_shock_{j}" for j in range(4)] + [f"gene_{j}" for j in range(genes - 16)]
table = dict(zip(names, expression.T, strict=True))

views = find_views(table, given=kind, n_views=1, n_clusters=2, n_components=2, n_refits=0)
view = views[0]
print(view.sentence)
print(f"NMI with the state {nmi(view.labels, stressed):.2f}")
print(f"NMI with the type {nmi(view.labels, kind):.2f}")

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(12, 3.6), layout="constrained")
plot_view(view.projection, view.labels, ax=left, title="cells in the subspace found")
plot_loadings(view.explanation, ax=right)
