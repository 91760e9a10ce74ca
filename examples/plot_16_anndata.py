"""
AnnData: views of cells, written beside them, and told of new cells
===================================================================

Single cells mostly come as AnnData: counts in ``X``, what is known in ``obs``. ``find_views`` takes
that object as it is, and puts what it finds back. The cells here are generated: three types, and in
every type some cells divide, which nobody has written down.
"""

# %%
import warnings

import anndata
import numpy as np
from matplotlib import pyplot as plt

from multifacet import find_views
from multifacet.plotting import plot_view

rng = np.random.default_rng(0)
n_cells, n_genes = 300, 200
kind, dividing = rng.integers(0, 3, n_cells), rng.random(n_cells) < 0.4
rate = np.full((n_cells, n_genes), 1.0)
for i in range(3):
    rate[:, 20 * i : 20 * i + 20] += 3.0 * (kind == i)[:, None]
rate[:, 60:80] += 3.0 * dividing[:, None]
counts = rng.poisson(rate * rng.lognormal(0, 0.2, (n_cells, 1)))

cells = anndata.AnnData(np.log1p(counts / counts.sum(axis=1, keepdims=True) * 300))
cells.obs_names = [f"cell {i}" for i in range(n_cells)]
cells.var_names = [f"gene {j}" for j in range(60)] + [f"cycle {j}" for j in range(140)]
cells.obs["type"] = np.array(["B", "T", "NK"])[kind]
cells.obs["score"] = dividing + rng.normal(0, 0.3, n_cells)  # what someone has measured otherwise

# %%
# 200 genes are many, so that the search goes through principal components, and says so. The columns
# of ``obs`` are no features: the type is given, the score is compared with what is found.
known, new = cells[:250], cells[250:]
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    views = find_views(known, given="type", n_views=1, n_clusters=2, method="linear")
print(said[0].message)
print(views)

# %%
# Labels go to ``obs``, places to ``obsm``. Which genes are behind a view that was found in
# components stands in ``varm``: how far each group is from all other cells, in deviations.
written = views.assign(known)
effects = np.abs(written.varm["multifacet_1"][:, 0])
print("genes behind it:", ", ".join(written.var_names[np.argsort(-effects)[:5]]))

# %%
# New cells are put to their places in the same components.
groups = views.predict(new)[:, 0]
agree = max(np.mean(groups == dividing[250:]), np.mean(groups != dividing[250:]))
print(f"share of new cells in the group of those that divide as they do: {agree:.2f}")

figure, ax = plt.subplots(figsize=(5.5, 3.6), layout="constrained")
plot_view(views.transform(new)[0], groups, ax=ax, title="50 new cells in the view")
