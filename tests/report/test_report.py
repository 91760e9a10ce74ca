"""Results as plain dicts, and the reports made of them."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from copy import deepcopy
from dataclasses import replace
from html.parser import HTMLParser
from importlib.resources import files
from itertools import pairwise

import numpy as np
import pytest
from markdown_it import MarkdownIt
from sklearn.metrics import normalized_mutual_info_score

from multifacet import find_views, reduce_table
from multifacet.datasets import make_gaussian_views
from multifacet.explain import Contrast
from multifacet.report import render, to_html, to_markdown
from multifacet.results.views import Views

from . import made
from .made import SCRIPT


@pytest.fixture(scope="module")
def table():
    return made.difficult_table()


@pytest.fixture(scope="module")
def found(table):
    return made.find(table, given="known")


@pytest.fixture(scope="module")
def document(found):
    return found.to_dict()


@pytest.fixture(scope="module")
def documents(document):
    return {
        "views": document | {"run": made.RUN},
        "several": made.several_views(document),
        "none": made.no_views(document),
        "wide": made.wide_view(document),
        "comparison": made.comparison(),
        "reduction": made.reduction(),
        "reduction by category": made.reduction("category", q=1),
        "reduction by nothing": made.reduction(None, q=3),
    }


class Reader(HTMLParser):
    """Collects the text and the attributes of a page, and checks that its tags are balanced."""

    def __init__(self, page):
        super().__init__()
        self.open, self.text, self.attributes, self.tags = [], [], [], []
        self.feed(page)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not {"style", "script"} & set(self.open):
            self.text.append(data)

    @property
    def words(self):
        return " ".join(" ".join(self.text).split())


def test_the_dict_is_strict_json(document):
    assert json.loads(json.dumps(document, allow_nan=False)) == document


def test_profiles_are_those_of_the_table(table, document):
    view = document["views"][0]
    labels = np.array(view["labels"])
    for group in view["groups"]:
        inside = labels == group["label"]
        profile = group["profile"]
        assert group["size"] == inside.sum()
        for name in ("mass", SCRIPT):
            values = table[name][inside]
            assert profile[name]["mean"] == pytest.approx(values.mean(), rel=1e-9)
            assert profile[name]["sd"] == pytest.approx(values.std(), rel=1e-9)
        assert profile["flag"]["share"] == pytest.approx(table["flag"][inside].mean(), abs=1e-6)
        for colour, share in profile["colour"]["shares"].items():
            assert share == pytest.approx((table["colour"][inside] == colour).mean(), abs=1e-6)


def test_typical_rows_are_rows_of_the_table(table, found, document):
    view = document["views"][0]
    for group in view["groups"]:
        assert len(group["examples"]) == 3
        places = [table["id"].index(example["row"]) for example in group["examples"]]
        for example, i in zip(group["examples"], places, strict=True):
            assert view["labels"][i] == group["label"]
            for name, value in example["values"].items():
                expected = table[name][i]
                assert value == (pytest.approx(expected) if name in ("mass", SCRIPT) else value)
                assert isinstance(value, str) == (name == "colour")
            assert example["values"]["colour"] == table["colour"][i]
            assert example["values"]["flag"] == table["flag"][i]


def test_typical_rows_are_near_the_mean_of_what_defines_their_group():
    rng = np.random.default_rng(3)
    n, group = 80, np.repeat([0.0, 1.0], 40)
    table = {"id": [f"row-{i}" for i in range(n)], "mass": 50 * group + 3 * rng.standard_normal(n)}
    table |= {"wing": 4 * group + 0.5 * rng.standard_normal(n)}
    table |= {f"noise {j}": rng.standard_normal(n) for j in range(3)}
    view = made.find(table, n_components=3).to_dict()["views"][0]
    assert sorted(Counter(view["labels"]).values()) == [40, 40]
    inside = group == group[table["id"].index(view["groups"][0]["examples"][0]["row"])]
    for name in ("mass", "wing"):
        mean, spread = table[name][inside].mean(), table[name][inside].std()
        for example in view["groups"][0]["examples"]:
            assert abs(example["values"][name] - mean) < 0.5 * spread


def test_the_features_behind_a_view_are_those_that_tell_its_groups_apart(found):
    # The subspace is nearly all noise, as it often is; the labels differ in the mass alone.
    view, names = found[0], found.encoding.feature_names
    heavy, noise = names.index("mass"), names.index("a|b*_c`")
    weights = np.full(len(names), 0.01)
    weights[[heavy, noise]] = 0.1, 0.9 - 0.01 * (len(names) - 2)
    strength, effects = np.full(len(names), 0.01), np.full((2, len(names)), 0.1)
    strength[heavy], effects[:, heavy] = 0.9, (3.0, -3.0)
    changed = replace(
        view.explanation,
        weights=weights,
        strength=strength,
        effects=effects,
        contrasts=[Contrast(heavy)],
        told=0.9,
    )
    one = replace(view, explanation=changed, feature_weights=weights)
    mass = {"name": "mass", "feature": "mass", "given": None, "low": 1.0, "high": 9.0}
    mass |= {"counts": [[5, 1], [0, 4]], "means": [2.5, 7.25]}
    views = replace(found, views=[replace(one, contrasts=[mass])])
    assert views.table()[0]["features"] == "mass"
    words = Reader(to_html(views.to_dict())).words
    assert "What tells them apart: mass. Without any other feature, that puts 90 % of" in words
    assert "mass: share of the rows of each group, its mean dashed." in words
    guess = replace(one, explanation=replace(changed, told=0.5), contrasts=[mass])
    guessed = Reader(to_html(replace(found, views=[guess]).to_dict())).words
    assert "What differs most: mass. Alone, that does not tell the groups." in guessed
    assert "| group 1 | 7.25 |" in to_markdown(views.to_dict())
    table = words[words.index("The features behind it") :]
    assert table.index("mass") < table.index("a|b*_c`")
    assert "part of the subspace" in table
    # Without such a feature, the table and the report say what the subspace is made of.
    flat = replace(changed, contrasts=[], told=None)
    views = replace(found, views=[replace(one, explanation=flat, contrasts=[])])
    assert views.table()[0]["features"].startswith("a|b*_c`, mass")
    assert "No feature tells them apart by itself." in Reader(to_html(views.to_dict())).words


@pytest.mark.parametrize(("p_value", "praised"), [(1.0, False), (0.06, False), (0.01, True)])
def test_chance_comes_before_praise(found, p_value, praised):
    view = replace(found[0], separation=1.2, p_value=p_value)
    evidence = replace(found, views=[view]).to_dict()["views"][0]["evidence"]
    assert ("moderately separated" in evidence) == praised
    assert evidence.startswith("Chance cannot be ruled out") != praised


@pytest.mark.parametrize(
    ("level", "chance", "relation"), [(0.05, False, "some"), (0.01, True, "no")]
)
def test_words_follow_the_level_of_significance(found, tmp_path, level, chance, relation):
    view = replace(found[0], separation=3.0, p_value=0.03, independence=0.03)
    views = replace(found, views=[view], significance=level)
    for one in (views, Views.load(views.save(tmp_path / "views.npz"))):
        document = one.to_dict()
        assert document["views"][0]["evidence"].startswith("Chance cannot be ruled out") == chance
        assert f"{relation} relation shows in a test" in Reader(to_html(document)).words


def test_the_report_says_how_features_were_scaled(found, table, tmp_path):
    text = found.report(tmp_path / "report.md").read_text()
    assert "Every feature was given standard deviation 1" in text
    told = made.find(table, given="known", standardize=True)
    assert "standard deviation 1" not in told.report(tmp_path / "told.md").read_text()
    older = {key: value for key, value in found.to_dict().items() if key != "scaling"}
    assert "standard deviation 1" not in render(older, tmp_path / "older.md").read_text()


def test_a_search_keeps_its_level_of_significance(table):
    views = made.find(table, given="known", significance=1e-9)
    assert views.significance == views.to_dict()["significance"] == 1e-9
    assert views[0].p_value > 1e-9
    assert views.to_dict()["views"][0]["evidence"].startswith("Chance cannot be ruled out")


@pytest.mark.filterwarnings("ignore:'x' is positive and skewed")
def test_a_category_of_two_values_is_told_by_both():
    rng = np.random.default_rng(1)
    table = {"id": list("abcdefghij" * 6), "x": np.repeat([0.0, 9.0], 30) + rng.random(60)}
    table["id"] = [f"{name}{i}" for i, name in enumerate(table["id"])]
    table |= {"sex": ["f", "m"] * 30, "y": rng.random(60)}
    view = made.find(table).to_dict()["views"][0]
    sex = np.array(table["sex"])
    for group in view["groups"]:
        inside = np.array(view["labels"]) == group["label"]
        shares = group["profile"]["sex"]["shares"]
        assert shares == pytest.approx({v: (sex[inside] == v).mean() for v in "fm"}, abs=1e-6)
        for example in group["examples"]:
            assert example["values"]["sex"] == sex[table["id"].index(example["row"])]


def test_agreement_is_that_of_scikit_learn(table, document):
    labelings = [table["known"], document["views"][0]["labels"]]
    for i, a in enumerate(labelings):
        for j, b in enumerate(labelings):
            expected = normalized_mutual_info_score(a, b, average_method="geometric")
            assert document["agreement"]["nmi"][i][j] == pytest.approx(expected, abs=1e-6)


def test_how_settings_were_chosen_is_kept(document):
    chosen = document["views"][0]["selection"]
    assert 0 < len(chosen["candidates"]) <= 10
    assert chosen["n_candidates"] >= len(chosen["candidates"])
    assert sum(chosen["rejected"].values()) < chosen["n_candidates"]
    ranks = [one["separation"] for one in chosen["candidates"] if one["separation"] is not None]
    assert ranks
    assert str(chosen["n_candidates"]) in chosen["sentence"]


def test_what_was_saved_makes_the_same_report(found, tmp_path):
    rejected = replace(found[0], name="view 2", separation=-math.inf, p_value=1.0)
    views = replace(found, rejected=rejected)
    again = Views.load(views.save(tmp_path / "views.npz"))
    assert again.to_dict() == views.to_dict()
    assert again.rejected.separation == -math.inf
    assert again.to_dict()["rejected"]["separation"] is None


@pytest.mark.parametrize("method", ["linear", "embedding"])
def test_closed_forms_have_reports_too(method):
    X, labelings = make_gaussian_views(80, [2, 2], rotate=False, random_state=0)
    views = find_views(X, given=labelings[:, 0], n_views=1, n_clusters=2, method=method)
    document = views.to_dict()
    assert document["frontier"] is None
    assert bool(document["views"][0]["loadings"]) == (method == "linear")
    assert "Settings were given, or follow from the method" in to_html(document)


def test_sparse_data_and_float32_have_reports_too():
    from scipy.sparse import csr_matrix

    X, _ = make_gaussian_views(60, [2, 2], rotate=False, random_state=0)
    for data in (csr_matrix(X * (X > 0)), X.astype(np.float32)):
        views = find_views(data, n_views=1, n_clusters=2, n_components=1, n_refits=0, n_starts=1)
        document = views.to_dict()
        dense = data.toarray() if hasattr(data, "toarray") else data
        labels = np.array(document["views"][0]["labels"])
        for group in document["views"][0]["groups"]:
            mean = dense[labels == group["label"], 1].mean()
            assert group["profile"]["x1"]["mean"] == pytest.approx(mean, rel=1e-4, abs=1e-5)


def test_the_suffix_chooses_the_format(found, document, tmp_path):
    html = found.report(tmp_path / "report.html")
    assert html == tmp_path / "report.html"
    assert html.read_text(encoding="utf-8") == to_html(document)
    assert found.report(tmp_path / "report.MD").read_text(encoding="utf-8") == to_markdown(document)
    written = found.report(str(tmp_path / "report.json")).read_text(encoding="utf-8")
    assert json.loads(written) == document


def test_wrong_uses_are_told(document, tmp_path):
    with pytest.raises(ValueError, match=r"report\.pdf'.*end its name in \.html, \.md, \.json"):
        render(document, tmp_path / "report.pdf")
    with pytest.raises(ValueError, match="kind 'tree', expected 'views', 'reduction'"):
        render(document | {"kind": "tree"}, tmp_path / "report.html")
    with pytest.raises(ValueError, match="format 99, this version reads 1"):
        render(document | {"format": 99}, tmp_path / "report.md")
    assert not list(tmp_path.iterdir())


def test_pages_are_sound_and_hold_everything(documents):
    for name, document in documents.items():
        page = to_html(document)
        reader = Reader(page)
        assert reader.tags.count("script") == 1, name
        assert reader.tags.count("style") == 1, name
        links = [value for key, value in reader.attributes if key in ("src", "href")]
        assert all(link.startswith("#") for link in links), name
        assert not {"img", "link", "iframe"} & set(reader.tags), name
        assert "http" not in re.sub("http-equiv", "", page), name
        assert " ".join(document["sentence"].split()) in reader.words, name
        for target in links:
            assert f'id="{target[1:]}"' in page


def test_data_are_text(document):
    page = to_html(document)
    assert SCRIPT not in page
    assert SCRIPT in Reader(page).words
    assert "x<y" in Reader(page).words
    text = to_markdown(document)
    assert "<script" not in text
    assert "&lt;script&gt;" in text


@pytest.mark.parametrize(
    "name", ['<a href="https://example.org">x</a>', "%{x} &lt;b&gt; [x](y) ![z](w)"]
)
def test_names_are_no_links(document, name):
    # In the place of a column, of what is given, and of the view.
    text = json.dumps(document)
    for old in (SCRIPT, "known", document["views"][0]["name"]):
        text = text.replace(json.dumps(old)[1:-1], json.dumps(name)[1:-1])
    renamed = json.loads(text)
    for page in (to_html(renamed), MarkdownIt().enable("table").render(to_markdown(renamed))):
        reader = Reader(page)
        links = [value for key, value in reader.attributes if key in ("src", "href")]
        assert all(link.startswith("#") for link in links)
        assert not {"img", "b"} & set(reader.tags)
        assert reader.words.count(name) > 5


def test_the_answer_comes_first(documents):
    words = Reader(to_html(documents["views"])).words
    view = documents["views"]["views"][0]
    order = [
        "What else is in data.csv?",
        "Beside known, 1 other grouping was found in 90 rows",
        "Given: known",
        view["sentence"].replace("(-", "(\N{MINUS SIGN}"),
        "separated",
        "in common with known",
        "Chance alone",
        "What tells them apart:",
        "How the groupings agree",
        "How the settings were chosen",
        "How to repeat it",
    ]
    places = [words.index(text) for text in order]
    assert places == sorted(places)
    assert made.RUN["command"] in words
    assert made.RUN["notes"][0] in words
    assert made.RUN["input"]["sha256"] in words


def test_without_views_the_best_one_is_shown(documents):
    words = Reader(to_html(documents["none"])).words
    assert "The best candidate was looked at and not believed." in words
    assert "Infinity" not in words
    assert "inf" not in words.lower().split()


def test_every_row_is_a_point_at_its_place(document):
    page = to_html(document)
    first, second = re.findall(r'<g class="points">(.*?)</g>', page)
    coordinates = np.array(document["views"][0]["coordinates"])
    marks = re.findall(r'd="(M.*?)"', first)
    assert len(marks) == second.count("z") - second.count("<title>z") == 90
    assert first.count("<title>row-") == 90
    # Outlines of both shapes begin within 5 of 460 pixels from the point.
    corners = np.array([re.findall(r"-?[\d.]+", mark)[:2] for mark in marks], dtype=float)
    for axis, sign in ((0, 1), (1, -1)):  # pixels are counted from above
        line = np.polyfit(coordinates[:, axis], corners[:, axis], 1)
        assert sign * line[0] > 0
        assert np.abs(np.polyval(line, coordinates[:, axis]) - corners[:, axis]).max() < 6


def test_columns_that_were_no_features_are_shown_beside_the_views(table):
    heavy = np.where(np.arange(90) % 2, "heavy", "light")
    columns = table | {"weight": heavy, "same": [1] * 90}
    columns["weight"][7] = ""
    with pytest.warns(UserWarning, match="left out 'same': constant"):
        views = made.find(columns, given="known", categories="reference")
    document = views.to_dict()
    (view,) = document["views"]
    assert view["beside"].startswith("nearly your column weight (agreement 1.00)")
    assert [one["column"] for one in view["relations"]][:1] == ["weight"]
    assert [one["name"] for one in document["references"]] == ["weight"]
    assert document["references"][0]["labels"][7] == "(missing)"
    page = to_html(document)
    assert len(re.findall(r'<g class="points">', page)) == 3
    for words in (
        "Beside the columns that were no features: nearly your column weight (agreement 1.00)",
        "The same points coloured by weight",
        "Beside the columns of the table",
        "What the columns were used for",
        "<td>constant</td>",
    ):
        assert words in page


def test_many_rows_are_sampled_and_it_is_said():
    X, labelings = make_gaussian_views(2500, [2, 2], rotate=False, random_state=0)
    views = find_views(X, given=labelings[:, 0], n_views=1, n_clusters=2, method="linear")
    document = views.to_dict()
    rows = document["points"]["rows"]
    assert len(rows) == len(set(rows)) == len(document["views"][0]["coordinates"]) == 2000
    assert len(document["views"][0]["labels"]) == 2500
    view = document["views"][0]
    document |= {"views": [view | {"name": f"view {i}"} for i in range(3)]}
    document |= {"given": [document["given"][0] | {"name": f"given {i}"} for i in range(3)]}
    page = to_html(document)
    assert "2,000 of 2,500 rows are drawn; the legend counts all" in page
    assert len(page) < 3e6
    sizes = Counter(view["labels"])
    legends = re.findall(r'<ul class="legend">(.*?)</ul>', page)
    own, known = (re.findall(r"</svg>([^<]*)</li>", legend) for legend in legends[:2])
    assert own == [f"group {group} ({sizes[group]:,})" for group in range(2)]
    assert known == [f"{name} ({size:,})" for name, size in document["given"][0]["groups"].items()]
    assert sum(sizes.values()) == sum(document["given"][0]["groups"].values()) == 2500


def test_a_known_group_looks_the_same_beside_every_view(document):
    three = deepcopy(document["views"][0]) | {"n_clusters": 3, "name": "view 2"}
    three["labels"] = [i % 3 for i in range(document["n_rows"])]
    page = to_html(document | {"views": [document["views"][0], three]})
    legends = re.findall(r'<ul class="legend">(.*?)</ul>', page)
    assert len(legends) == 4
    looks = [re.findall(r'class="(c\d)" d="(.*?)"', legend) for legend in legends]
    assert looks[1] == looks[3]
    assert not set(looks[1]) & {*looks[0], *looks[2]}


def test_a_legend_of_a_reduction_counts_all_rows():
    legend = re.search(r'<ul class="legend">(.*?)</ul>', to_html(made.reduction("category")))
    assert re.findall(r"</svg>([^<]*)</li>", legend[1]) == ["a (3,000)", "b&lt;c (2,000)"]
    frame = {"x": np.arange(2100.0), "y": np.arange(2100.0) ** 2 % 7}
    frame |= {"class": ["low"] * 1500 + ["high"] * 600}
    colour = reduce_table(frame, target="class").to_dict()["points"]["colour"]
    assert colour["groups"] == {"low": 1500, "high": 600}


def test_groups_look_different():
    labels = [f"label {i:02}" for i in range(30) for _ in range(2)]
    document = made.reduction("category")
    document["points"] |= {"index": list(range(60)), "coordinates": [[i, i] for i in range(60)]}
    document["points"]["colour"] |= {"values": labels, "groups": Counter(labels)}
    legend = re.search(r'<ul class="legend">(.*?)</ul>', to_html(document)).group(1)
    marks = re.findall(r'class="(c\d)" d="(.*?)"', legend)
    assert len(set(marks)) == len(marks) == 25
    assert "6 more groups (12)" in legend


def test_tables_of_markdown_keep_their_columns(documents):
    for name, document in documents.items():
        lines = to_markdown(document).splitlines()
        tables = 0
        for before, line in pairwise(lines):
            if line.startswith("|") and before.startswith("|"):
                bars = [len(re.findall(r"(?<!\\)\|", one)) for one in (before, line)]
                assert bars[0] == bars[1], (name, line)
                tables += 1
        assert tables > 3, name
        assert lines[0].startswith("# ")


def test_the_same_dict_gives_the_same_page(documents):
    for document in documents.values():
        assert to_html(document) == to_html(json.loads(json.dumps(document)))


def colours(name):
    """Return the colours of the page by name: light and dark."""
    css = files("multifacet.report").joinpath("page.css").read_text(encoding="utf-8")
    pairs = re.findall(rf"--({name}): light-dark\(#(\w{{6}}), #(\w{{6}})\)", css)
    return {
        key: [np.array([int(one[i : i + 2], 16) / 255 for i in (0, 2, 4)]) for one in both]
        for key, *both in pairs
    }


def linear(rgb):
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def contrast(a, b):
    """Contrast ratio of the Web Content Accessibility Guidelines."""
    bright, dim = sorted((linear(c) @ [0.2126, 0.7152, 0.0722] for c in (a, b)), reverse=True)
    return (bright + 0.05) / (dim + 0.05)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_colours_can_be_seen(scheme):
    paper = [both[scheme] for both in colours("paper|card").values()]
    for background in paper:
        assert contrast(colours("ink")["ink"][scheme], background) > 7
        assert contrast(colours("soft")["soft"][scheme], background) > 4.5
        assert contrast(colours("accent")["accent"][scheme], background) > 4.5
        for both in colours(r"c\d").values():
            assert contrast(both[scheme], background) > 2.8


#: Machado, Oliveira and Fernandes (2009): what protanopes and deuteranopes see, in linear RGB.
BLINDNESS = {
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
}


def lab(linear_rgb):
    to_xyz = np.array(
        [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    )
    x, y, z = np.cbrt(np.clip(to_xyz @ linear_rgb / [0.9505, 1.0, 1.089], 1e-6, None))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("blindness", BLINDNESS)
@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_colour_blind_readers_tell_groups_apart(blindness, scheme):
    # Of eight colours not all can be far apart for them; then the shapes differ.
    seen = [
        lab(np.clip(np.array(BLINDNESS[blindness]) @ linear(both[scheme]), 0, 1))
        for both in list(colours(r"c\d").values())[:4]
    ]
    distances = [np.linalg.norm(a - b) for i, a in enumerate(seen) for b in seen[i + 1 :]]
    assert min(distances) > 10
