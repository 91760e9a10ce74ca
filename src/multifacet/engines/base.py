"""The protocol between solvers and engines: a handful of sums over all pairs of rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

from ..kernels import Kernel
from ..linalg import Array, Symmetric
from ..problems import Gamma


class LazyRows(ABC):
    """Rows (n, d) that are computed when they are read; estimators use them like an array."""

    shape: tuple[int, int]
    dtype: Any
    #: Whether rows are read as CSR matrices.
    sparse: bool = False
    #: Features up to which a matrix of all pairs of them is made in one pass over the rows.
    matrix_features: int = 5000

    @abstractmethod
    def __getitem__(self, chosen: Any) -> Any:
        """Return some rows as an array, or all rows of some columns, not yet computed."""

    @abstractmethod
    def beside(self, values: Any) -> Any:
        """Return values of the rows, (n,) or (n, r), kept where the rows are."""

    @abstractmethod
    def like(self, values: Any) -> Any:
        """Return values of the rows as the user expects them beside the data."""

    @abstractmethod
    def map(self, task: Callable[[Array], Array], width: int | None, dtype: Any) -> Any:
        """Return what a task makes of the rows, (n,) or (n, width), not yet computed."""

    @abstractmethod
    def by_content(self) -> tuple[Array, Array]:
        """Return a sample of the rows (m, d) that they alone decide, and their positions (m,)."""

    @abstractmethod
    def products(self, columns: Any) -> tuple[Array, Array]:
        """Return X'X (d, d) and X'F (d, r) for columns F (n, r) beside the rows."""

    @abstractmethod
    def forth(self, V: Array, mean: Array) -> Any:
        """Return (X - mean) V (n, m) for directions V (d, m), kept where the rows are."""

    @abstractmethod
    def back(self, F: Any, mean: Array) -> Array:
        """Return (X - mean)'F (d, r) for columns F (n, r) beside the rows."""

    @abstractmethod
    def column_moments(self) -> tuple[Array, Array]:
        """Return mean and standard deviation (d,) of the columns."""


def is_dask(data: Any) -> bool:
    """Tell a dask array or data frame, without importing dask."""
    return type(data).__module__.split(".")[0] in ("dask", "dask_expr")


def in_chunks(X: Any) -> bool:
    """Tell rows that are not in memory as a whole."""
    return isinstance(X, LazyRows) or is_dask(X)


class Extension(Protocol):
    """Compares new rows with the training rows; part of a fitted model, so small and picklable."""

    def multiply(self, X: Any) -> Array:
        """Return K(X, training rows) V, shape (m, r), for new rows X (m, d) and fixed V (n, r)."""
        ...


