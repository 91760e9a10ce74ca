"""
What else is in my embeddings?
==============================

A network has turned pictures into embeddings: 128 numbers for each, of unit length, that mean
nothing one by one. The shape in each picture is known. What else does the network see?
"""

# %%
# Pictures of four shapes. The embeddings are generated as well: a random network of the shape, of
# something else, and of much that does not matter.
import tempfile
from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt
from PIL import Image, ImageDraw

from multifacet import find_views
from multifacet.datasets import make_embedding_views
from multifacet.metrics import nmi

SHAPES = ("disk", "square", "triangle", "bar")
COLOURS = ("#d55e00", "#0072b2", "#009e73")
CORNERS = {
    "square": [(-1, -1), (1, -1), (1, 1), (-1, 1)],
    "triangle": [(0, -1), (1, 1), (-1, 1)],
    "bar": [(-1, -0.3), (1, -0.3), (1, 0.3), (-1, 0.3)],
}
rng = np.random.default_rng(0)


def draw(shape, colour):
    """Return a picture of a shape, somewhere near the middle."""
    picture = Image.new("RGB", (48, 48), "white")
    pen, centre, size = ImageDraw.Draw(picture), rng.uniform(20, 28, 2), rng.uniform(9, 15)
    if shape == "disk":
        pen.ellipse([*(centre - size), *(centre + size)], fill=colour)
    else:
        places = [tuple(centre + size * np.array(one)) for one in CORNERS[shape]]
        pen.polygon(places, fill=colour)
    return picture


X, labelings = make_embedding_views(600, (4, 3), n_features=128, random_state=0)
shape, colour = np.array(SHAPES)[labelings[:, 0]], np.array(COLOURS)[labelings[:, 1]]
folder = Path(tempfile.mkdtemp())
for i in range(len(X)):
    draw(shape[i], colour[i]).save(folder / f"{i}.png")

# %%
# What describes the rows goes beside the embeddings: labels, texts, paths of pictures. Columns of
# ``rows`` are no features; those of pictures and texts are there to look at.
rows = {"shape": shape, "picture": [f"{i}.png" for i in range(len(X))]}
views = find_views(X, rows=rows, given="shape", n_views=1, image_folder=folder)
print(views)
print(f"NMI with the colour {nmi(views[0].labels, labelings[:, 1]):.2f}")

# %%
# Feature 97 says nothing to anyone, so groups are shown by their rows: typical ones, nearest to the
# middle of each group. ``views.report("report.html")`` shows them too, beside those that are
# nearest to and farthest from the next group, and the rows at both ends of each axis.
gallery = views[0].gallery
figure, axes = plt.subplots(len(gallery["groups"]), 6, figsize=(6, 3.2), layout="constrained")
for line, group in zip(axes, gallery["groups"], strict=True):
    for ax, place in zip(line, group["typical"], strict=True):
        ax.imshow(Image.open(folder / str(gallery["rows"][place]["row"])))
        ax.set(xticks=[], yticks=[])
    line[0].set_ylabel(f"group {group['label']}", fontsize=8)

# %%
# Nothing was said about the number of groups. Had nothing been given at all, both groupings are
# views of their own: the twelve kinds of pictures are taken apart into shape and colour.
both = find_views(X, n_views=2)
for view in both:
    with_shape, with_colour = nmi(view.labels, shape), nmi(view.labels, colour)
    print(f"{view.name}: {view.n_clusters} groups", end=", ")
    print(f"NMI with the shape {with_shape:.2f}, with the colour {with_colour:.2f}")
