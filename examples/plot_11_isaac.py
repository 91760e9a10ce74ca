"""
All groupings at once, with nothing to set
==========================================

ISAAC takes a table for a mixture of independent subspaces, unmixes it, and looks for clusters in
each. The number of subspaces and of clusters is found by the length of a description.
"""

# %%
# Two independent groupings, of three and of two clusters, mixed by a random rotation.
from matplotlib import pyplot as plt

from multifacet import ISAAC
from multifacet.datasets import make_gaussian_views
from multifacet.metrics import match_labelings
from multifacet.plotting import plot_view

X, labelings = make_gaussian_views(600, [3, 2], rotate=True, random_state=0)
model = ISAAC(random_state=0).fit(X)
print("clusters of each subspace:", model.n_clusters_)
print(f"agreement with the truth: {match_labelings(labelings, model.labelings_).score:.2f}")

# %%
# The data as they come, and each subspace that was found.
found = model.labelings_.T
n = 1 + len(found)
figure, axes = plt.subplots(1, n, figsize=(4 * n, 3.4), layout="constrained")
axes[0].plot(X[:, 0], X[:, 1], ".", color="#8C8C8C")
axes[0].set_title("two of the mixed features", loc="left")
for i, (ax, labels) in enumerate(zip(axes[1:], found, strict=True)):
    plot_view(X @ model.subspaces_[i].basis.T, labels, ax=ax, title=f"subspace {i}")
