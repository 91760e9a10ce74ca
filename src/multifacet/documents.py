"""What results are as plain dicts: the documents of which files, reports and pages are made.

A document that is read from a file is checked against the class that it should be of, see
:func:`multifacet.files.shape_of`; keys that older files do not have are not required.
"""

# No annotations from the future here: what is required would not be known when this runs.
from typing import Any, Literal, NotRequired, TypedDict, final


@final
class NumberProfile(TypedDict):
    """What a column of numbers is like in a group."""

    mean: float
    sd: float


@final
class BooleanProfile(TypedDict):
    """How many rows of a group are true."""

    share: float


@final
class CategoryProfile(TypedDict):
    """How many rows of a group have which category."""

    shares: dict[str, float]


Profile = NumberProfile | BooleanProfile | CategoryProfile


class ExampleDict(TypedDict):
    """A typical row of a group: its identifier, and its values by column."""

    row: Any
    values: dict[str, Any]


class GroupDict(TypedDict):
    """A group of a view in the terms of the table."""

    label: int
    size: int
    name: str
    profile: dict[str, Profile]
    examples: list[ExampleDict]


class SeenDict(TypedDict):
    """A row to look at: its identifier, and its texts and pictures (data URLs) by column."""

    row: Any
    texts: dict[str, str]
    images: dict[str, str]


class GroupGalleryDict(TypedDict):
    """Rows of a group to look at, as places in a gallery.

    ``typical`` are nearest to its centre, ``far`` farthest from the ``other`` group, which is the
    nearest one, and ``near`` nearest to that. ``words`` set its texts apart.
    """

    label: int
    typical: list[int]
    other: int | None
    far: list[int]
    near: list[int]
    words: list[str]


class AxisGalleryDict(TypedDict):
    """Rows at the two ends of an axis of a view, as places in a gallery."""

    low: list[int]
    high: list[int]


class GalleryDict(TypedDict):
    """Rows of a view to look at; ``notes`` say what could not be shown."""

    rows: list[SeenDict]
    groups: list[GroupGalleryDict]
    axes: list[AxisGalleryDict]
    notes: list[str]


class ContrastDict(TypedDict):
    """A feature that tells groups apart, and how it is distributed in each of them.

    ``counts`` are rows of each group in intervals of equal length from ``low`` to ``high``; what
    lies beyond is counted in the outermost. If it is told in relation to another, ``given``, values
    are those that rows would have if they were average in that.
    """

    name: str
    feature: str
    given: str | None
    low: float
    high: float
    counts: list[list[int]]
    means: list[float]


class CandidateDict(TypedDict):
    """A candidate of a search and how it was judged."""

    n_clusters: int
    n_components: int
    bandwidth: float | None
    novelty_weight: float | None
    start: str
    separation: float | None
    novelty: float | None
    stability: float | None
    rejected: str
    balance: NotRequired[float | None]
    source: NotRequired[str]
    score: NotRequired[float | None]
    surprise: NotRequired[float | None]
    own_surprise: NotRequired[float | None]
    believed: NotRequired[bool]


class PathStepDict(TypedDict):
    """A coarser or finer version of a grouping, and how well its groups are separated."""

    n_clusters: int
    separation: float | None
    surprise: float | None


class SelectionDict(TypedDict):
    """How settings were chosen: the best candidates, and how many were turned down, and why.

    ``path`` has the best version of each number of groups that divides or merges those that were
    chosen, ``plateau`` the least and the most of them that are as separated but for chance.
    """

    sentence: str
    rule: str
    plan: NotRequired[str]
    found: bool
    n_rows: int
    n_candidates: int
    rejected: dict[str, int]
    candidates: list[CandidateDict]
    path: NotRequired[list[PathStepDict]]
    plateau: NotRequired[list[int]]


class SettingsDict(TypedDict):
    """Settings at which a view was found."""

    n_clusters: int | None
    n_components: int | None
    bandwidth: float | None
    novelty_weight: float | None


