"""
A kernel of your own
====================

A kernel is a function f of the squared distance (or of the inner product) of two projected rows,
with its first two derivatives. Here the Cauchy kernel, whose tails are heavier than those of a
Gaussian, is written down, combined with another, and used.
"""

# %%
import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from multifacet import SupervisedKDR
from multifacet.kernels import Custom, Gaussian, Linear, align
from multifacet.plotting import plot_view

cauchy = Custom(
    value=lambda b: 1 / (1 + b / 9),
    slope=lambda b: -1 / 9 / (1 + b / 9) ** 2,
    curvature=lambda b: 2 / 81 / (1 + b / 9) ** 3,
    form="difference",
    nonnegative=True,
)

# %%
# Kernels add up. Alignment with the classes says how much of each.
X, y = scale(load_wine().data), load_wine().target
weights = align([cauchy, Linear()], X, y)
print(f"{weights[0]:.3f} of the Cauchy kernel, {weights[1]:.3f} of the linear one")
mixed = weights[0] * cauchy + weights[1] * Linear()

# %%
distance = np.linspace(0, 10, 200)
figure, axes = plt.subplots(1, 3, figsize=(11, 3.2), layout="constrained")
axes[0].plot(distance, cauchy.f(distance**2), label="Cauchy")
axes[0].plot(distance, Gaussian(3.0).f(distance**2), "--", label="Gaussian")
axes[0].set(xlabel="distance", title="kernels")
axes[0].legend()
for ax, (name, kernel) in zip(axes[1:], {"Cauchy": cauchy, "mixed": mixed}.items(), strict=True):
    model = SupervisedKDR(n_components=2, kernel=kernel).fit(X, y)
    print(f"{name}: {model.result_.reason}")
    plot_view(model.transform(X), y, ax=ax, title=name)
