"""What the papers claim, and what the records of ``papers`` say about it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..record import Record
from ..table import Cell, Figure, Table, shown

#: A difference of NMI below this is a tie; one of accuracy or error, in percent.
TIE, PERCENT = 0.02, 1.0

Row = dict[str, Cell]
Claim = tuple[str, str, str, str]


class Results:
    """The tables of the papers' records by module and position."""

    def __init__(self, kept: list[Record]) -> None:
        ours = [record for record in kept if record.name.startswith("papers.")]
        self.records = {record.name.removeprefix("papers."): record for record in ours}

    def __contains__(self, name: str) -> bool:
        return name in self.records

    def filled(self, name: str) -> bool:
        """Tell whether all tables of a module have rows; those of missing data have none."""
        return all(table.rows for table in self.records[name].tables)

    def table(self, name: str, position: int = 0) -> Table:
        return self.records[name].tables[position]

    def rows(self, name: str, position: int = 0) -> list[Row]:
        """Return rows by heading; 'published' is called after the column that it belongs to.

        Numbers are figures: they are what ``float`` says and are written as in the table.
        """
        table = self.table(name, position)
        keys = []
        for before, heading in zip(["", *table.headings], table.headings, strict=False):
            keys.append(f"{before} published" if heading == "published" else heading)
        return [dict(zip(keys, map(_written, row), strict=True)) for row in table.rows]


def _written(cell: Cell) -> Cell:
    return Figure(cell, shown(cell)) if isinstance(cell, int | float) else cell


def verdict(held: bool, partly: bool = False) -> str:
    return "yes" if held else "in part" if partly else "no"


def listed(items: list[str], none: str) -> str:
    return "; ".join(items) if items else none


def claim_nmi(results: Results) -> Claim:
    rows = [
        row for row in results.rows("table1")
        if (row["solver"], row["start"]) == ("ISM", "spectral") and row["NMI published"]
    ]  # fmt: skip
    gaps = {r["data"]: abs(float(r["NMI"]) - float(r["NMI published"])) for r in rows}
    far = [name for name, gap in gaps.items() if gap > TIE]
    return (
        "2018, Table 1: NMI of ISM with the spectral start",
        ", ".join(f"{row['data']} {row['NMI published']}" for row in rows),
        f"largest difference {max(gaps.values()):.3f} over {len(rows)} data sets",
        verdict(not far),
    )


def claim_cost(results: Results) -> Claim:
    table = results.table("table1", 1)
    lower = [
        f"{row[0]}: {head} by {-float(cell):.2g}"
        for row in table.rows
        for head, cell in zip(table.headings[1:], row[1:], strict=True)
        if float(cell) < 0
    ]
    bad = len({line.partition(":")[0] for line in lower})
    return (
        "2018, Table 1: ISM has the lowest cost",
        "on all data sets, spectral start",
        listed(lower, "on all data sets") + (" lower than ISM" if lower else ""),
        verdict(not lower, bad < len(table.rows)),
    )


def claim_speed(results: Results) -> Claim:
    rows = results.rows("speed", 1)
    return (
        "2019, Table 4: factors of time against ISM",
        "; ".join(f"{row['solver']} {row['published times ISM']}" for row in rows),
        "; ".join(
            f"{row['solver']} {row['times ISM, Gaussian']} (Gaussian), "
            f"{row['times ISM, polynomial']} (polynomial)"
            for row in rows
        ),
        "no",
    )


def claim_growth(results: Results) -> Claim:
    last = results.rows("growth")[-1]
    return (
        "2018, Figure 3: growth with the number of features",
        "coordinate-wise power method about linear, dense between linear and quadratic",
        f"slopes: coordinate-wise {last['coordinate']}, ours {last['auto']}, dense "
        f"{last['dense, all (numpy)']} (all eigenvectors)",
        verdict(float(last["coordinate"]) <= 1.2),
    )


def claim_convergence(results: Results) -> Claim:
    rows = [row for row in results.rows("convergence") if row["measure"] == "change of W"]
    # An empty cell is an iteration that was not needed.
    rest = [row["data"] for row in rows if not row["W 10"] or float(row["W 10"]) < 1e-2]
    return (
        "2018, Figure 4: W rests after fewer than ten iterations",
        "everywhere",
        f"change of W below 0.01 on {len(rest)} of {len(rows)} data sets; not on "
        + listed([row["data"] for row in rows if row["data"] not in rest], "none"),
        verdict(len(rest) == len(rows), bool(rest)),
    )


