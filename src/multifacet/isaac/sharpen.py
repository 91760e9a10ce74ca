"""Independent components by maximum likelihood, from those that FastICA has found.

FastICA measures all components by one fixed contrast and keeps them exactly uncorrelated. Both
leave an error of about n^(-1/2), which is small next to a component but not next to the width of
its clusters; it smears them, and makes independent components look dependent. The likelihood
knows the density of each component and needs no constraint, and tight clusters make it sharp.

With scores psi_i = -f_i'/f_i the relative gradient is E[psi_i s_j] - [i = j]. The Hessian is close
to 2 x 2 blocks, one for each pair, so that a Newton step is as cheap as a gradient
(Pham and Garat 1997; Zibulevsky 2003).
"""

from __future__ import annotations

import numpy as np
from scipy.fft import irfft, rfft

from ..linalg import Array

#: Steps, the longest one in an entry of the demixing matrix, and bits per row that end them.
MAX_STEPS, LONGEST, TOLERANCE = 30, 0.2, 1e-4
#: Cells of the grid of a density, its margin, and the bandwidths tried, narrower by sqrt(2) each.
CELLS, MARGIN, N_WIDTHS = 4096, 0.5, 10
#: Smallest curvature of a pair: components of one subspace may have none.
CURVATURE = 0.2


def sharpen(sources: Array) -> Array:
    """Return the matrix R (m, m) for which ``sources @ R.T`` is most likely, rows of unit variance.

    Parameters
    ----------
    sources : array of shape (n, m)
        Nearly independent components of unit variance.
    """
    n, m = sources.shape
    R = np.eye(m)
    S, damping = sources, 1.0
    bits, psi, slopes = _scores(S)
    for _ in range(MAX_STEPS):
        step = _newton_step(psi.T @ S / n, slopes)
        change = np.eye(m) + np.clip(damping * step, -LONGEST, LONGEST)
        new = S @ change.T
        spread = new.std(axis=0)
        change, new = change / spread[:, None], new / spread
        fewer, *rest = _scores(new)
        fewer -= np.linalg.slogdet(change @ R)[1] / np.log(2)
        if fewer < bits:
            done = bits - fewer < TOLERANCE * m
            S, R, bits, (psi, slopes) = new, change @ R, fewer, rest
            damping = min(1.0, 2 * damping)
        else:
            damping /= 3
            done = damping < 0.02
        if done:
            break
    return R


def _newton_step(gradient: Array, slopes: Array) -> Array:
    """Return the change of the demixing matrix, relative to itself, that the pairs suggest."""
    # Columns have unit variance: the curvature of entry (i, j) is E[psi_i'], beside 1 for (j, i).
    h = np.repeat(slopes[:, None], len(slopes), axis=1)
    lowest = 0.5 * (h + h.T) - np.sqrt(0.25 * (h - h.T) ** 2 + 1)
    h = h + np.maximum(CURVATURE - lowest, 0.0)
    step = -(h.T * gradient - gradient.T) / (h * h.T - 1)
    np.fill_diagonal(step, 0.0)  # variances are kept at one
    return step


def _scores(S: Array) -> tuple[float, Array, Array]:
    """Return bits per row of all columns, their scores (n, m) and the mean slopes of these (m,)."""
    bits, psi, slopes = zip(*(_score(column) for column in S.T), strict=True)
    return float(sum(bits)), np.column_stack(psi), np.array(slopes)


def _score(s: Array) -> tuple[float, Array, float]:
    """Return bits per row, score at each row and its mean slope, at the best bandwidth."""
    n = len(s)
    low, high = s.min() - MARGIN, s.max() + MARGIN
    cell = (high - low) / (CELLS - 1)
    place = (s - low) / cell
    left = np.minimum(place.astype(int), CELLS - 2)
    right_share = place - left
    counts = np.bincount(left, 1 - right_share, CELLS) + np.bincount(left + 1, right_share, CELLS)
    spectrum = rfft(counts, 2 * CELLS)  # padded: nothing wraps around
    frequency = 2 * np.pi * np.arange(CELLS + 1) / (2 * CELLS)
    mixed = 2 * right_share * (1 - right_share)
    background = 1 / (n * (high - low))
    best = np.inf
    for j in range(N_WIDTHS):
        h = 0.9 * n**-0.2 * 2 ** (-j / 2) / cell
        if h < 2:
            break
        smooth = irfft(spectrum * np.exp(-0.5 * (h * frequency) ** 2), 2 * CELLS)[:CELLS]
        # Each row is left out of the estimate that judges the bandwidth.
        own = (1 - mixed + mixed * np.exp(-0.5 / h**2)) / (h * np.sqrt(2 * np.pi))
        others = (1 - right_share) * smooth[left] + right_share * smooth[left + 1] - own
        f = (1 - 1 / n) * np.maximum(others, 0) / ((n - 1) * cell) + background
        bits = -np.log2(f).mean()
        if bits < best:
            best, kept = bits, smooth
    logs = np.log(np.maximum(kept, 0) / (n * cell) + background)
    psi = -np.gradient(logs, cell)
    slope = np.gradient(psi, cell)
    at_rows = [(1 - right_share) * v[left] + right_share * v[left + 1] for v in (psi, slope)]
    return float(best), at_rows[0], float(at_rows[1].mean())
