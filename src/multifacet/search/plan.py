"""Every constant of the search in one frozen object, with a reason each, and a key.

What structureless data reach depends on all of them, so the null laws (:mod:`.null`) are stored
with the key of the plan that they were simulated under, and so is every result. Whoever changes a
value, or the way one is used (then ``version`` is raised), makes new laws by
``python -m benchmarks calibration``; a test fails until that is done.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass

from ..alternate import FRAGMENT_SHARE


@dataclass(frozen=True)
class SearchPlan:
    """How a grouping is looked for, judged and chosen.

    All shares of distances are of the median distance, and all novelty weights in unit scale.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from multifacet.search import PLAN
    >>> replace(PLAN, rows=200).key != PLAN.key
    True
    """

    #: Raised when the code of the search changes what these numbers lead to.
    version: int = 16

    # The sample on which everything is looked for
    #: Rows: all pairs of them, a thousand times over, take seconds.
    rows: int = 400
    #: Rows per cluster that is given or asked for: fewer do not show the shape of a cluster.
    rows_per_group: int = 30
    #: Numbers of clusters tried if none is asked for: with more, each has too few of the rows.
    most_clusters: int = 8
    #: The same of compact groups, which take fewer rows to show than curved ones, and the rows that
    #: each has on average at least.
    most_groups: int = 50
    rows_per_compact_group: int = 20
    #: How many times as many small groups are merged to them, and the ratio of the numbers tried:
    #: of twenty groups one more or less can be told, of fifty five.
    path_excess: int = 2
    path_step: float = 1.05
    #: Clear groupings of compact groups that are tried for being products.
    products_tried: int = 3

    # Tables of many features
    #: Directions of most variance in which they are searched, at least and at most: as many as
    #: stand out of noise (Marchenko-Pastur). 50 are what is usual for embeddings and cells.
    fewest_directions: int = 20
    most_directions: int = 50
    #: Rows for each of them: with fewer, ICA and covariances follow single rows.
    rows_per_direction: int = 20
    #: Features up to which the papers' start is tried in all directions where nothing was believed:
    #: beyond, it takes longer than everything else together.
    papers_features: int = 200

    #: Paths (0: as it is, 1: whitened) and numbers of groups with which two groupings that add up
    #: are guessed, to be followed in turns, the likeliest first.
    guesses: tuple[tuple[int, int], ...] = (
        (0, 5), (0, 3), (1, 8), (1, 2), (0, 8), (0, 2), (1, 5), (1, 3),
    )  # fmt: skip
    #: Rows on which they are followed, most groups of each, the ratio of the numbers tried, and
    #: runs of k-means: a guess need not be good, only good enough to be followed.
    turn_rows: int = 600
    turn_groups: int = 24
    turn_step: float = 1.12
    turn_runs: int = 2
    #: Separation by which a finer grouping of a path may be behind the clearest one there.
    turn_level: float = 0.3
    #: Score by which a finer candidate may be behind, the share of the surprise that it keeps, and
    #: the share of what the coarser one tells from which it divides that and nothing else. (By eye
    #: on twenty generated sets of embeddings, not by trials of other values.)
    finer_score: float = 1.5
    finer_surprise: float = 0.5
    finer_told: float = 0.95

    # Where subspaces begin
    #: Rows on which dependence is measured and independent components are estimated: both errors
    #: fall with the root of it, while the time of a start grows.
    start_rows: int = 2000
    #: Principal directions of some hundred rows kept before the search for independent ones:
    #: beyond, ICA overfits.
    start_components: int = 20
    #: Features screened for dependent pairs, those with most variance left: m^2 pairs are formed.
    start_features: int = 100
    #: Rows and dimensions up to which a plane is sharpened.
    sharpen_rows: int = 1000
    sharpen_dimensions: int = 3
    #: Planes that are sharpened, and the sine of the angle by which those that are kept differ.
    sharpen_starts: int = 12
    sharpen_apart: float = 0.3
    #: Steps, and frequencies per dimension of the index, of all planes and then of the best: few
    #: frequencies find the hill, and miss its top by some degrees.
    sharpen_steps: tuple[int, int] = (12, 8)
    sharpen_waves: tuple[int, int] = (16, 64)
    #: Inverse bandwidth of the index of non-Gaussianity: the higher, the finer the structure it
    #: sees; at 3 it tells rings from blobs of unit variance.
    sharpen_frequency: float = 3.0
    #: Bandwidths at which the first clusters of the residual are formed.
    residual_shares: tuple[float, ...] = (0.25, 0.5, 1.0)
    #: Clusters assumed by starts that need a number before one is known.
    start_clusters: int = 3
    #: Novelty weight of starts, and of candidates that were not explored: on clean data 1 to 100
    #: do equally well, among noise small ones do better.
    start_weight: float = 3.0

    # What starts lead to
    #: Bandwidths judged: from the distance of near neighbours, doubled, to 1.6 median distances:
    #: below, rows are alone; above, they are all alike. (Half of it changed 1 of 34 searches.)
    nearest: float = 1.0
    farthest: float = 1.6
    most_widths: int = 8
    #: Numbers of clusters judged at a bandwidth, those after which the eigenvalues fall most.
    likely_clusters: int = 2
    #: Share of the starts that is explored, the most promising first. (With 0.12 to 0.4 real tables
    #: and generated families come out alike.)
    promising: float = 0.12
    #: (share of the median distance, novelty weight) of the short alternations: fine, middle, wide.
    explorations: tuple[tuple[float, float], ...] = ((0.15, 1.0), (0.3, 10.0), (1.0, 3.0))
    #: Outer iterations of a short alternation, steps of the solver in each, and how far W may
    #: still move at the end: they look around and need not converge.
    explore_steps: int = 4
    explore_solver_steps: int = 4
    explore_tolerance: float = 1e-3
    #: Bandwidths judged after an exploration, around the one of the start's best candidate.
    explored_widths: tuple[float, ...] = (0.5, 1.0, 2.0)
    #: Steps of k-means on an embedding, where clusters are nearly points.
    kmeans_steps: int = 15

    # Mixtures and steps
    #: Directions thinner than this share of the widest one are those in which columns repeat each
    #: other.
    thinnest: float = 1e-3
    #: Rows farther out than the root of the dimensions and so many standard deviations are drawn
    #: in: a single row must not carry a component.
    outlying: float = 4.0
    #: Numbers of groups tried by mixtures and steps if none is asked for: components of more share
    #: too few rows to have a covariance.
    mixture_clusters: int = 5
    #: Where a direction is cut to begin with two groups: also near its ends, for small groups.
    cuts: tuple[float, ...] = (0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95)
    #: Where the distance from the middle is cut to begin with a core and what surrounds it.
    radii: tuple[float, ...] = (0.3, 0.5, 0.7, 0.9)
    #: Independent components of which planes are formed, for three and more groups.
    planes: int = 6
    #: Runs of k-means.
    kmeans_runs: int = 4
    #: Runs with one covariance each, those likeliest after one step: they cost ten times as much.
    separate_runs: int = 60
    #: Ridge of covariances of whitened rows: thinner components say more about rounding.
    ridge: float = 1e-3
    #: Spread of the means of groups along a direction, in variances within the groups, from which
    #: it shows them: that of two groups one standard deviation apart.
    seen: float = 0.25
    #: Mixtures of a kind that are kept, no two with a higher NMI than the next number. (With 12 of
    #: them, and 16 steps, the same views were chosen on all but one of 34 real searches.)
    mixtures_kept: int = 7
    alike: float = 0.9
    #: Steps along features that are kept for a number of groups.
    steps_kept: int = 8
    #: Groups of a mixture smaller than this share of n / k are fragments: its components have a
    #: likelihood, and need fewer rows than parts of a graph.
    small_group: float = 0.06
    #: The fewest rows that a group may have.
    fewest_rows: int = 5

    #: Groups that each of two groupings has at most whose effects add up: with more, each
    #: combination of them has too few rows.
    pair_clusters: int = 3
    #: Steps of EM from every pair of mixtures that differ, the likeliest pairs that are kept then,
    #: and their further steps: nearly all pairs lead to the same two.
    pair_steps: tuple[int, int] = (8, 60)
    pairs_kept: int = 3

    #: Steps of EM that put the edges of overlapping groups, and the NMI with the groups before that
    #: is left at least: with many steps it ends at other groups.
    edge_steps: int = 3
    edges_kept: float = 0.5
    #: Share of the rows that may be stray between groups with gaps: one in twenty. (Small groups
    #: beside a gap lose 1 to 4.5 % to it in trials; ellipses would take 8 % off two curves.)
    stray: float = 0.05

    # Heaps
    #: Share of the rows that a heap has at least, and all others too.
    heap_share: float = 0.05
    #: Values that a column of measurements has at least: with fewer, every value is a heap.
    heap_values: int = 8
    #: Values on either side of a heap that it is compared with, and how many times as frequent as
    #: the most frequent of them it is: counts fall by less from one value to the next.
    heap_near: int = 5
    heap_ratio: float = 5.0
    #: Values of a feature, with that of the heap, that may be as frequent: zero hours and forty.
    #: Where more are, they are whole numbers among measurements.
    usual_spikes: int = 2
    #: Heaps per feature from which they are how these columns are, and say nothing.
    usual_heaps: float = 0.5
    #: Values that a feature has among the rows on an exact relation, as a share of these.
    relation_values: float = 0.25
    #: Surprise (nats) of a heap: once in twenty thousand columns.
    heap_surprise: float = 10.0

    # Chains
    #: Dimensions of the subspaces in which rows are linked.
    chain_dimensions: tuple[int, ...] = (2, 3)
    #: Which neighbour of a row tells how long its links are at least: with fewer, stray rows make a
    #: bridge; with more, gaps close that are no wider than a few rows are apart.
    chain_near: int = 3
    #: How empty it is around groups by chance (see :meth:`.Chain.groups`), and the scale of that:
    #: nearly the same for 60 to 450 rows, 3 to 100 features, and all kinds of structureless tables.
    chain_usual: float = -0.1
    chain_scale: float = 0.14

    # How candidates are judged
    #: Neighbours per row of the graph: enough to hang a cluster of thirty rows together.
    neighbours: int = 12
    #: Conductance below which a cut counts as no connection at all: one edge in five hundred.
    resolution: float = 0.002
    #: A cut inside a cluster leaves at least this share on either side: stragglers are no halves.
    balance: float = 0.2
    #: Clusters smaller than this share of n / k are fragments.
    fragment: float = FRAGMENT_SHARE
    #: NMI with the given labels up to which a grouping counts as new: this much, and what chance
    #: gives times the factor, which covers nearly all of its spread.
    known: float = 0.05
    known_by_chance: float = 1.3
    #: Subsamples behind the stability of a candidate, and their share of the rows.
    subsamples: int = 3
    subsample_share: float = 2 / 3

    # How one is chosen
    #: What stability counts for beside separation (chosen on 21 data sets, see real-tables).
    stability_weight: float = 2.0
    #: Candidates whose stability is asked.
    finalists: int = 20
    #: Separation from which groups are clear: no structureless data of the trials reached it.
    clear: float = 1.5
    #: Separation from which only the quickest sources are asked: of twenty edges that a cut through
    #: a group takes, one leads out of it.
    plain: float = 3.0
    #: Surprise of the best candidate from which the kernel's search, which takes as long as all
    #: others together, is not asked: once in a thousand tables. (With 3 to 15 the first views of 34
    #: real searches and of 60 of generated tables have the same NMI within 0.002 on average.)
    settled: float = 7.0
    #: With clear groups in hand the search ends when so many further starts bring nothing better.
    patience: int = 2
    #: Separation below which nothing counts as found, and the novelty weight that is taken then.
    weak: float = 0.4
    weak_weight: float = 10.0
    #: A winner is the product of two groupings if each is determined by it to this share of its
    #: entropy, and their NMI is at most this beyond chance.
    determined: float = 0.8
    independent: float = 0.05
    #: Share of the rows that each combination of them has of what independence gives: at fourteen
    #: rows half of it is two standard deviations.
    combined: float = 0.5
    #: Cosine of the angle between subspaces from which they share a direction.
    shared: float = 0.9
    #: NMI with an earlier view up to which a candidate of the same bank is a further one.
    further: float = 0.1

    # How candidates of several sources are compared
    #: Separation that the best candidate has by chance: level, per log of the share of ``rows``,
    #: per log of the features, per doubling of the number of groups asked for; and its scale. It
    #: only makes tables comparable: p-values come from the null laws.
    usual_separation: tuple[float, ...] = (-0.25, -0.38, 0.28, -0.25)
    separation_scale: float = 0.22
    #: Distinctness (nats) of the best direction by chance per dimension in which one looks, and its
    #: scale: level, and per dimension. On a hundred structureless tables of 3 to 20 dimensions.
    usual_distinctness: float = 1.0
    distinctness_scale: tuple[float, ...] = (0.8, 0.11)
    #: Separation that is usual on top of that along one direction.
    one_direction: float = 0.8
    #: Separation that is made where a subspace is the one in which groups differ most: so much
    #: times the dimensions in which it was looked for per row, less for each direction of several
    #: (by the root of their number). On some hundred structureless tables of 7 kinds.
    made: float = 18.0
    #: Clouds as long as the rows on which a cut is tried: the error of their mean is half of the
    #: spread that chance gives, and adds a tenth to it.
    clouds: int = 4
    #: Length in widths from which a cloud is long: below, half of its logarithm, which is what cuts
    #: gain, is half of what chance gives.
    long: float = 1.25
    #: Given groups from which distinctness need not show in the rows as they are: a few groups may
    #: be curves whose pieces show when their means are removed, many are not bent alike.
    alike_bent: int = 8
    #: Surprise from which a candidate comes before all others: -log 0.05.
    believable: float = 3.0
    #: Candidates that are believed after all questions, from which no more are asked. (With 40,
    #: many cuts of one range hid the second view of one of 34 searches; structureless tables have
    #: four at most.)
    enough_believed: int = 80
    #: Surprise of a separation beyond which only its logarithm counts when candidates are compared:
    #: once in twenty thousand tables. (8 to 12 do equally well on real tables, no limit worse;
    #: without the logarithm three of four clear groups are as good as all.)
    enough: float = 10.0
    #: What it counts for that other sources propose the groups too, from not at all to exactly:
    #: as much as a gap that chance gives once in fifty tables. (3 to 6 do equally well.)
    support_weight: float = 4.0
    #: What it counts for to tell more groups, per logarithm of their number: of nested groupings
    #: that are as clear, the finer says more. (Half or twice as much does a little worse.)
    detail_weight: float = 1.0
    #: Of the spread between the groups of a product of two groupings, the share that their sum may
    #: leave open. (Products of 2 x 2 to 3 x 3 groups leave up to 0.025 of it, and one of eight sets
    #: of four groups anywhere less than 0.1.)
    interaction: float = 0.05
    #: How often groups anywhere may look as much like a product: in a plane, a third of all sets of
    #: four groups leave less than that share.
    product_by_chance: float = 0.05

    # Whether other rows tell the same
    #: Starts of a refit, and of a further search after the views of the first.
    refit_starts: int = 4
    #: A view counts as found again if a candidate at least this nearly as separated as the best is.
    as_good: float = 0.75
    #: Agreement (NMI) with what the source of a view finds again below which all others are asked.
    again: float = 0.5

    @property
    def key(self) -> str:
        """A short hash of all values: two plans with the same key search alike."""
        values = json.dumps(asdict(self), sort_keys=True)
        return hashlib.sha256(values.encode()).hexdigest()[:12]

    @property
    def clusters(self) -> range:
        """Numbers of clusters tried if none is asked for."""
        return range(2, self.most_clusters + 1)


#: The plan that is used unless another one is passed.
PLAN = SearchPlan()
