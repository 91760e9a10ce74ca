"""Results for the tests of reports: one real search on a difficult table, and dicts by hand."""

from __future__ import annotations

from copy import deepcopy

import numpy as np

from multifacet import find_views

SCRIPT = "<script>alert(1)</script>"
LONG = "mean concentration of a compound with a name that does not want to end, sample"


def difficult_table(n=90):
    rng = np.random.default_rng(0)
    heavy = np.arange(n) % 2
    return {
        "id": [f"row-{i}" for i in range(n)],
        "mass": 3000 + 600 * heavy + 80 * rng.standard_normal(n),
        SCRIPT: 5.0 * heavy + rng.standard_normal(n),
        "a|b*_c`": rng.standard_normal(n),
        "colour": rng.choice(["red", "gr<een", "blue"], n),
        "flag": rng.random(n) > 0.5,
        "known": rng.choice(["x<y", "z"], n),
    }


def find(table, **options):
    quick = {"n_views": 1, "n_clusters": 2, "n_components": 2, "n_refits": 0, "n_starts": 2}
    every = {"categories": "use", "keep_trivial": True}  # so that columns of all kinds are told of
    return find_views(table, identifier="id", **quick | every | options)


def several_views(document):
    """Return a document with three views and one that was not believed."""
    views = [document["views"][0] | {"name": f"view {i}"} for i in (1, 2, 3, 4)]
    names = ["known", "view 1", "view 2", "view 3"]
    agreement = {"names": names, "nmi": np.eye(4).tolist()}
    return document | {"views": views[:3], "rejected": views[3], "agreement": agreement}


def no_views(document):
    """Return a document in which the only view was not believed."""
    agreement = {"names": ["known"], "nmi": [[1.0]]}
    rejected = document["views"][0] | {"separation": None, "p_value": 1.0}
    return document | {
        "views": [],
        "rejected": rejected,
        "agreement": agreement,
        "frontier": None,
        "sentence": "No grouping beyond chance was found.",
    }


def wide_view(document):
    """Return a document with 40 features with long names, 20 groups and one axis."""
    rng = np.random.default_rng(0)
    features = [f"{LONG} {j}" for j in range(40)]
    labels = np.arange(document["n_rows"]) % 20
    view = deepcopy(document["views"][0])
    group = view["groups"][0]
    profile = {name: {"mean": float(j), "sd": 0.5} for j, name in enumerate(features)}
    example = {"row": "row-0", "values": dict.fromkeys(features[:12], 0.5)}
    shared = {"size": 4, "profile": profile, "examples": [example]}
    view |= {
        "n_clusters": 20,
        "labels": labels.tolist(),
        "groups": [group | shared | {"label": c} for c in range(20)],
        "effects": rng.standard_normal((20, 40)).tolist(),
        "strength": np.full(40, 0.5).tolist(),
        "feature_weights": np.full(40, 1 / 40).tolist(),
        "loadings": [np.full(40, 40**-0.5).tolist()],
        "coordinates": [[float(label)] for label in labels],
    }
    return document | {"features": features, "columns": features, "views": [view]}


def comparison():
    pairs = [
        {
            "a": "species",
            "b": SCRIPT,
            "nmi": 0.25,
            "ari": 0.1,
            "p_value": 0.0005,
            "rows": ["Adelie", "Gentoo"],
            "columns": ["a|b", "c"],
            "counts": [[30, 10], [12, 38]],
        }
    ]
    return {
        "kind": "comparison",
        "format": 1,
        "n_rows": 90,
        "labelings": [
            {"name": "species", "groups": {"Adelie": 40, "Gentoo": 50}},
            {"name": SCRIPT, "groups": {"a|b": 42, "c": 48}},
        ],
        "nmi": [[1.0, 0.25], [0.25, 1.0]],
        "pairs": pairs,
        "sentence": "They are related.",
    }


def reduction(kind="number", q=2):
    rng = np.random.default_rng(0)
    values = {"number": list(range(50)), "category": ["a", "b<c"] * 25, None: None}[kind]
    return {
        "kind": "reduction",
        "format": 1,
        "n_rows": 5000,
        "n_features": 3,
        "features": ["mass", SCRIPT, "depth"],
        "guided_by": "target" if kind else "nothing",
        "names": ["age"] if kind else [],
        "n_components": q,
        "kernel": "gaussian",
        "bandwidth": 1.5,
        "loadings": np.eye(3)[:q].tolist(),
        "feature_weights": [0.5, 0.3, 0.2],
        "strength": [0.1, 0.8, 0.4],
        "dependence": 0.2 if kind else None,
        "clusters": None if kind else {"sizes": [20, 30]},
        "sentence": "Three features in a plane.",
        "axes": ["Dimension 1 rises with mass (1.00); age rises along it (correlation 0.50)"],
        "sparsity": {
            "path": [
                {"n_loadings": 6, "n_features": 3, "score": 0.9, "error": 0.01},
                {"n_loadings": 2, "n_features": 2, "score": 0.89, "error": 0.01},
            ],
            "chosen": 1,
        }
        if kind == "category"
        else None,
        "held_out": {
            "n_rows": 1500,
            "n_folds": 3,
            "measure": "accuracy",
            "scores": [
                {"method": "these dimensions", "score": 0.9, "error": 0.01},
                {"method": "PCA", "score": 0.7, "error": 0.02},
            ],
            "confusion": {"classes": ["a", "b<c"], "counts": [[800, 100], [50, 550]]},
        }
        if kind == "category"
        else None,
        "converged": kind == "number",
        "points": {
            "index": [f"p{i}" for i in range(50)],
            "coordinates": rng.standard_normal((50, q)).tolist(),
            "colour": kind
            and {"name": "age", "kind": kind, "values": values, "groups": {"a": 3000, "b<c": 2000}},
            "sampled_from": 5000,
        },
    }


RUN = {
    "command": "multifacet find data.csv --given known",
    "options": {"given": ["known"], "views": 1},
    "versions": {"multifacet": "0.1.0"},
    "seed": 7,
    "input": {"name": "data.csv", "sha256": "0" * 64, "rows": 90, "columns": 7},
    "seconds": 1.25,
    "notes": ["column 'day' was left out: it holds dates"],
}
