"""
Segmenting a picture in another way
===================================

The pixels of a photograph are grouped by colour. The first segmentation is that of k-means; the
second one has to be different. The model is fitted on a few hundred colours and then labels all
pixels.
"""

# %%
import numpy as np
from matplotlib import pyplot as plt
from sklearn.cluster import KMeans
from sklearn.datasets import load_sample_image
from sklearn.preprocessing import StandardScaler

from multifacet import KDAC
from multifacet.metrics import nmi

image = load_sample_image("flower.jpg")[::5, ::5]
pixels = StandardScaler().fit_transform(image.reshape(-1, 3))

first = KMeans(2, n_init=10, random_state=0).fit(pixels)
sample = np.random.default_rng(0).choice(len(pixels), 400, replace=False)

# %%
# Settings are fixed, so this is fast: two dimensions of the colour space, one wide bandwidth.
model = KDAC(2, n_components=2, bandwidth=1.0, novelty_weight=10.0, init="spectral", random_state=0)
model.fit(pixels[sample], given=first.labels_[sample])
second = model.predict(pixels)
print(f"NMI of the two segmentations {nmi(first.labels_, second):.2f}")
print("weights of red, green, blue:", model.feature_weights_.round(2))

# %%
figure, axes = plt.subplots(1, 3, figsize=(9, 2.4), layout="constrained")
shown = {"photograph": image, "known (k-means)": first.labels_, "another one": second}
for ax, (title, values) in zip(axes, shown.items(), strict=True):
    ax.imshow(values if values.ndim == 3 else values.reshape(image.shape[:2]), cmap="cividis")
    ax.set_title(title, fontsize=9)
    ax.axis("off")
