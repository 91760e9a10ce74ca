"""Whether columns are compared each on its own scale or all on one, decided from their values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from ..linalg import Array

#: Why features have the scale that they have: somebody said so; nothing shows that the columns
#: share a unit; or what kind of columns in one unit they are.
Scaling = Literal["told", "units", "counts", "range", "components", "lengths"]
#: All of them, and those that mean one scale for all columns.
SCALINGS: tuple[str, ...] = get_args(Scaling)
ONE_SCALE: tuple[Scaling, ...] = ("counts", "range", "components", "lengths")

#: Quantiles that stand for the ends of a column: in twenty rows one may be an outlier.
_ENDS = (0.05, 0.95)
#: Columns from which likeness is no coincidence: tables of mixed units rarely have as many that
#: all are mostly zero, or all fill one range.
_FEWEST_COUNTS, _FEWEST_IN_RANGE, _FEWEST_COMPONENTS = 10, 16, 3
#: Columns from which there can be a unit that all of them share.
FEWEST_IN_ONE_UNIT = min(_FEWEST_COUNTS, _FEWEST_IN_RANGE)
#: Share of the columns that has to fit: of many words some are in every text, of many pixels some
#: are a little darker.
_NEARLY_ALL = 0.9
#: Factor by which the amount that is usual in a column may differ from that of the middle column:
#: pixels in corners catch a tenth of the light; units differ by hundreds.
_LIKE_AMOUNTS = 30
#: Correlation, in units of what chance gives (one over the root of n), up to which columns are
#: uncorrelated by construction; three independent ones get there less than once in a million.
_ORTHOGONAL = 0.01
#: The same for columns that may well be correlated by no more than chance, among some thousand
#: pairs.
_BY_CHANCE = 6.0
#: Skewness (of quantiles, from -1 to 1) from which a few rows far out hide all others; the
#: exponential law has 0.56. The logarithm helps if it takes away half of it.
_SKEWED, _HALF = 0.5, 0.5
#: Different values from which numbers are amounts, of which a logarithm can be taken, and no codes.
_FEWEST_AMOUNTS = 20
#: Difference of the lengths of rows, in units of how far rows are from their mean, up to which
#: they are the same by construction. Of independent features it is several times one over the root
#: of their number; half precision and numbers of four digits leave less.
_SAME_LENGTH = 1e-3
#: Scales that differ by less are the same: somebody has scaled the columns already.
_SAME_SCALE = 1.01
#: Numbers of a block of rows of which products are added up.
_BLOCK = 2**18


@dataclass(frozen=True)
class Profile:
    """What the values of one column are like; by quantiles, so that outliers do not decide.

    Attributes
    ----------
    low, middle, high : float
        The quantiles 0.05, 0.5 and 0.95.
    zeros : float
        Share of zeros.
    usual : float
        Median of the positive values; 0 if there are none.
    skewed : bool
        Whether all values are positive, most are small, and their logarithms are far less skewed;
        of amounts, not of codes and ratings, which have few values.
    """

    low: float
    middle: float
    high: float
    zeros: float
    usual: float
    skewed: bool

    @classmethod
    def of(cls, values: Array, zeros: int = 0) -> Profile:
        """Return the profile of values (m,), and of so many zeros beside them.

        Examples
        --------
        >>> import numpy as np
        >>> from multifacet.frames.scaling import Profile
        >>> Profile.of(np.array([3.0, 1.0, 2.0]), zeros=7).zeros
        0.7
        """
        order = np.sort(values)
        n, first = len(order) + zeros, int(np.searchsorted(order, 0))
        positive = int(np.searchsorted(order, 0, side="right"))

        def quantile(share: float) -> float:
            k = int(share * (n - 1))
            if first <= k < first + zeros:  # where the zeros would stand
                return 0.0
            return float(order[k if k < first else k - zeros])

        low, middle, high = quantile(_ENDS[0]), quantile(0.5), quantile(_ENDS[1])
        return cls(
            low=low,
            middle=middle,
            high=high,
            zeros=(zeros + positive - first) / n,
            usual=float(order[(positive + len(order)) // 2]) if positive < len(order) else 0.0,
            skewed=zeros == positive == 0
            and _log_helps(low, middle, high)
            and int(np.count_nonzero(np.diff(order))) + 1 >= _FEWEST_AMOUNTS,
        )


def _log_helps(low: float, middle: float, high: float) -> bool:
    plain = _skewness(low, middle, high)
    return plain > _SKEWED and abs(_skewness(*np.log((low, middle, high)))) <= _HALF * plain


def _skewness(low: float, middle: float, high: float) -> float:
    """Return how much farther the upper end is from the middle, from -1 to 1 (Bowley, Kelly)."""
    return (high - 2 * middle + low) / (high - low) if high > low else 0.0


def choose_scaling(profiles: Sequence[Profile | None]) -> Scaling:
    """Tell from the values of columns whether their scales can be compared.

    Scaling every column to standard deviation 1 makes units irrelevant, and is right whenever they
    may differ. It is wrong where all columns are in one unit and their spread is what they say: a
    word that is in two of a thousand texts, or a pixel in the corner that is dark in all images but
    three, then weighs as much as any other, and those few rows lie far away from everything.
    So columns are left on one scale only in clear cases; small tables never are one.

    - ``"range"``: many columns that fill one and the same range, or sit at an end of it in most
      rows: pixels, ratings. Measurements in one unit have ranges of their own.
    - ``"counts"``: many columns, most cells 0, and no column that varies more than all others
      together: words in texts, visits.
    - ``"units"``: anything else; so are columns with negative values, and if the amounts that are
      usual in columns differ much in size, as those of visits and of their cost.

    Neither the order of the columns nor that of the rows matters, nor the unit itself.

    Parameters
    ----------
    profiles : sequence of Profile or None
        The columns that vary; None for truth values and categories, which have no unit.

    Returns
    -------
    {"units", "counts", "range"}
        Why the columns get one scale each ("units"), or one for all.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.frames.scaling import Profile, choose_scaling
    >>> rng = np.random.default_rng(0)
    >>> words = rng.poisson(1 / np.arange(1, 41), size=(200, 40))
    >>> choose_scaling([Profile.of(column) for column in words.T])
    'counts'
    >>> birds = rng.normal([40, 17, 200, 4200], [5, 2, 14, 800], size=(200, 4))
    >>> choose_scaling([Profile.of(column) for column in birds.T])
    'units'
    """
    numbers = [one for one in profiles if one is not None and one.low >= 0]
    if len(numbers) < len(profiles) or not _are_alike(numbers):
        return "units"
    if len(numbers) >= _FEWEST_IN_RANGE and _share_a_range(numbers):
        return "range"
    if len(numbers) >= _FEWEST_COUNTS and _are_counts(numbers):
        return "counts"
    return "units"


def _are_counts(profiles: Sequence[Profile]) -> bool:
    at_zero = np.mean([one.low == 0 for one in profiles])
    if at_zero < _NEARLY_ALL or np.mean([one.zeros for one in profiles]) < 0.5:
        return False
    widths = np.array([one.high - one.low for one in profiles])
    widest = widths.max()
    # The squares of all others are as much as that of the widest, or it would be all that counts.
    return bool(widest == 0 or np.sum((widths / widest) ** 2) >= 2)


def _are_alike(profiles: Sequence[Profile]) -> bool:
    """Tell whether the amounts in all columns are of like size."""
    usual = np.array([one.usual for one in profiles])
    middle = np.median(usual)
    return bool(usual.max() <= _LIKE_AMOUNTS * middle and middle <= _LIKE_AMOUNTS * usual.min())


def _share_a_range(profiles: Sequence[Profile]) -> bool:
    low, middle, high = np.array([(one.low, one.middle, one.high) for one in profiles]).T
    floor, ceiling = np.quantile(low, 1 - _NEARLY_ALL), np.quantile(high, _NEARLY_ALL)
    width = ceiling - floor
    if width == 0:
        return False
    fills = high - low >= 0.5 * width
    rests = (middle == low) | (middle == high)
    inside = (low >= floor - 0.2 * width) & (high <= ceiling + 0.2 * width)
    return bool(inside.all() and fills.mean() >= 0.5 and (fills | rests).mean() >= _NEARLY_ALL)


def are_components(X: Array, mean: Array, scale: Array) -> bool:
    """Tell whether columns are uncorrelated and centred, as principal components are.

    Measured columns never are, to so many digits: somebody has computed them, and their spreads
    are the singular values. To scale the last ones, which are mostly noise, up to the first undoes
    what they were computed for. Designed experiments have uncorrelated columns too, but no means of
    zero unless their scales are alike. Three columns at least: one pair may be so by chance.

    Parameters
    ----------
    X : array of shape (n, d)
        The columns, less their means, divided by their standard deviations.
    mean, scale : array of shape (d,)
        Their means and standard deviations.

    Returns
    -------
    bool
        Whether they are; not if all scales are the same, when there is nothing to keep.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.frames.scaling import are_components
    >>> X = np.random.default_rng(0).standard_normal((100, 5))
    >>> X -= X.mean(axis=0)
    >>> U, s, _ = np.linalg.svd(X, full_matrices=False)
    >>> are_components(X, np.zeros(5), s), are_components(10 * U, np.zeros(5), s)
    (False, True)
    """
    n, d = X.shape
    if not _are_centred(mean, scale, n):
        return False
    # The widest columns, whatever their order, show it for most tables that are none.
    widest = np.argsort(scale)[-_FEWEST_COMPONENTS:]
    return all(are_uncorrelated(products(X, some), n) for some in (widest, np.arange(d)))


def look_like_components(sample: Array, mean: Array, scale: Array, n: int) -> bool:
    """Tell from some of n rows whether columns may be components, which only all rows can show.

    Parameters
    ----------
    sample : array of shape (m, d)
        Rows, as in :func:`are_components`.
    mean, scale : array of shape (d,)
        Of all rows.
    n : int
        Their number.
    """
    return _are_centred(mean, scale, n) and are_uncorrelated(
        products(sample), len(sample), _BY_CHANCE
    )


def are_uncorrelated(gram: Array, n: int, most: float = _ORTHOGONAL) -> bool:
    """Tell whether X'X (d, d) of n standardised rows has no correlations larger than chance / 100.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.frames.scaling import are_uncorrelated, products
    >>> X = np.linalg.qr(np.random.default_rng(0).standard_normal((100, 3)))[0] * 10
    >>> are_uncorrelated(products(X), 100)
    True
    """
    between = gram - np.diag(np.diag(gram))
    return bool(np.abs(between).max() / n <= most / np.sqrt(n))


def _are_centred(mean: Array, scale: Array, n: int) -> bool:
    """Tell whether columns of several scales have no mean, to more digits than chance gives."""
    if len(scale) < _FEWEST_COMPONENTS or scale.max() <= _SAME_SCALE * scale.min():
        return False
    return bool(np.abs(mean / scale).max() <= _ORTHOGONAL / np.sqrt(n))


def have_one_length(X: Array, mean: Array, scale: Array) -> bool:
    """Tell whether all rows have the same length, as embeddings have that somebody has normalised.

    Their distances are angles between rows (cosine geometry), which scales of single features
    would change. Indicators of categories have one length too, but few values.

    Parameters
    ----------
    X : array of shape (n, d)
        The columns, less their means, divided by their standard deviations.
    mean, scale : array of shape (d,)
        Their means and standard deviations.

    Returns
    -------
    bool
        Whether they have.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.frames.scaling import have_one_length
    >>> X = np.random.default_rng(0).standard_normal((100, 50))
    >>> have_one_length(X, np.zeros(50), np.ones(50))
    False
    >>> X /= np.linalg.norm(X, axis=1, keepdims=True)
    >>> have_one_length(X, np.zeros(50), np.ones(50))
    True
    """
    n, d = X.shape
    if d < _FEWEST_COMPONENTS or n < _FEWEST_AMOUNTS:
        return False
    unit = np.abs(mean).max() + scale.max()  # squares of extreme units are no numbers
    mean, scale = mean / unit, scale / unit
    most = _SAME_LENGTH * np.sqrt((scale**2).sum())
    low, high = np.inf, 0.0
    for block in _blocks(X):
        lengths = np.linalg.norm(block * scale + mean, axis=1)
        low, high = min(low, lengths.min()), max(high, lengths.max())
        if high - low > most:
            return False
    return len(np.unique(X[:, np.argmax(scale)])) >= _FEWEST_AMOUNTS


def products(X: Array, columns: Array | None = None) -> Array:
    """Return X'X of all columns of X (n, d), or of some; a block of rows is read at a time."""
    columns = np.arange(X.shape[1]) if columns is None else columns
    gram = np.zeros((len(columns), len(columns)))
    for block in _blocks(X):
        chosen = block[:, columns]
        gram += chosen.T @ chosen
    return gram


def _blocks(X: Array) -> Iterator[Array]:
    """Yield blocks of rows, in double precision."""
    rows = max(1, _BLOCK // X.shape[1])
    for start in range(0, len(X), rows):
        yield X[start : start + rows].astype(float)