def claim_references(results: Results) -> Claim:
    rows = [row for row in results.rows("references") if row["method"] == "ISM + SVM"]
    more = [r for r in rows if float(r["error, %"]) > float(r["error, % published"]) + PERCENT]
    return (
        "ISM+, Table 5: classification error after ISM+",
        ", ".join(f"{row['data']} {row['error, % published']} %" for row in rows),
        ", ".join(f"{row['data']} {row['error, %']} %" for row in rows),
        verdict(not more, len(more) < len(rows)),
    )


def claim_clusters(results: Results) -> Claim:
    rows = [row for row in results.rows("references", 1) if row["method"] == "ISM + SC"]
    far = [row for row in rows if float(row["NMI"]) < float(row["NMI published"]) - TIE]
    return (
        "ISM+, Table 6: NMI of clusters after ISM+",
        ", ".join(f"{row['data']} {row['NMI published']}" for row in rows),
        ", ".join(f"{row['data']} {row['NMI']}" for row in rows),
        verdict(not far, len(far) < len(rows)),
    )


def claim_kernels(results: Results) -> Claim:
    rows = [row for row in results.rows("kernels") if row["solver"] == "ISM"]
    rows += results.rows("kernels", 2)
    pairs = [
        (row["data"], float(row["accuracy, %"]), float(row["accuracy, % published"]))
        for row in rows
        if row["accuracy, % published"]
    ]
    worst: dict[str, float] = {}
    for name, ours, theirs in pairs:
        worst[name] = min(worst.get(name, 0.0), ours - theirs)
    bad = [name for name, gap in worst.items() if gap < -PERCENT]
    return (
        "2019, Tables 4 and 5: accuracy with ISM, six kernels",
        "95 % and more everywhere",
        "largest shortfall: " + ", ".join(f"{n} {-gap:.1f} points" for n, gap in worst.items()),
        verdict(not bad, len(bad) < len(worst)),
    )


def claim_samples(results: Results) -> Claim:
    last = results.rows("samples")[-1]
    slopes = [float(value) for key, value in last.items() if key != "rows" and value != ""]
    return (
        "2019, Figure 1b: time grows with the square of the rows, for all solvers alike",
        "slope 2",
        f"slopes of one evaluation {', '.join(f'{slope:.2f}' for slope in slopes)}",
        verdict(all(abs(slope - 2) < 0.4 for slope in slopes), max(slopes) - min(slopes) < 0.4),
    )


def claim_ranking(results: Results) -> Claim:
    rows = results.rows("methods", 1)
    first = [row["data"] for row in rows if row["KDAC first"] == "no"]
    second = [row["data"] for row in rows if row["variants before rivals"] == "no"]
    return (
        "2014, Tables 1 and 4, Figure 7: KDAC >= its variants >= the rivals",
        "everywhere",
        f"KDAC is not first on {listed(first, 'none')}; its variants are not before the rivals on "
        f"{listed(second, 'none')} (of {len(rows)})",
        verdict(not first and not second, len(first) < len(rows)),
    )


def claim_pose(results: Results) -> Claim:
    rows = [row for row in results.rows("pose") if row["method"].startswith("KDAC")]

    def score(row: Row) -> float:
        return float(row["NMI with pose"])

    [alone] = [row for row in rows if row["chosen by"] == "itself"]
    best = max(rows, key=score)
    plain = [row for row in rows if row["chosen by"] == "plain values"]
    return (
        "2014, Table 1: identity given, pose found by KDAC",
        "0.482",
        "; ".join(
            [f"{alone['NMI with pose']} with nothing set"]
            + [f"{row['NMI with pose']} ({row['method']}, {row['settings']})" for row in plain]
            + [f"at most {best['NMI with pose']} ({best['settings']}, chosen by the answer)"]
        ),
        verdict(score(alone) >= 0.482, score(best) >= 0.482),
    )


def claim_segments(results: Results) -> Claim:
    rows = {row["method"]: float(row["NMI given"]) for row in results.rows("segments")}
    rivals = ("CIB", "COALA", "OP-1", "OP-2", "cons-KL", "CAMI")
    best = min((rows[name], name) for name in rivals)
    ours = min(rows["KDAC"], rows["KDAC, 2018 settings"])
    return (
        "2014, Tables 2 and 3: KDAC is the most novel segmentation",
        "NMI with the given 0.031 and 0.072, rivals 0.143 and more",
        f"on the flower {rows['KDAC']:.3f} by itself, {rows['KDAC, 2018 settings']:.3f} at the "
        f"2018 settings; best rival {best[0]:.3f} ({best[1]})",
        verdict(ours <= best[0], ours <= best[0] + TIE),
    )


