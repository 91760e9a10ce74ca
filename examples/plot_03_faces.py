"""
Faces: who, and looking where?
==============================

Images of faces can be sorted by person or by pose. Someone has sorted them by person; the other
order is found without a label. Every row is an image, every feature a pixel.
"""

# %%
# Small faces, drawn: five persons look left, right or up. They differ in the distance of their
# eyes, the width of the mouth and the size of the head; the pose shifts the face within the head.
import numpy as np
from matplotlib import pyplot as plt
from sklearn.decomposition import PCA

from multifacet import KDAC
from multifacet.metrics import nmi

SIZE = 24
rng = np.random.default_rng(0)
down, across = np.mgrid[0:SIZE, 0:SIZE]


def blob(x, y, width, height):
    """Return a soft dark spot."""
    return np.exp(-(((across - x) / width) ** 2) - ((down - y) / height) ** 2)


def face(person, pose):
    """Return the image of a person in a pose, slightly different every time."""
    eyes, mouth, head = 2.4 + 0.5 * person, 1.5 + 0.6 * person, 9.0 + 0.3 * person
    x, y = 11.5 + rng.normal(0, 0.2), 11.5 + rng.normal(0, 0.2)
    image = blob(x, y, head, head + 1) ** 3
    x, y = x + (-3.5, 3.5, 0)[pose], y + (0, 0, -4)[pose]
    image -= blob(x - eyes, y - 2, 1.4, 1.2) + blob(x + eyes, y - 2, 1.4, 1.2)
    image -= 0.8 * blob(x, y + 4, mouth, 1.0)
    return image + rng.normal(0, 0.05, image.shape)


person, pose = rng.integers(0, 5, 240), rng.integers(0, 3, 240)
images = np.array([face(*one) for one in zip(person, pose, strict=True)])

# %%
# A few principal components keep what is not noise. The person is given.
X = PCA(12, whiten=True, random_state=0).fit_transform(images.reshape(len(images), -1))
model = KDAC(n_clusters=3, n_components=2, random_state=0).fit(X, given=person)
print(f"NMI with the pose {nmi(model.labels_, pose):.2f}")
print(f"NMI with the person {nmi(model.labels_, person):.2f}")

# %%
# Above, one image of each person; below, the mean image of each group found.
figure, axes = plt.subplots(2, 5, figsize=(8, 3.6), layout="constrained")
for ax in axes.flat:
    ax.axis("off")
for i in range(5):
    axes[0, i].imshow(images[person == i][0], cmap="gray")
    axes[0, i].set_title(f"person {i}", fontsize=9)
for i in range(3):
    axes[1, i + 1].imshow(images[model.labels_ == i].mean(axis=0), cmap="gray")
    axes[1, i + 1].set_title(f"group {i}", fontsize=9)
