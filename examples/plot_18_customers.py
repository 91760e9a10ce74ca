"""
What else sets my customers apart?
==================================

Customers of a shop are in segments by what they spend. Marketing knows the segments. Do customers
also differ in *how* they buy?
"""

# %%
# A generated table as a shop would have it. The segment tells the size of baskets and the number of
# orders. How people buy has nothing to do with it: some wait for discounts, look often before they
# order, and send more back. The region is one more column, and means nothing.
import numpy as np
from matplotlib import pyplot as plt

from multifacet import find_views
from multifacet.metrics import nmi

rng = np.random.default_rng(0)
n = 400
segment = rng.choice(3, n, p=[0.5, 0.3, 0.2])
hunts = rng.random(n) < 0.35
customers = {
    "segment": np.array(["small", "regular", "premium"])[segment],
    "region": rng.choice(["north", "south", "west"], n),
    "orders_per_year": np.round(rng.gamma(12, 1, n) * (1 + segment)),
    "basket_eur": np.round(rng.lognormal(3.2 + 0.7 * segment, 0.25), 2),
    "discount_share": np.round(rng.beta(np.where(hunts, 12, 3), np.where(hunts, 5, 14)), 3),
    "visits_per_order": np.round(rng.gamma(np.where(hunts, 16, 5), 0.6), 1),
    "returned_share": np.round(rng.beta(np.where(hunts, 6, 2), 20), 3),
    "months_since_first": rng.integers(1, 120, n),
}

# %%
# Columns of few values are no features: one is given, the other is compared with what is found.
views = find_views(customers, given="segment", n_views=1)
print(views)
print(f"NMI with hunting for discounts {nmi(views[0].labels, hunts):.2f}")
print(f"NMI with the segment {nmi(views[0].labels, segment):.2f}")

# %%
# The groups cut across the segments, so that each segment has both kinds of customers.
labels = views[0].labels
for name in ("small", "regular", "premium"):
    rows = customers["segment"] == name
    print(f"{name}: {rows.sum()} customers,", [int((labels[rows] == c).sum()) for c in (0, 1)])

figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for ax, known, title in zip(axes, (segment, labels), ("by segment", "by view 1"), strict=True):
    ax.scatter(customers["basket_eur"], customers["discount_share"], c=known, cmap="cividis", s=12)
    ax.set(xlabel="basket (EUR)", ylabel="share bought at a discount", title=title, xscale="log")

# %%
# The labels go back into the table, for the next campaign; new customers are told by
# ``views.predict(more)``.
labelled = views.assign(customers)
print(list(labelled)[-1], "is a column of", len(labelled["view 1"]), "labels")
