"""
Text: the topic is known, what about the tone?
==============================================

Short reviews are about food or about travel, and are praise or complaint. The topic is known.
Words are sparse features; they are never made dense as a whole.
"""

# %%
# Reviews, put together from words of their topic, words of their tone, and words that mean
# nothing.
import numpy as np
from matplotlib import pyplot as plt
from sklearn.feature_extraction.text import TfidfVectorizer

from multifacet import KDAC
from multifacet.metrics import nmi

TOPICS = [
    "soup bread cheese table waiter menu plate dinner wine dessert",
    "train hotel flight luggage ticket station beach map bus tour",
]
TONES = [
    "lovely great friendly fresh perfect again thanks warm",
    "dirty slow rude late broken never refund cold",
]
OTHER = "the and with our was very when there some at after before while this"

rng = np.random.default_rng(0)
topic, tone = rng.integers(0, 2, 200), rng.integers(0, 2, 200)


def some(words, count):
    """Return words drawn at random."""
    return " ".join(rng.choice(words.split(), count))


reviews = [
    f"{some(TOPICS[a], 6)} {some(TONES[b], 5)} {some(OTHER, 6)}"
    for a, b in zip(topic, tone, strict=True)
]
print(reviews[0])

# %%
words = TfidfVectorizer()
X = words.fit_transform(reviews)
print(f"{X.shape[0]} reviews, {X.shape[1]} words, {X.nnz / np.prod(X.shape):.0%} are not zero")
model = KDAC(2, n_components=1, novelty_weight=10.0, init="spectral", random_state=0)
model.set_params(bandwidth="median").fit(X, given=topic)
print(f"NMI with the tone {nmi(model.labels_, tone):.2f}")
print(f"NMI with the topic {nmi(model.labels_, topic):.2f}")

# %%
# The words behind the axis: praise at one end, complaint at the other.
names, loadings = words.get_feature_names_out(), model.components_[0]
order = np.argsort(loadings)
ends = np.r_[order[:8], order[-8:]]
figure, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
ax.barh(names[ends], loadings[ends], color=np.where(loadings[ends] > 0, "#0072B2", "#D55E00"))
ax.set_xlabel("loading")
