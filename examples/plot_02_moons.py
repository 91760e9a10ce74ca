"""
Two moons behind two blobs
==========================

Two features show two compact groups, two others show two moons. The first grouping is known. The
other one has a shape that k-means cannot see, and lives in features that nobody names.
"""

# %%
from matplotlib import pyplot as plt

from multifacet import KDAC
from multifacet.datasets import make_moons_views
from multifacet.metrics import nmi
from multifacet.plotting import plot_view

X, labelings = make_moons_views(250, random_state=0)
known, hidden = labelings.T

# %%
# Nothing is set but the number of groups and of dimensions; ``selection_`` says what was chosen.
model = KDAC(n_clusters=2, n_components=2, random_state=0).fit(X, given=known)
print(model.selection_)
print(f"NMI with the moons {nmi(model.labels_, hidden):.2f}")
print(f"NMI with the blobs {nmi(model.labels_, known):.2f}")

# %%
# The same rows in the same colours: in the features of the known grouping, and in those of the
# moons. Weights say which features the subspace is made of.
print("weights:", model.feature_weights_.round(2))
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
plot_view(X[:, :2], model.labels_, ax=left, title="features 0 and 1", axis_labels=["x0", "x1"])
plot_view(X[:, 2:], model.labels_, ax=right, title="features 2 and 3", axis_labels=["x2", "x3"])
