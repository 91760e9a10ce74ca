"""
Nothing there
=============

Every clustering method returns clusters, also from a cloud without any. Here the search says that
there is nothing, and how it can tell.
"""

# %%
import numpy as np
from matplotlib import pyplot as plt

from multifacet import find_views
from multifacet.datasets import make_gaussian_views
from multifacet.plotting import plot_view

rng = np.random.default_rng(0)
cloud = rng.normal(size=(100, 4))
grouped, _ = make_gaussian_views(100, [2, 2], rotate=False, random_state=0)

# %%
# ``rejected`` keeps the best candidate, with its numbers.
nothing = find_views(cloud, n_clusters=2, n_components=2)
print(nothing)
something = find_views(grouped, n_views=1, n_clusters=2, n_components=2, n_refits=0)
print(something)

# %%
# The best split of a cloud, and a real one. The p-value compares with what the same search
# finds in data without groups.
figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
shown = {"a cloud": nothing.rejected, "two groups": something[0]}
for ax, (name, view) in zip(axes, shown.items(), strict=True):
    plot_view(view.projection, view.labels, ax=ax, title=f"{name}: p = {view.p_value:.2g}")