class PairSums(Protocol):
    """Sums over all pairs of rows of one data set with one kernel.

    Everywhere W has shape (d, q) and K is the kernel matrix of the rows projected by W.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.engines import Exact
    >>> from multifacet.kernels import Linear
    >>> sums = Exact().attach(np.array([[1.0], [2.0]]), Linear(), mean=None, n_jobs=1)
    >>> sums.degrees(np.array([[1.0]]))  # row sums of [[1, 2], [2, 4]]
    array([3., 6.])
    """

    n_rows: int
    n_features: int
    kernel: Kernel
    #: How many forks fit the memory budget at once.
    max_forks: int

    def degrees(self, W: Array) -> Array:
        """Return K 1, shape (n,)."""
        ...

    def row_objectives(self, W: Array, gamma: Gamma) -> Array:
        """Return the row sums (n,) of Gamma o K; their sum is the objective."""
        ...

    def objective(self, W: Array, gamma: Gamma) -> float:
        """Return Tr(Gamma K)."""
        ...

    def phi_and_objective(self, W: Array, gamma: Gamma) -> tuple[Symmetric, float]:
        """Return the surrogate matrix Phi (d, d) and Tr(Gamma K), in one pass.

        Phi is a matrix or, for many features, an operator that multiplies with it. It is scaled
        so that the gradient of Tr(Gamma K) is 2 Phi W (IKDR 2019, Eq. 6).
        """
        ...

    def initial_phi(self, gamma: Gamma) -> Symmetric:
        """Return Phi_0 (d, d), Phi with the kernel's slope at W = 0 (IKDR 2019, Theorem 3)."""
        ...

    def embedding(
        self,
        W: Array,
        k: int,
        *,
        degrees: Array | None,
        start: Array | None = None,
        extra: Gamma | None = None,
    ) -> tuple[Array, Array]:
        """Return the k leading eigenvalues (k,) and vectors (n, k) of H D^-1/2 K D^-1/2 H + extra.

        ``degrees=None`` leaves D out; ``start`` is a warm start (n, m).
        """
        ...

    def hessian(self, W: Array, gamma: Gamma, directions: Array) -> Array:
        """Return d/dt Phi(W + tZ) W at t = 0 for each direction Z, shape (m, d, q)."""
        ...

    def curvature_bound(self, W: Array, gamma: Gamma) -> float:
        """Return ``1/2 sum_ij |Gamma_ij f''_ij| ||A_ij||_F^2`` (generalised ISM 2018, Eq. 10)."""
        ...

    def extension(self, W: Array, V: Array) -> Extension:
        """Return what multiplies the kernel of new rows and these with V (n, r), on its own."""
        ...

    def fork(self) -> PairSums:
        """Return a view on the same data that runs in one thread, to be used by another."""
        ...


def phi_times_w(sums: PairSums, W: Array, gamma: Gamma) -> tuple[Array, float]:
    """Return Phi W (d, q), half the gradient, and Tr(Gamma K).

    Pair sums may have a method of that name, where all of Phi (d, d) would cost more.
    """
    own = getattr(sums, "phi_times_w", None)
    if own is not None:
        product, value = own(W, gamma)
        return product, value
    phi, objective = sums.phi_and_objective(W, gamma)
    return phi @ W, objective


#: Names of all operations of :class:`PairSums`.
OPERATIONS = frozenset(name for name in vars(PairSums) if not name.startswith("_"))
#: Those that an engine may do without: only some solvers and the certificate ask for them.
OPTIONAL = frozenset({"hessian", "curvature_bound"})


@runtime_checkable
class Engine(Protocol):
    """A way to compute pair sums, not yet tied to data.

    An engine that derives from this class has to write ``attach`` only: it then offers all
    operations and takes whatever is in memory.

    Attributes
    ----------
    operations : frozenset of str
        Names of the operations of :class:`PairSums` that it offers. It may leave out "hessian" and
        "curvature_bound"; who needs them says so before the work.

    Examples
    --------
    >>> from multifacet.engines import Engine, Exact
    >>> isinstance(Exact(), Engine)
    True
    >>> sorted(Engine.operations - {"hessian"})[:2]
    ['curvature_bound', 'degrees']
    """

    operations: frozenset[str] = OPERATIONS

    def attach(self, X: Any, kernel: Kernel, *, mean: Array | None, n_jobs: int | None) -> PairSums:
        """Return the pair sums of ``kernel`` on the rows of ``X`` (n, d) minus ``mean`` (d,)."""
        ...

    def accepts(self, X: Any) -> str | None:
        """Return None if the engine can read rows X (n, d), else why not and what to use instead.

        It is about the kind of rows and their features. How many fit is told by ``attach``, by a
        MemoryError, as often a sample is all that is attached.
        """
        if not in_chunks(X):
            return None
        return (
            f"{type(self).__name__} needs rows in memory, but X comes in chunks: use "
            "engine='auto' or 'dask', or pass X.compute()"
        )


def refuse_unless_accepted(engine: Engine, X: Any) -> None:
    """Raise why an engine cannot read X, if it cannot."""
    reason = engine.accepts(X)
    if reason is not None:
        raise ValueError(reason)
