"""Embeddings with what is known of their rows: given by name, shown, kept and put back."""

from __future__ import annotations

import base64
import struct
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest

from multifacet import Views, find_views
from multifacet.explain import only_numbered, telling_words
from multifacet.files.images import MAX_PLAIN, NoPictureError, is_thumbnail, thumbnail
from multifacet.metrics import nmi

pd = pytest.importorskip("pandas")

N, D = 120, 60
QUICK = {"n_views": 1, "n_clusters": 2, "method": "linear", "n_refits": 0}
LITTLE = ["the", "a", "of", "and", "in"]
WORDS = {
    0: "match team goal player season coach",
    1: "court judge law vote minister party",
}


def png(shade, side=16):
    """Return the bytes of a grey picture."""
    rows = (b"\x00" + bytes([shade]) * side) * side
    parts = [
        (b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)),
        (b"IDAT", zlib.compress(rows)),
        (b"IEND", b""),
    ]
    chunks = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


@pytest.fixture(scope="module")
def embeddings():
    """Return two independent groupings in directions of many features, and their labels."""
    rng = np.random.default_rng(0)
    known, hidden = rng.integers(0, 2, (2, N))
    basis = np.linalg.qr(rng.normal(size=(D, 2)))[0]
    places = 6 * np.column_stack([known, hidden]) + rng.normal(size=(N, 2))
    return (places @ basis.T + 0.2 * rng.normal(size=(N, D))).astype(np.float32), known, hidden


@pytest.fixture(scope="module")
def described(embeddings):
    """Return a frame with a label, texts about the hidden group, and names of pictures."""
    _, known, hidden = embeddings
    rng = np.random.default_rng(1)
    texts = [" ".join([*rng.choice(WORDS[c].split(), 4), *rng.choice(LITTLE, 4)]) for c in hidden]
    paths = [f"pictures/{i}.png" for i in range(N)]
    return pd.DataFrame({"label": np.where(known, "x", "y"), "text": texts, "picture": paths})


@pytest.fixture(scope="module")
def folder(embeddings, described, tmp_path_factory):
    """Write embeddings, their rows and their pictures to a folder."""
    place = tmp_path_factory.mktemp("rows")
    X, _, hidden = embeddings
    (place / "pictures").mkdir()
    for i, c in enumerate(hidden):
        (place / "pictures" / f"{i}.png").write_bytes(png(40 + 170 * c))
    np.save(place / "x.npy", X)
    described.to_csv(place / "rows.csv", index=False)
    return place


@pytest.fixture(scope="module")
def found(folder):
    return find_views(folder / "x.npy", rows=folder / "rows.csv", given="label", **QUICK)


def test_a_column_of_rows_can_be_given(found, embeddings):
    view = found[0]
    assert nmi(view.labels, embeddings[2]) > 0.9
    assert list(found.given) == ["label"]
    assert found.roles.features == [f"x{j}" for j in range(D)]
    assert found.index[0] == "pictures/0.png"


def test_arrays_and_frames_in_memory_give_the_same(found, embeddings, described):
    X = embeddings[0]
    again = find_views(X, rows=described, given="label", image_folder="nowhere", **QUICK)
    assert (again.labelings == found.labelings).all()
    assert again.index.tolist() == list(range(N))  # the index of the frame
    by_series = find_views(X, rows=described, given=described["label"][::-1], **QUICK)
    assert (by_series.labelings == found.labelings).all()


def test_labels_go_back_to_the_rows(found, described, embeddings, tmp_path):
    joined = found.assign(described)
    assert joined["view 1"].tolist() == found[0].labels.tolist()
    assert found.to_frame().index.name == "picture"
    loaded = Views.load(found.save(tmp_path / "views"))
    assert loaded[0].gallery == found[0].gallery
    assert str(loaded) == str(found)
    assert (loaded.predict(embeddings[0]) == found.labelings).all()


def test_a_file_is_not_read_as_a_whole(folder, described, monkeypatch):
    monkeypatch.setattr(Path, "read_bytes", None)
    views = find_views(folder / "x.npy", rows=described, **QUICK)
    assert views.labelings.shape == (N, 1)


def test_numbered_features_are_not_named(found):
    sentence = found[0].sentence
    assert f"of all {D} features" in sentence
    assert "x1" not in sentence
    assert "words that are more frequent" in sentence
    assert found[0].groups[0]["name"].startswith("more often: ")


def test_a_few_of_many_numbered_features_are_named():
    names = [f"x{j}" for j in range(D)]
    weights = np.full(D, 0.1 / (D - 1))
    weights[5] = 0.9
    assert not only_numbered(names, weights)
    assert only_numbered(names, np.full(D, 1 / D))
    assert only_numbered([f"emb[{j}]" for j in range(D)], np.full(D, 1 / D))
    assert not only_numbered([*names[1:], "mass"], np.full(D, 1 / D))


