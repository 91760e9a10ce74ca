"""
Which method finds the other grouping?
======================================

Rival methods on two tables. One grouping is given; the bar says how well each method finds the
other. Where clusters are compact, simple methods do it. Where they are curved, or hidden among
noise features, they do not.
"""

# %%
import warnings

import numpy as np
from matplotlib import pyplot as plt
from sklearn.cluster import KMeans

from multifacet import KDAC, LinearKDAC
from multifacet.baselines import CAMI, ConsKL, OrthogonalClustering, Residual
from multifacet.datasets import make_gaussian_views, make_moons_views
from multifacet.metrics import nmi

tables = {
    "compact": make_gaussian_views(150, [2, 2], random_state=0),
    "moons, 4 noise features": make_moons_views(150, n_noise=4, random_state=0),
}
methods = {
    "KDAC": KDAC(2, n_components=2, random_state=0),
    "LinearKDAC": LinearKDAC(2, random_state=0),
    "Residual": Residual(2, random_state=0),
    "orthogonal": OrthogonalClustering(2, random_state=0),
    "cons-KL": ConsKL(2, random_state=0),
    "CAMI": CAMI(2, covariance="diag", n_init=3, random_state=0),
    "k-means, nothing given": KMeans(2, n_init=10, random_state=0),
}

# %%
scores = np.zeros((len(tables), len(methods)))
for i, (X, labelings) in enumerate(tables.values()):
    for j, method in enumerate(methods.values()):
        known = {} if isinstance(method, KMeans) else {"given": labelings[:, 0]}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about convergence
            scores[i, j] = nmi(method.fit(X, **known).labels_, labelings[:, 1])
    print(f"{list(tables)[i]:25}", " ".join(f"{score:.2f}" for score in scores[i]))

# %%
figure, axes = plt.subplots(1, 2, figsize=(9, 3.2), sharey=True, layout="constrained")
for ax, row, title in zip(axes, scores, tables, strict=True):
    ax.barh(list(methods), row, color=["#D55E00", *["#0072B2"] * (len(methods) - 1)])
    ax.set(xlim=(0, 1), xlabel="NMI with the other grouping")
    ax.set_title(title, loc="left", fontsize=10)
axes[0].invert_yaxis()
