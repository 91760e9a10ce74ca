"""
Penguins: what else besides the species?
========================================

333 penguins, four measurements. The species is known. The one call finds another grouping, and
says which measurements make it and how far to believe it.
"""

# %%
from matplotlib import pyplot as plt

from multifacet import find_views
from multifacet.datasets import load_penguins
from multifacet.metrics import nmi
from multifacet.plotting import plot_loadings, plot_view

table, labels = load_penguins(as_frame=True)
penguins = table.assign(species=labels["species"])
views = find_views(penguins, given="species", n_views=1)
print(views)

# %%
# The sex of the birds was not in the table.
view = views[0]
print(f"NMI with the sex {nmi(view.labels, labels['sex']):.2f}")
print(f"NMI with the species {nmi(view.labels, labels['species']):.2f}")

# %%
# The view in its own subspace, in the colours of what is known and in its own; and the features
# behind it. ``views.plot()`` draws the like, ``views.report("penguins.html")`` more.
figure, axes = plt.subplots(1, 3, figsize=(13, 3.6), layout="constrained")
axis = ["axis 1", "axis 2"]
plot_view(
    view.projection, penguins["species"], ax=axes[0], title="known: species", axis_labels=axis
)
plot_view(view.projection, view.labels, ax=axes[1], title="found", axis_labels=axis)
plot_loadings(view.explanation, ax=axes[2])
