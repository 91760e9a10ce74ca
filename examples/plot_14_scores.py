"""
Clusters that respect an expert
===============================

An expert has scored every row. Semi-supervised reduction looks for clusters in a subspace that
also depends on the scores; the weight says how much the expert's word counts.
"""

# %%
# Two groupings are in the data, and the expert means the second one, roughly.
import numpy as np
from matplotlib import pyplot as plt

from multifacet import SemiSupervisedKDR
from multifacet.datasets import make_gaussian_views
from multifacet.metrics import nmi
from multifacet.plotting import plot_view

X, labelings = make_gaussian_views(200, [2, 2], rotate=False, random_state=0)
scores = labelings[:, 1] + np.random.default_rng(0).normal(0, 0.5, 200)

# %%
# One dimension is asked for. Without the scores it shows whatever splits the rows; with them,
# what the expert means.
figure, axes = plt.subplots(1, 2, figsize=(10, 3.2), layout="constrained")
for ax, weight in zip(axes, (0.0, 1.0), strict=True):
    model = SemiSupervisedKDR(2, 1, score_weight=weight, random_state=0).fit(X, scores)
    agreement = nmi(model.labels_, labelings[:, 1])
    print(f"score_weight={weight}: NMI with what the expert means {agreement:.2f}")
    plot_view(model.transform(X), model.labels_, ax=ax, title=f"score_weight={weight}")