class RelationDict(TypedDict):
    """How far a view agrees with a column, see :class:`multifacet.results.relations.Relation`."""

    column: str
    agreement: float
    numbers: bool
    p_value: float


class RoleDict(TypedDict):
    """What a column is for, see :class:`multifacet.frames.roles.ColumnRole`."""

    name: str
    use: str
    holds: str
    why: str
    missing: int


class EncodedColumnDict(TypedDict):
    """How a column became features, see :class:`multifacet.frames.encoding.Column`."""

    name: str
    kind: str
    categories: list[str]
    features: list[int]
    fill: Any
    levels: NotRequired[list[float]]
    shares: NotRequired[list[float]]


class EncodingDict(TypedDict):
    """How a table became features, see :class:`multifacet.frames.Encoding`."""

    columns: list[EncodedColumnDict]
    feature_names: list[str]
    mean: list[float]
    scale: list[float]
    identifier: str | None
    scaling: NotRequired[str]
    skewed: NotRequired[list[str]]


class ContrastFeatureDict(TypedDict):
    """A feature that tells groups apart, perhaps in relation to another, by their places."""

    feature: int
    given: int | None
    slope: float


class ExplanationDict(TypedDict):
    """What is behind a view, see :class:`multifacet.explain.Explanation`."""

    feature_names: list[str]
    weights: list[float]
    effects: list[list[float]]
    strength: list[float]
    loadings: list[list[float]]
    rotation: list[list[float]]
    cluster_names: list[str]
    sentence: str
    contrasts: NotRequired[list[ContrastFeatureDict]]
    told: NotRequired[float | None]


class ViewRow(TypedDict):
    """A view as a row of a table."""

    view: str
    verdict: str
    clusters: int
    sizes: list[int]
    features: str
    separation: float
    stability: float | None
    p_value: float | None
    novelty: float
    independence: float | None
    beside: str
    repeats: str
    sentence: str


class DescriptionDict(TypedDict):
    """A view without its rows: its words, evidence, groups and features."""

    name: str
    sentence: str
    evidence: str
    verdict: NotRequired[str]
    kind: NotRequired[str]
    beside: NotRequired[str]
    relations: NotRequired[list[RelationDict]]
    repeats: NotRequired[list[str]]
    n_clusters: int
    quality: float | None
    separation: float | None
    novelty: float
    stability: float | None
    p_value: float | None
    independence: float | None
    settings: SettingsDict
    selection: SelectionDict | None
    groups: list[GroupDict]
    feature_weights: list[float]
    strength: list[float]
    contrasts: NotRequired[list[ContrastDict]]
    told: NotRequired[float | None]
    gallery: NotRequired[GalleryDict | None]
    effects: list[list[float]]
    loadings: list[list[float]]


class ViewDict(DescriptionDict):
    """A view with the labels of all rows, and the places of those that are drawn."""

    labels: list[int]
    coordinates: list[list[float]]


class GivenDict(TypedDict):
    """Labels that were given, and how many rows have which."""

    name: str
    groups: dict[str, int]
    labels: list[str]


class AgreementDict(TypedDict):
    """Normalised mutual information of all pairs of labelings."""

    names: list[str]
    nmi: list[list[float]]


class FrontierDict(TypedDict):
    """What novelty costs in quality."""

    weights: list[float]
    quality: list[float]
    dependence: list[float]
    novelty: NotRequired[list[float]]
    chosen: int | None


class DrawnDict(TypedDict):
    """Which rows are drawn, and of how many."""

    rows: list[int]
    sampled_from: int


class InputDict(TypedDict):
    """The file that a run has read."""

    name: Any
    rows: int
    columns: int
    sha256: NotRequired[Any]


