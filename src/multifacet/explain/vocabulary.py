"""Which words set the texts of a group apart from all others."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

from ..linalg import Array

#: Words that are named for a group, rows in which one has to be, and how sure it has to be that it
#: is more frequent: standard errors of its log-odds.
MAX_WORDS, MIN_ROWS, SURE = 8, 2, 2.0
#: What is known of a word beforehand: its share in all rows counts as so many average groups.
PRIOR = 0.1
#: Rows that are read at most, evenly from all, and characters of one.
MAX_ROWS, MAX_LENGTH = 20_000, 4000
#: Words of two letters at least, in any script.
_WORD = re.compile(r"[^\W\d_]{2,}(?:['\u2019][^\W\d_]+)?")


def words_of(text: str) -> list[str]:
    """Return the words of a text in small letters.

    Examples
    --------
    >>> from multifacet.explain.vocabulary import words_of
    >>> words_of("The 2 cats' Mat, again")
    ['the', 'cats', 'mat', 'again']
    """
    return [word.lower() for word in _WORD.findall(text[:MAX_LENGTH])]


def telling_words(texts: Sequence[str], groups: Array) -> list[list[str]]:
    """Return, for every group, the words that are in more of its rows than in others.

    Words are ordered by their log-odds against all other rows in standard errors, with counts that
    are smoothed by those of all rows, so that rare words do not win by chance (Monroe, Colaresi and
    Quinn, Fightin' Words, 2008).

    Parameters
    ----------
    texts : sequence of str of length n
        The texts.
    groups : array of int of shape (n,)
        The grouping, 0 to k - 1.

    Returns
    -------
    list of lists of str
        At most eight words for each group, the most telling first; none if no word tells it.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.explain import telling_words
    >>> texts = ["the match was won", "a match of two teams", "the vote was won", "a vote of two"]
    >>> telling_words(texts * 5, np.array([0, 0, 1, 1] * 5))
    [['match'], ['vote']]
    """
    k = int(groups.max()) + 1
    counts = _counts(texts, groups, k)
    if not counts:
        return [[] for _ in range(k)]
    names = sorted(counts)
    own = np.array([counts[name] for name in names], dtype=float).T  # (k, words)
    every = own.sum(axis=0)
    prior = PRIOR * every / k
    others, total = every - own, own.sum(axis=1, keepdims=True)
    rest, weight = total.sum() - total, prior.sum()
    odds = np.log((own + prior) / (total + weight - own - prior + 1e-9))
    odds -= np.log((others + prior) / (rest + weight - others - prior + 1e-9))
    sure = odds / np.sqrt(1 / (own + prior) + 1 / (others + prior))
    return [_leading(names, sure[c], own[c]) for c in range(k)]


def _counts(texts: Sequence[str], groups: Array, k: int) -> dict[str, list[int]]:
    """Return in how many rows of each group words are, of all words that are not too rare."""
    n = len(texts)
    rows = np.linspace(0, n - 1, min(n, MAX_ROWS)).round().astype(int)
    found: list[Counter[str]] = [Counter() for _ in range(k)]
    for i in rows.tolist():
        found[groups[i]].update({*words_of(str(texts[i]))})
    every = sum(found, Counter())
    return {
        word: [counter[word] for counter in found]
        for word, count in every.items()
        if count >= MIN_ROWS
    }


def _leading(names: list[str], sure: Array, own: Array) -> list[str]:
    order = np.lexsort([np.arange(len(names)), -sure.round(9)])
    able = [i for i in order if sure[i] >= SURE and own[i] >= MIN_ROWS]
    return [names[i] for i in able[:MAX_WORDS]]
