"""
What novelty costs
==================

A grouping may be forced to be new, at the price of quality. The frontier shows the price: cluster
quality against dependence on what is known, along the novelty weight of the kernel objective.
"""

# %%
# Penguins, in both directions: given the species, find the sexes; and given the sex, find the
# species. Quality can be compared at one bandwidth only, so it is fixed.
from matplotlib import pyplot as plt

from multifacet import find_views
from multifacet.datasets import load_penguins
from multifacet.plotting import plot_frontier

table, labels = load_penguins(as_frame=True)
half = table[::2]
paths = {}
for known, n_clusters in {"species": 2, "sex": 3}.items():
    given = labels[known][::2]
    options = {"n_views": 1, "n_clusters": n_clusters, "bandwidth": 0.7, "n_refits": 0}
    views = find_views(half, given=given, **options)
    path = paths[f"given the {known}"] = views.frontier
    print(f"given the {known}: quality {path.quality[0]:.2f} falls to {path.quality[-1]:.2f}")

# %%
# Males are larger, and so are some species: to be independent of the species, the sexes give up
# some quality. The species have features of their own; there novelty is free.
figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.4), layout="constrained")
plot_frontier(paths["given the species"], ax=left)
left.set_title("given the species", loc="left")
for (name, path), style in zip(paths.items(), ("o-", "s--"), strict=True):
    right.plot(path.weights, path.quality / path.quality.max(), style, label=name)
right.set_xscale("symlog", linthresh=0.1)
right.set(xlabel="novelty weight", ylabel="quality, as a share of the highest", ylim=(0, 1.05))
right.legend()