class RunDict(TypedDict, total=False):
    """How to repeat a run, as far as a report tells it."""

    command: str | None
    seed: Any
    seconds: float | None
    input: InputDict | None
    notes: list[Any]
    options: dict[str, Any] | None
    versions: dict[str, Any] | None


class ViewsDocument(TypedDict):
    """Everything about the views of a table, see :meth:`multifacet.Views.to_dict`."""

    kind: Literal["views"]
    format: int
    n_rows: int
    n_features: int
    features: list[str]
    columns: list[str]
    identifier: str | None
    significance: NotRequired[float]
    scaling: NotRequired[str]
    sentence: str
    index: list[Any]
    roles: NotRequired[list[RoleDict]]
    given: list[GivenDict]
    references: NotRequired[list[GivenDict]]
    views: list[ViewDict]
    rejected: ViewDict | None
    agreement: AgreementDict
    frontier: FrontierDict | None
    points: DrawnDict
    run: NotRequired[RunDict | None]


class ClustersDict(TypedDict):
    """How large the clusters of a reduction are."""

    sizes: list[int]


class ColourDict(TypedDict):
    """What tells points apart: classes, with the sizes of all, or numbers."""

    name: str
    kind: str
    values: list[Any]
    groups: NotRequired[dict[str, int]]


class PointsDict(TypedDict):
    """Rows in the subspace of a reduction."""

    index: list[Any]
    coordinates: list[list[float]]
    colour: ColourDict | None
    sampled_from: int


class SettingDict(TypedDict):
    """Settings of a reduction, and how well it predicts held-out rows."""

    n_components: int
    whitening: float
    bandwidth: float | None
    score: float
    error: float


class SparseStepDict(TypedDict):
    """Axes with so many loadings, and how well they predict held-out rows."""

    n_loadings: int
    n_features: int
    score: float
    error: float


class SparsityDict(TypedDict):
    """What fewer loadings cost, from all of them on, and the step that was taken."""

    path: list[SparseStepDict]
    chosen: int


class MethodDict(TypedDict):
    """How well held-out rows are told after a reduction, with the standard error."""

    method: str
    score: float
    error: float


class ConfusionDict(TypedDict):
    """How often rows of a class (first index) were taken for another (second index)."""

    classes: list[str]
    counts: list[list[int]]


class HeldOutDict(TypedDict):
    """How well held-out rows are told in few dimensions: ours come first."""

    n_rows: int
    n_folds: int
    measure: str
    scores: list[MethodDict]
    confusion: ConfusionDict | None


class ReductionDocument(TypedDict):
    """A table in few dimensions, see :meth:`multifacet.results.Reduction.to_dict`."""

    kind: Literal["reduction"]
    format: int
    n_rows: int
    n_features: int
    features: list[str]
    guided_by: str
    names: list[str]
    n_components: int
    kernel: str
    bandwidth: float | None
    loadings: list[list[float]]
    feature_weights: list[float]
    strength: NotRequired[list[float]]
    dependence: float | None
    clusters: ClustersDict | None
    sentence: str
    axes: NotRequired[list[str]]
    sparsity: NotRequired[SparsityDict | None]
    held_out: NotRequired[HeldOutDict | None]
    converged: bool
    points: PointsDict
    run: NotRequired[RunDict | None]


class LabelingDict(TypedDict):
    """A labeling, and how many rows have which label."""

    name: str
    groups: dict[str, int]


class PairDict(TypedDict):
    """How far two labelings agree."""

    a: str
    b: str
    nmi: float
    ari: float
    p_value: float | None
    rows: list[str]
    columns: list[str]
    counts: list[list[int]]


class ComparisonDocument(TypedDict):
    """How far labelings agree, see :meth:`multifacet.results.Comparison.to_dict`."""

    kind: Literal["comparison"]
    format: int
    n_rows: int
    labelings: list[LabelingDict]
    nmi: list[list[float]]
    pairs: list[PairDict]
    sentence: str
    run: NotRequired[RunDict | None]
