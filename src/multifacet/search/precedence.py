"""Which candidate comes first where they are parts, wholes or products of each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..linalg import Array
from ..metrics import nmi
from .appraisal import Appraisal
from .candidate import Candidate, in_order
from .factors import are_independent, chance_of_product, in_cells, interaction_of
from .judge import entropy
from .pieces import Earlier, doubted, within
from .plan import SearchPlan
from .sample import Sample
from .turns import ONE_OF_TWO


def without_pieces(
    candidates: list[Candidate], earlier: Sequence[Earlier], sample: Sample
) -> list[Candidate]:
    """Return candidates, best first, of which the winner stands the question for pieces."""
    for _ in range(len(candidates) if earlier else 0):
        asked = doubted(sample, candidates[0], earlier)
        if asked.believed == candidates[0].believed:
            return [asked, *candidates[1:]]
        candidates = sorted([asked, *candidates[1:]], key=lambda one: one.rank, reverse=True)
    return candidates


def whole_first(candidates: list[Candidate], plan: SearchPlan) -> list[Candidate]:
    """Put a believed candidate first if the winner divides its groups further without clear gaps.

    Pieces of a moon or a ring are distinct along its curve, but the whole is better separated.
    """
    best = candidates[0]
    if best.rejected or best.separation >= plan.clear:
        return candidates
    for one in candidates[1:]:
        coarser = one.n_clusters < best.n_clusters and one.separation >= best.separation
        if one.believed and not one.rejected and coarser and _determines(best, one, plan):
            return [one, *(c for c in candidates if c is not one)]
    return candidates


def clear_division_first(candidates: list[Candidate], appraisal: Appraisal) -> list[Candidate]:
    """Put the finest candidate first that divides the winner further, and rightly so.

    It says the same, and more. (One group far from all others is more surprising than three of
    which two lie near each other.) It does so if every two groups that the winner puts together
    would be told apart without all others, and there are gaps between them: pieces of a curve are
    distinct along it. If the candidate is as well separated and as certain as the winner, it is
    enough that this is likelier than not. As a whole it is as surprising as the weakest link: the
    winner, or what divides it. A product with another candidate is no division.
    """
    best, plan = candidates[0], appraisal.plan
    if best.rejected or not best.believed:
        return candidates
    whole = Earlier(best.labels, np.linalg.qr(best.W)[0])
    beside = [one for one in candidates[1:] if _is_beside(one, best, plan)]
    finer = [one for one in candidates[1:] if _divides(one, best, plan)]
    for one in sorted(finer, key=lambda one: (one.n_clusters, one.rank), reverse=True):
        if any(_divides_like(one, other, best, appraisal.sample) for other in beside):
            continue
        limit = np.log(2) if _is_as_clear(one, best, plan) else plan.believable
        division = appraisal.division(one, best)
        if division >= limit:  # gaps take longer to measure
            division = min(division, within(appraisal.sample, one, whole))
        if division >= limit:
            surprise = max(one.surprise or 0.0, min(best.surprise or 0.0, division))
            others = [c for c in candidates if c is not one]
            return [replace(one, surprise=surprise), *others]
    return candidates


def _divides(one: Candidate, best: Candidate, plan: SearchPlan) -> bool:
    """Whether a believed candidate divides groups of the best, and nothing else."""
    if one.rejected or not one.believed or one.n_clusters <= best.n_clusters:
        return False
    return share_told(one, best) >= plan.finer_told


def _is_beside(one: Candidate, best: Candidate, plan: SearchPlan) -> bool:
    """Whether a believed candidate is independent of the best."""
    return one.believed and not one.rejected and are_independent(one.labels, best.labels, plan)


def _divides_like(one: Candidate, other: Candidate, best: Candidate, sample: Sample) -> bool:
    """Whether a candidate divides the best, or some groups of it, by another grouping beside it."""
    coarse, fine, beside = best.labels, one.labels, other.labels
    whole, of_all = in_cells(coarse, fine), in_cells(coarse, fine, beside)
    divided = entropy(whole) - entropy(coarse)
    shared = entropy(whole) + entropy(in_cells(coarse, beside)) - entropy(coarse) - entropy(of_all)
    return shared >= sample.plan.determined * divided and _multiply(best, other, one, sample)


def _multiply(one: Candidate, other: Candidate, whole: Candidate, sample: Sample) -> bool:
    """Whether the effects of two candidates add up where a finer one is seen.

    More than those of groups anywhere do by chance.
    """
    points = sample.project(np.linalg.qr(whole.W)[0])
    if interaction_of(points, one.labels, other.labels) > sample.plan.interaction:
        return False
    chance = chance_of_product(points, one.labels, other.labels)
    return chance <= sample.plan.product_by_chance


def _is_as_clear(one: Candidate, best: Candidate, plan: SearchPlan) -> bool:
    """Whether a candidate has some more groups, but not twice as many, and is as separated."""
    certain = (one.surprise or 0.0) >= plan.enough
    return certain and one.separation >= best.separation and one.n_clusters < 2 * best.n_clusters


def one_of_two_first(
    candidates: list[Candidate], proposed: Sequence[Candidate], plan: SearchPlan
) -> list[Candidate]:
    """Put the better of two groupings that add up first if the winner mixes them.

    Which these are, those tell that were ``proposed``; others may have the same groups, and show
    them better. Clear groups are no mixture of overlapping ones. Once one of the two was found, the
    other one is next: no third tells as much beside it.
    """
    names = {in_order(one.labels).tobytes() for one in proposed if one.start == ONE_OF_TWO}
    two = [one for one in candidates if in_order(one.labels).tobytes() in names]
    left = [one for one in two if not one.rejected]
    if not left or not left[0].believed:
        return candidates
    found = any(one.rejected and one.novelty > plan.further for one in two)
    best = candidates[0]
    fair = left[0].separation >= plan.clear or best.separation < plan.clear
    mixed = len(left) > 1 and all(nmi(best.labels, one.labels) > plan.further for one in left)
    if not (found or (fair and mixed)):
        return candidates
    return [left[0], *(c for c in candidates if c is not left[0])]


def finest_first(candidates: list[Candidate], plan: SearchPlan) -> list[Candidate]:
    """Put the finest of the candidates first that divide the winner further and are as good.

    Along a path of numbers of groups there is a plateau where two of them lie near each other:
    with and without telling these two apart, all groups are clear. Halves of a group are far less
    surprising than groups.
    """
    best = candidates[0]
    if best.rejected or not best.believed:
        return candidates
    level = [one for one in candidates if _is_level(one, best, plan)]
    if not level:
        return candidates
    finest = max(level, key=lambda one: (one.n_clusters, one.rank))
    return [finest, *(c for c in candidates if c is not finest)]


def _is_level(one: Candidate, best: Candidate, plan: SearchPlan) -> bool:
    """Whether a candidate divides the best further, and is as good but for chance."""
    if one.rejected or not one.believed:
        return False
    if not best.n_clusters < one.n_clusters < 2 * best.n_clusters:  # twice may be a product
        return False
    # What one looks for in two ways is compared by the gaps alone.
    behind = best.separation - one.separation
    if one.start != best.start and behind > plan.separation_scale:
        return False
    # What is better was turned down as a product.
    if not best.score - plan.finer_score <= one.score <= best.score:
        return False
    surprising = (one.surprise or 0.0) >= plan.finer_surprise * (best.surprise or 0.0)
    return surprising and share_told(one, best) >= plan.finer_told


def factors_first(candidates: list[Candidate], sample: Sample) -> list[Candidate]:
    """Put a factor first if the winner is the product of two groupings, as :func:`factor_first`.

    Four groups are the product of two pairs if they lie at the corners of a parallelogram: the
    effects of both groupings add up. Four groups anywhere else are four groups, although two of
    their divisions into pairs are always independent.
    """
    best, plan = candidates[0], sample.plan
    if best.rejected or best.n_clusters < 3:
        return candidates
    # Some groups of a product may be merged in the winner, as two of four. All of them are better
    # separated then, as halves of one are not.
    finer = [one for one in candidates[1 : plan.finalists] if _is_clearer(one, best, plan)]
    for whole in [best, *finer]:
        factor = _factor_of(whole, candidates, sample)
        if factor is not None:
            return [factor, *(c for c in candidates if c is not factor)]
    return candidates


def _factor_of(
    whole: Candidate, candidates: Sequence[Candidate], sample: Sample
) -> Candidate | None:
    """Return the better of two groupings that a candidate is the product of, None if it is none."""
    plan = sample.plan
    coarser = [
        one
        for one in candidates[: plan.finalists * 5]
        if not one.rejected and one.n_clusters < whole.n_clusters and _determines(whole, one, plan)
    ]
    for i, one in enumerate(coarser):
        for other in coarser[i + 1 :]:
            if one.n_clusters * other.n_clusters != whole.n_clusters:
                continue
            if not are_independent(one.labels, other.labels, plan):
                continue
            if not _is_made_of(whole.labels, one.labels, other.labels):
                continue
            if _multiply(one, other, whole, sample):
                return one
    return None


def _is_clearer(one: Candidate, best: Candidate, plan: SearchPlan) -> bool:
    """Whether a candidate divides the groups of another one, and is at least as separated."""
    finer = one.n_clusters > best.n_clusters and one.separation >= best.separation
    return finer and not one.rejected and _determines(one, best, plan)


def _is_made_of(whole: Array, one: Array, other: Array) -> bool:
    """Whether each group of a whole (n,) is what most rows of some combination of two are in.

    Else one of the two cuts a small group of the whole in halves, and is none of its factors.
    """
    counts = np.zeros((int(one.max()) + 1, int(other.max()) + 1, int(whole.max()) + 1))
    np.add.at(counts, (one, other, whole), 1.0)
    return len(np.unique(counts.argmax(axis=2))) == counts.shape[2]


def _determines(fine: Candidate, one: Candidate, plan: SearchPlan) -> bool:
    """Whether the groups of a finer candidate say nearly all about those of another."""
    return share_told(fine, one) >= plan.determined


def share_told(fine: Candidate, one: Candidate) -> float:
    """Return the share of the entropy of a candidate that the groups of a finer one tell."""
    own, whole = entropy(one.labels), entropy(fine.labels)
    return float(nmi(one.labels, fine.labels) * np.sqrt(whole / max(own, 1e-12)))


def factor_first(candidates: list[Candidate], plan: SearchPlan) -> list[Candidate]:
    """Put a factor first if the winner is the product of two independent groupings.

    Four clusters at the corners of a square are well separated, but as two independent pairs they
    are two views. The winner is such a product if two clear candidates are coarser versions of it
    and independent of each other. (With something given, that was for the user to say.)
    """
    coarser = [c for c in candidates[1:] if not c.rejected and _is_coarser(c, candidates[0], plan)]
    for i, one in enumerate(coarser):
        if any(are_independent(one.labels, other.labels, plan) for other in coarser[i + 1 :]):
            return [one, *(c for c in candidates if c is not one)]
    return candidates


def _is_coarser(one: Candidate, fine: Candidate, plan: SearchPlan) -> bool:
    """Whether a clear candidate is determined by one with more clusters."""
    if one.separation < plan.clear or one.n_clusters >= fine.n_clusters:
        return False
    return _determines(fine, one, plan)
