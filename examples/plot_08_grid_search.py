"""
Reduction in a Pipeline, with a grid search
===========================================

Thirteen measurements of wines are reduced to two that tell the cultivars apart. Dimension and
kernel are searched over as any other parameter; the scaler, the reduction and the classifier are
cross-validated together.
"""

# %%
from matplotlib import pyplot as plt
from sklearn.datasets import load_wine
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from multifacet import SupervisedKDR
from multifacet.kernels import Gaussian, Linear, Polynomial
from multifacet.plotting import plot_view

wine = load_wine()
steps = [
    ("scale", StandardScaler()),
    ("reduce", SupervisedKDR()),
    ("classify", KNeighborsClassifier()),
]
grid = {
    "reduce__n_components": [1, 2],
    "reduce__kernel": [Linear(), Gaussian(2.0), Gaussian(4.0), Polynomial(2)],
}
search = GridSearchCV(Pipeline(steps), grid, cv=3).fit(wine.data, wine.target)
print(f"accuracy {search.best_score_:.3f} with {search.best_params_}")

# %%
# Every axis is a mixture of the measurements, and can be read.
best = search.best_estimator_
reduced = best[:-1].transform(wine.data)
weights = dict(zip(wine.feature_names, best["reduce"].feature_weights_, strict=True))
for name in sorted(weights, key=weights.get, reverse=True)[:4]:
    print(f"{name:30} {weights[name]:.2f}")
figure, ax = plt.subplots(figsize=(5.5, 3.6), layout="constrained")
plot_view(reduced, wine.target_names[wine.target], ax=ax, title="wines in two dimensions")
