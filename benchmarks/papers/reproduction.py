"""The page ``docs/reproduction.md``, written from the records: where we agree, where not, why.

No number of ours is typed here: sentences take theirs from the tables. What was not run is named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ..record import Record
from ..table import Cell, Table, shown
from .claims import Results, Row, summary

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reproduction.md"
#: What every module reproduces, in the order of the page.
PARTS = {
    "table1": "2018 paper, Table 1",
    "growth": "2018 paper, Figure 3",
    "convergence": "2018 paper, Figure 4",
    "speed": "speed of the solvers (2019 paper, Table 4)",
    "references": "ISM+ paper, Tables 5 and 6",
    "kernels": "2019 paper, Tables 4 and 5",
    "samples": "2019 paper, Figure 1b",
    "methods": "2014 paper, Figure 7, Tables 1 and 4",
    "pose": "2014 paper, Table 1: identity given, pose wanted",
    "segments": "2014 paper, Tables 2 and 3; 2019 paper, Figure 1a",
    "tradeoff": "2014 paper, Figure 9",
    "scenarios": "2014 paper, Figures 2 to 4 and Table 5",
    "errata": "the errata",
}


def short(table: Table) -> str:
    """Return a table without its heading and note."""
    return str(Table("", table.headings, table.rows)).split("\n", 2)[2]


def pivot(rows: list[Row], down: str, across: str, value: str) -> Table:
    """Return one value by two columns, the published one in brackets."""
    lines = list(dict.fromkeys(row[down] for row in rows))
    heads = list(dict.fromkeys(row[across] for row in rows))
    cells: dict[tuple[Cell, Cell], Cell] = {
        (row[down], row[across]): shown(row[value])
        + (f" ({row[value + ' published']})" if row.get(value + " published") else "")
        for row in rows
    }
    return Table(
        "",
        [down, *heads],
        [[line, *(cells.get((line, head), "") for head in heads)] for line in lines],
    )


def whole(position: int) -> Callable[[Results, str], Table]:
    """Show a table as it is."""
    return lambda results, name: results.table(name, position)


def ism_rows(results: Results, name: str) -> Table:
    """Return Table 1 of the 2018 paper for ISM with the spectral start."""
    heads = ["data", "NMI", "published", "CQ", "published", "novelty", "published"]
    keys = ["data", *(key + end for key in ("NMI", "CQ", "novelty") for end in ("", " published"))]
    rows = [
        [row[key] for key in keys]
        for row in results.rows(name)
        if (row["solver"], row["start"]) == ("ISM", "spectral")
    ]
    return Table("", heads, rows)


def by_data(position: int, down: str, value: str) -> Callable[[Results, str], Table]:
    """Show one measure by method and data set."""
    return lambda results, name: pivot(results.rows(name, position), down, "data", value)


def by_solver(position: int, value: str) -> Callable[[Results, str], Table]:
    """Show one measure by data set and kernel, and solver."""

    def make(results: Results, name: str) -> Table:
        rows = results.rows(name, position)
        named = [row | {"data": f"{row['data']}, {row['kernel']}"} for row in rows]
        return pivot(named, "data", "solver", value)

    return make


@dataclass(frozen=True)
class Part:
    """One piece of the page: what it is about, tables, and why they are as they are."""

    title: str
    why: str
    tables: tuple[tuple[str, Callable[[Results, str], Table]], ...]
    picture: str = ""

    def write(self, results: Results, name: str) -> Iterator[str]:
        yield f"## {self.title}\n"
        if name not in results or not results.filled(name):
            yield "Not run.\n"
            return
        for about, make in self.tables:
            if about:
                yield f"{about}\n"
            yield short(make(results, name))
        if self.picture:
            yield self.picture
        yield f"{self.why}\n"


PAGE_PARTS = {
    "table1": Part(
        "2018 paper, Table 1: seven data sets",
        "The clusterings are the published ones. Two columns are not. CQ on small Gauss: the paper "
        "does not say how the data were scaled, and on the raw data the published sigma prefers "
        "the diagonal. Cost: the published ones are of mixed scales, so only those of our own runs "
        "are compared. There ISM is as good as every rival on the synthetic data, and up to a "
        "thousandth on the image and the faces. WebKB is the exception, and it speaks "
        "against the objective, not for the rivals: solutions with a lower cost split off a few "
        "pages and have nothing to do with the topics (see the errata). KDAC therefore reports "
        "where the alternation settles, not the largest objective it saw.",
        (
            ("ISM with the spectral start:", ism_rows),
            (
                "Cost of a solver minus that of ISM with the spectral start (negative: the solver "
                "found a lower cost):",
                whole(1),
            ),
        ),
    ),
    "speed": Part(
        "Speed against SM, GM and DG",
        "The published orders of magnitude are not met, because the rivals here are not those that "
        "were timed: all solvers share one vectorised pass over the pairs, SM has "
        "Barzilai-Borwein steps, DG steps all columns in one pass and GM has the exact Hessian. "
        "What is left is the number of passes, which is smallest for ISM with the Gaussian kernel. "
        "With the polynomial kernel the plain iteration does not settle and the polish does the "
        "work, so that little is gained.",
        (("", whole(1)),),
    ),
    "references": Part(
        "ISM+ paper, Tables 5 and 6: next to PCA, LDA, SVM and spectral clustering",
        "The paper tests on one split that it does not describe, here every row is tested once; an "
        "SVM without any reduction moves by as much between the two, so the differences are those "
        "of the split (one row of Wine is 0.6 %). All solvers find the same subspace. That a "
        "reduction costs little accuracy holds. It is ahead of the references on faces only; there "
        "PCA has nothing to go by, since the features are standardised principal components "
        "already. Unsupervised, the clusters of cancer are those of the 2019 paper (NMI 0.80), not "
        "the better ones of this one, and faces are not the pixels of the paper. Published values "
        "in brackets.",
        (
            ("Error in percent:", by_data(0, "method", "error, %")),
            ("NMI of the clusters with the classes:", by_data(1, "method", "NMI")),
        ),
    ),
    "kernels": Part(
        "2019 paper, Tables 4 and 5: the family of kernels",
        "Supervised, kernels and solvers are close to each other and to the paper on Wine and "
        "cancer. Digits have 64 pixels and 600 rows here instead of 784 and 70 000, which explains "
        "their lower accuracy. Faces with the polynomial kernel are the exception, and a warning: "
        "their features at hand are principal components of equal variance, so that the cube of "
        "long rows rules; solvers that climb high (ISM, SM, GM) fit that and classify badly, while "
        "DG, stopped at the time limit far below, classifies well. A better objective is not a "
        "better reduction. Unsupervised, the polynomial kernel is the weak one: "
        "it can be negative and is not divided by degrees, so that long rows weigh most. "
        "Published values in brackets.",
        (
            ("Accuracy in percent, supervised:", by_solver(0, "accuracy, %")),
            ("NMI, unsupervised:", by_solver(1, "NMI")),
            ("More kernels, accuracy in percent:", by_data(2, "kernel", "accuracy, %")),
            ("More kernels, NMI, unsupervised:", by_data(2, "kernel", "NMI, unsupervised")),
        ),
    ),
    "samples": Part(
        "2019 paper, Figure 1b: time against rows",
        "All solvers grow alike, as published, but more slowly than the square of the rows: at "
        "these sizes a good part of an evaluation is not a sum over pairs. What sets ISM apart is "
        "the number of evaluations, which depends on the data more than on the number of rows.",
        (("Seconds:", whole(0)),),
    ),
    "methods": Part(
        "2014 paper, Tables 1 and 4, Figure 7: KDAC against the rivals",
        "KDAC here chooses subspace, bandwidth and weight by itself; the paper leaves open how it "
        "set them. Where "
        "the hidden groups are compact and differ from the given ones by a shift (penguins, poses "
        "of faces), removing the group means is the right model, and the rivals that do so "
        "(`Residual`, CIB, OP) are ahead of everything that has to find a subspace first. Where "
        "groups are curved (moon, synthetic 2) only KDAC finds them. On synthetic 1 the given and "
        "the hidden groups are not independent, so that a method that avoids the first misses the "
        "second: at a weight of one KDAC finds it ('best of grid'), at the settings that it "
        "chooses by itself it does not. On WebKB the paper used a polynomial kernel; on the words "
        "at hand it splits off a few pages, the Gaussian does not. Published values, in brackets, "
        "are for other features (960 pixels, 350 words).",
        (
            ("NMI with the hidden labeling:", by_data(0, "method", "NMI hidden")),
            ("Does the ranking hold?", whole(1)),
        ),
    ),
    "pose": Part(
        "2014 paper, Table 1: from identity to pose",
        "The published 0.482 is passed with settings that were found with pose in sight, not by "
        "KDAC alone. The objective does not help: at one bandwidth and weight the clusters closest "
        "to pose do not have the largest objective, so the start decides. Started from the "
        "clusters beside the group means, KDAC stays near pose; from the spectral start it "
        "drifts away. Removing the group means alone does best. The identities are shifted "
        "copies of one set of poses; KDAC, which only punishes dependence, has no notion of a "
        "shift.",
        (("", whole(0)),),
    ),
    "segments": Part(
        "2014 paper, Tables 2 and 3: segmentation of an image",
        "The fish and the butterfly are not public, so numbers in the columns 'fish, butterfly' "
        "are of other images and only the order of methods can be compared. Novelty alone does not "
        "rank methods here: the linear rivals (OP, CIB, Residual) take the given direction out of "
        "three colours completely, and KDAC comes close to them. To the eye it is the other way "
        "round: the most novel segmentations look like noise, while KDAC at the "
        "2018 settings and cons-KL show the other flowers. With a small weight KDAC stays "
        "near the given segmentation at a smaller error, as columns (c) and (d) of Figures 10 and "
        "11 say. The scale of MSE is that of the image.",
        (("", whole(0)),),
        "```{figure} images/flower-segments.png\n:alt: The flower image and nine segmentations of "
        "it\n\nThe image, what was given, and alternatives to it; the darker segment is dark.\n"
        "```\n",
    ),
    "tradeoff": Part(
        "2014 paper, Figure 9: quality against novelty",
        "Both methods trade error for novelty. cons-KL minimises the very error that is measured, "
        "k-means in a linear map of all features, while KDAC clusters in a subspace of few; that "
        "KDAC has the smaller error at the same novelty is not what we see, but for penguins. KDAC "
        "reaches a novelty on faces that cons-KL does not reach at any weight.",
        (("", whole(1)),),
    ),
    "scenarios": Part(
        "2014 paper, Figures 2 to 4 and Table 5: when which method pays off",
        "The paper gives neither rows nor distances of clusters, so the shape of a curve is to be "
        "compared, not its height. Figure 2: with few features a view is too weak for both. Figure "
        "3: the ends are as published; in between, KDAC loses to a method that uses all features, "
        "since views that share features leave no subspace to each. Figure 4 is not as published: "
        "the embedding of `EmbeddingKDAC` uses a bandwidth chosen for the data and is as robust as "
        "the subspace on Gaussian clusters. "
        "Table 5: the data need linear relations only, which the paper says too; the methods that "
        "take found directions out are all alike. cons-KL and CAMI find one labeling again and "
        "again, since nothing but their weight on novelty, which is at its default, keeps them "
        "from it. The machine sounds are not public.",
        (
            ("Figure 2, NMI with view 1:", whole(0)),
            ("Figure 3, mean NMI with both views:", whole(1)),
            ("Figure 4, NMI with view 2:", whole(2)),
            ("Table 5, NMI with the three labelings:", whole(3)),
        ),
    ),
    "errata": Part(
        "Errata and traps, checked",
        "A claim is confirmed or refuted by the run next to it, under a rule that the program "
        "states.",
        (("", whole(0)),),
    ),
}


def reproduction(kept: list[Record]) -> str:
    """Return the page of all results that there are."""
    results = Results(kept)
    missing = [what for name, what in PARTS.items() if name not in results]
    origins = [record.origin for record in results.records.values()]
    seconds = sum(origin.seconds or 0.0 for origin in origins)
    machines = ", ".join(sorted({o.machine.hardware for o in origins if o.machine}))
    parts = [
        "# What the papers report, and what we get\n",
        "This page is written by `make papers` from what it measured; no number of ours is typed. "
        "The [complete tables](results.md) have costs, times and notes on the data. The papers: "
        "KDAC (Niu, Dy and Jordan 2014), ISM (Wu et al. 2018), the kernel family (Wu et al. 2019) "
        "and ISM+. Data that are not public were generated after the papers' description, or stand "
        "in for others; the text says where.\n",
        f"All runs together took {seconds / 60:.0f} minutes on {machines}. "
        + (f"Not run: {'; '.join(missing)}.\n" if missing else "Everything was run.\n"),
        "Not at hand, and so replaced or left out: the pixels of the faces (principal components "
        "instead), MNIST (scikit-learn's digits), the fish and the butterfly (the flower), the "
        "full vocabulary of WebKB, the car data of ISM+ and the machine sounds.\n",
        "## In short\n",
        short(summary(results)),
    ]
    for name, part in PAGE_PARTS.items():
        parts += part.write(results, name)
    return "\n".join(parts).rstrip() + "\n"