def claim_tradeoff(results: Results) -> Claim:
    rows = results.rows("tradeoff", 1)
    compared = sum(float(row["points of KDAC compared"]) for row in rows)
    lower = sum(float(row["KDAC lower"]) for row in rows)
    return (
        "2014, Figure 9: at the same novelty KDAC has the smaller error",
        "mostly",
        f"{lower:g} of {compared:g} points",
        verdict(lower > 0.8 * compared, 2 * lower >= compared),
    )


def claim_scenarios(results: Results) -> Iterator[Claim]:
    curves = [results.table("scenarios", i).rows for i in range(3)]
    balance, overlap, noise = [[[float(v) for v in row] for row in rows] for rows in curves]

    def told(rows: list[list[float]]) -> str:
        return "; ".join(f"{x:g}: {a:.2f}, {b:.2f}" for x, a, b in rows)

    middle = [b - a for x, a, b in balance if x == 100]
    ends = [a - b for x, a, b in balance if x != 100]
    yield (
        "2014, Figure 2: simultaneous wins where views are balanced, iterative where not",
        "crossing curves",
        f"features of view 1: iterative, simultaneous NMI: {told(balance)}",
        verdict(
            all(gap > -TIE for gap in middle) and all(gap > -TIE for gap in ends),
            all(gap > TIE for gap in middle) or any(gap > TIE for gap in ends),
        ),
    )
    yield (
        "2014, Figure 3: reduction helps where views live in different features",
        "KDAC 1, decorrelated k-means below 0.6 without overlap; equal at full overlap",
        f"share of common features: KDAC, decorrelated k-means: {told(overlap)}",
        verdict(
            overlap[0][1] > overlap[0][2] + TIE and abs(overlap[-1][1] - overlap[-1][2]) < 0.05
        ),
    )
    falls = [row[1] - row[2] for row in noise]
    yield (
        "2014, Figure 4: under noise the embedding falls faster than the subspace",
        "curves that part",
        f"noise: KDAC, embedding: {told(noise)}",
        verdict(all(gap > -TIE for gap in falls) and max(falls) > TIE, max(falls) > TIE),
    )
    rows = results.rows("scenarios", 3)
    means = {r["method"]: sum(float(r[f"NMI {i}"]) for i in (1, 2, 3)) / 3 for r in rows}
    best = max(means[name] for name in ("KDAC", "KDAC linear", "KDAC embedding"))
    rival = max((value, name) for name, value in means.items() if not name.startswith("KDAC"))
    yield (
        "2014, Table 5: three labelings in 100 dimensions, KDAC and its variants first",
        "means: KDAC 0.82, linear 0.92, embedding 0.81; rivals 0.77 to 0.80",
        ", ".join(f"{name} {value:.2f}" for name, value in means.items()),
        verdict(best >= rival[0] - TIE),
    )


def claim_errata(results: Results) -> Claim:
    rows = results.rows("errata")
    wrong = [row["claim"] for row in rows if row["verdict"] != "confirmed"]
    return (
        "Errata and traps noted before",
        f"{len(rows)} claims",
        f"{len(rows) - len(wrong)} confirmed; in part or not: {listed(wrong, 'none')}",
        verdict(not wrong, len(wrong) < len(rows)),
    )


CLAIMS: dict[str, list[Callable]] = {
    "table1": [claim_nmi, claim_cost],
    "growth": [claim_growth],
    "convergence": [claim_convergence],
    "speed": [claim_speed],
    "references": [claim_references, claim_clusters],
    "kernels": [claim_kernels],
    "samples": [claim_samples],
    "methods": [claim_ranking],
    "pose": [claim_pose],
    "segments": [claim_segments],
    "tradeoff": [claim_tradeoff],
    "scenarios": [claim_scenarios],
    "errata": [claim_errata],
}


def summary(results: Results) -> Table:
    """Return every claim with the published and the measured value."""
    table = Table("", ["claim", "published", "measured", "agrees"])
    for name, claims in CLAIMS.items():
        if name not in results or not results.filled(name):
            continue
        for claim in claims:
            found = claim(results)
            for row in [found] if isinstance(found, tuple) else found:
                table.add(*row)
    return table
