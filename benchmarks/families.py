"""Generated families with several known groupings; half are for tuning, half for reporting.

Every family is a recipe; a seed makes a data set. Families alternate between the halves within
each kind, so that both hold plain, noisy and rotated ones of every shape.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from multifacet.datasets import make_independent_views

SEEDS = range(5)


@dataclass(frozen=True)
class Family:
    """Views of given shapes (and numbers of clusters) among noise features; view 0 is given."""

    n: int
    views: tuple[str, ...]
    k: tuple[int, ...]
    n_noise: int = 0
    noise_kind: str = "uniform"
    rotate: bool = False
    weights: tuple[tuple[float, ...] | None, ...] | None = None

    @property
    def name(self) -> str:
        shapes = ", ".join(f"{v} {k}" for v, k in zip(self.views, self.k, strict=True))
        noise = f" + {self.n_noise} {self.noise_kind}" if self.n_noise else ""
        uneven = ", unbalanced" if self.weights else ""
        return f"{shapes}{noise}{uneven}{', rotated' if self.rotate else ''} (n = {self.n})"

    @property
    def kind(self) -> str:
        if not self.n_noise:
            return "no noise features"
        return "rotated among noise" if self.rotate else "among noise"

    def make(self, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Return X (n, d), standardised, and labelings (n, number of views)."""
        rng = np.random.default_rng(1000 + seed)
        X, labelings = make_independent_views(
            self.n, self.views, n_clusters=self.k, weights=self.weights, random_state=rng
        )
        noise = {
            "uniform": lambda shape: rng.uniform(-np.sqrt(3), np.sqrt(3), shape),
            "gaussian": rng.standard_normal,
            "t": lambda shape: rng.standard_t(5, shape) * np.sqrt(3 / 5),
        }[self.noise_kind]((self.n, self.n_noise))
        X = np.hstack([X, noise])
        if self.rotate:
            X = X @ np.linalg.qr(rng.standard_normal((X.shape[1], X.shape[1])))[0]
        return (X - X.mean(axis=0)) / X.std(axis=0), labelings


FAMILIES = [
    Family(400, ("blobs", "moons"), (2, 2)),
    Family(400, ("moons", "blobs"), (2, 4)),
    Family(500, ("blobs", "rings"), (3, 2)),
    Family(500, ("blobs", "spirals"), (2, 2)),
    Family(500, ("rings", "blobs"), (2, 3), rotate=True),
    Family(500, ("blobs", "blobs"), (3, 3), rotate=True),
    Family(500, ("blobs", "moons"), (2, 2), rotate=True, weights=(None, (0.75, 0.25))),
    Family(500, ("blobs", "blobs"), (2, 3), weights=(None, (0.6, 0.3, 0.1))),
    Family(600, ("blobs", "rings"), (2, 3)),
    Family(600, ("blobs", "spirals"), (3, 2), rotate=True),
    Family(600, ("blobs", "moons", "rings"), (3, 2, 2)),
    Family(600, ("moons", "blobs", "blobs"), (2, 2, 5), rotate=True),
    Family(150, ("blobs", "blobs"), (2, 3)),
    Family(150, ("blobs", "moons"), (3, 2)),
    Family(500, ("blobs", "moons"), (2, 2), 4),
    Family(500, ("blobs", "rings"), (2, 2), 4),
    Family(500, ("blobs", "rings"), (3, 2), 8),
    Family(500, ("blobs", "moons"), (3, 2), 8, "gaussian"),
    Family(500, ("moons", "blobs"), (2, 3), 16),
    Family(500, ("blobs", "moons"), (2, 2), 16),
    Family(500, ("blobs", "spirals"), (2, 2), 4, "gaussian"),
    Family(500, ("rings", "blobs"), (2, 4), 8, "t"),
    Family(500, ("blobs", "moons"), (2, 2), 4, rotate=True),
    Family(500, ("blobs", "rings"), (2, 2), 4, rotate=True),
    Family(500, ("blobs", "blobs"), (2, 3), 8, "gaussian", rotate=True),
    Family(500, ("blobs", "moons"), (3, 2), 8, rotate=True),
    Family(500, ("blobs", "moons"), (2, 2), 16, "gaussian", rotate=True),
    Family(500, ("moons", "blobs"), (2, 3), 16, rotate=True),
    Family(1000, ("blobs", "rings"), (2, 2), 8, "gaussian", rotate=True),
    Family(2000, ("blobs", "rings"), (3, 2), 16, rotate=True),
]
TUNING = FAMILIES[::2]
REPORTED = FAMILIES[1::2]


def cases(
    families: list[Family], seeds: range = SEEDS
) -> Iterator[tuple[Family, int, np.ndarray, np.ndarray]]:
    """Yield every family with every seed."""
    for family in families:
        for seed in seeds:
            yield family, seed, *family.make(seed)
