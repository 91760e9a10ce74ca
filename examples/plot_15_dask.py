"""
Big data with Dask
==================

A Dask array is a large array in pieces, on this machine or on many. The estimators take it as it
is: sums over its pieces are computed where they are, and what comes back is a Dask array again. The
same lines run on a cluster once a ``distributed.Client`` exists.
"""

# %%
# Four pieces stand for a thousand. Two groupings are in the first four features; four more are
# noise.
import dask.array as da
from matplotlib import pyplot as plt

from multifacet import SupervisedKDR
from multifacet.datasets import make_gaussian_views
from multifacet.engines import Dask
from multifacet.plotting import plot_view

rows, labelings = make_gaussian_views(4_000, [2, 3], n_noise=4, rotate=False, random_state=0)
X = da.from_array(rows, chunks=(1_000, -1))
print(X)

# %%
# The plane that tells the three groups of the second one apart. All estimators work in this way,
# ``KDAC`` too.
model = SupervisedKDR(n_components=2, engine=Dask(rank=50)).fit(X, labelings[:, 1])
print("weights of the features:", model.feature_weights_.round(2))

# %%
# Nothing is computed before it is asked for.
projected = model.transform(X)
print(projected)
figure, ax = plt.subplots(figsize=(5.5, 3.6), layout="constrained")
few = projected[:1000].compute()
plot_view(few, labelings[:1000, 1], ax=ax, title="1,000 of 4,000 rows")