def test_rows_to_look_at(found, embeddings, described):
    view = found[0]
    gallery = view.gallery
    names = described["picture"].tolist()
    for group in gallery["groups"]:
        rows = [names.index(gallery["rows"][i]["row"]) for i in group["typical"]]
        assert (view.labels[rows] == group["label"]).all()
        expected = WORDS[int(np.bincount(embeddings[2][rows]).argmax())].split()
        assert {*group["words"]} <= {*expected}
        assert len(group["words"]) >= 3
        centres = [view.projection[view.labels == c].mean(axis=0) for c in (0, 1)]
        own, other = centres[group["label"]], centres[1 - group["label"]]
        assert group["other"] == 1 - group["label"]

        def away(places, own=own, other=other):
            points = view.projection[[names.index(gallery["rows"][i]["row"]) for i in places]]
            return ((points - other) @ (own - other)).mean()

        assert away(group["far"]) > away(group["typical"]) > away(group["near"])
    for row in gallery["rows"]:
        assert is_thumbnail(row["images"]["picture"])
        assert row["texts"]["text"] == described["text"][names.index(row["row"])]
    axis = gallery["axes"][0]
    assert not {*axis["low"]} & {*axis["high"]}
    assert gallery["notes"] == []


def test_an_excluded_column_is_not_shown(folder):
    views = find_views(
        folder / "x.npy", rows=folder / "rows.csv", exclude=["text", "picture"], **QUICK
    )
    assert views[0].gallery is None
    assert views[0].sentence.endswith("rows)")


def test_texts_of_an_ordinary_table_are_shown(embeddings, described):
    rng = np.random.default_rng(0)
    table = {"mass": 9 * embeddings[2] + rng.normal(size=N), "age": rng.normal(size=N)}
    views = find_views(table | {"remark": described["text"].tolist()}, **QUICK)
    assert views[0].gallery["rows"][0]["texts"].keys() == {"remark"}
    assert "mass" in views[0].sentence


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("../outside.png", "is outside the folder of the table"),
        ("/etc/outside.png", "is outside the folder of the table"),
        ("link.png", "is outside the folder of the table"),
        ("gone.png", "there is no file 'gone.png'"),
        ("folder.png", "there is no file 'folder.png'"),
        ("broken.png", "is broken"),
        ("text.png", "is no PNG, JPEG, GIF or WebP file"),
        ("null\0.png", "is no path"),
        ("x" * 5000 + ".png", "cannot be read"),
    ],
)
def test_pictures_that_cannot_be_shown(path, why, tmp_path):
    pytest.importorskip("PIL")
    inside = tmp_path / "inside"
    (inside / "folder.png").mkdir(parents=True)
    for name in (tmp_path / "outside.png", inside / "fine.png"):
        name.write_bytes(png(9))
    (inside / "link.png").symlink_to(tmp_path / "outside.png")
    (inside / "broken.png").write_bytes(png(9)[:40])
    (inside / "text.png").write_text("<svg onload=alert(1)>")
    assert is_thumbnail(thumbnail("fine.png", inside))
    with pytest.raises(NoPictureError, match=why):
        thumbnail(path, inside)


def test_without_pillow_small_files_are_shown_as_they_are(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    (tmp_path / "a.png").write_bytes(png(9))
    found = thumbnail(str(tmp_path / "a.png"))
    assert base64.b64decode(found.partition(",")[2]) == png(9)
    (tmp_path / "b.png").write_bytes(png(9) + bytes(MAX_PLAIN))
    with pytest.raises(NoPictureError, match="install Pillow"):
        thumbnail("b.png", tmp_path)


def test_large_pictures_are_scaled(tmp_path):
    image = pytest.importorskip("PIL.Image")
    image.effect_noise((900, 600), 80).convert("RGB").save(tmp_path / "photo.jpg")
    assert len(thumbnail("photo.jpg", tmp_path)) < 60_000


def test_pictures_that_are_missing_become_a_sentence(embeddings, described, tmp_path):
    views = find_views(embeddings[0], rows=described, image_folder=tmp_path, **QUICK)
    (note,) = views[0].gallery["notes"]
    assert note.startswith("Some pictures are not shown: there is no file 'pictures/")
    assert "more." in note


def test_addresses_are_no_pictures(embeddings):
    rows = {"url": [f"https://example.org/{i}.png" for i in range(N)]}
    views = find_views(embeddings[0], rows=rows, **QUICK)
    assert views[0].gallery is None


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rows": {"label": [1]}}, "rows has 1 rows, data has 120"),
        ({"rows": [1, 2]}, "rows is of type list"),
        ({"rows": {"label": ["a", "b"] * 60}, "given": "lable"}, "did you mean 'label'"),
        ({"rows": {"label": ["a", "b"] * 60}, "given": "z"}, "columns are 'label', and 60 feat"),
    ],
)
def test_rows_that_do_not_fit(embeddings, options, words):
    with pytest.raises(ValueError, match=words):
        find_views(embeddings[0], **options, **QUICK)


def test_rows_of_dask_are_refused():
    dask_array = pytest.importorskip("dask.array")
    with pytest.raises(ValueError, match="join its columns to data"):
        find_views(dask_array.zeros((9, 3)), rows={"a": range(9)}, **QUICK)


def test_words_that_all_groups_share_tell_nothing():
    groups = np.arange(60) % 3
    assert telling_words(["the same words everywhere"] * 60, groups) == [[], [], []]
    assert telling_words([""] * 60, groups) == [[], [], []]
