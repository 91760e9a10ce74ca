"""The ISM family of kernels: functions of one number per pair of projected rows.

A kernel of the family is k(x, y) = f(beta), where beta is either the squared distance
(``form="difference"``) or the inner product (``form="inner"``) of the projected rows W'x and W'y
(IKDR 2019, Definition 1). A kernel object knows f and its first two derivatives and nothing else;
the engines turn them into sums over pairs of rows.

Signs: kernels are *similarities*. The squared and multiquadratic kernels are therefore used in
their negative, conditionally positive definite form, so that every difference kernel decreases
with distance (f' < 0). Printed with a plus sign, maximising Tr(Gamma K) would push points of one
class apart.
"""

from .alignment import align, gram_rows
from .bandwidths import median_distance, needs_bandwidth, typical_distance, with_bandwidth
from .base import ConicSum, Kernel
from .family import (
    Custom,
    Gaussian,
    Linear,
    Multiquadratic,
    Polynomial,
    RelativeGaussian,
    Squared,
    as_kernel,
)

__all__ = [
    "ConicSum",
    "Custom",
    "Gaussian",
    "Kernel",
    "Linear",
    "Multiquadratic",
    "Polynomial",
    "RelativeGaussian",
    "Squared",
    "align",
    "as_kernel",
    "gram_rows",
    "median_distance",
    "needs_bandwidth",
    "typical_distance",
    "with_bandwidth",
]
