"""
Many rows, on disk
==================

Beyond 3,000 rows the kernel is compared with a few landmarks only, so time and memory grow with
the number of rows, not with its square. The rows can stay on disk; the table of sizes in the
guide goes up to millions.
"""

# %%
# A file of 6,000 rows stands for a large one. It is mapped, not read.
import tempfile
from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt

from multifacet import KDAC
from multifacet.datasets import make_moons_views
from multifacet.engines import LowRank
from multifacet.metrics import nmi
from multifacet.plotting import plot_view

X, labelings = make_moons_views(6_000, random_state=0)
folder = tempfile.TemporaryDirectory()
path = Path(folder.name) / "rows.npy"
np.save(path, X)
rows = np.load(path, mmap_mode="r")

# %%
# Some settings are fixed to save time. ``engine="auto"`` would choose the same engine; here it
# is told to be content with 100 landmarks.
model = KDAC(2, n_components=2, bandwidth=0.3, novelty_weight=3.0, engine=LowRank(rank=100))
model.set_params(random_state=0).fit(rows, given=labelings[:, 0])
print(f"NMI with the moons {nmi(model.labels_, labelings[:, 1]):.2f}")

# %%
# New rows get their group from the landmarks, too.
figure, ax = plt.subplots(figsize=(5.5, 3.6), layout="constrained")
few = rows[:1000]
plot_view(model.transform(few), model.predict(few), ax=ax, title="1,000 of 6,000 rows")
folder.cleanup()
