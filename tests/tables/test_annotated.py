"""AnnData in and out: cells are rows, genes are features, obs is what views are compared with."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from multifacet import find_views
from multifacet.metrics import nmi

anndata = pytest.importorskip("anndata")
pd = pytest.importorskip("pandas")

OPTIONS = {"n_views": 1, "n_clusters": 2, "method": "linear"}


def cells(genes, *, n=120, sparse=False):
    """Return counts of genes in cells of two types, some of them stressed."""
    rng = np.random.default_rng(0)
    kind, stressed = rng.integers(0, 2, n), rng.integers(0, 2, n)
    rate = np.full((n, genes), 2.0)
    rate[:, :8] += 8.0 * kind[:, None]
    rate[:, 8:14] += 8.0 * stressed[:, None]
    counts = np.log1p(rng.poisson(rate))
    data = anndata.AnnData(csr_matrix(counts) if sparse else counts)
    data.obs_names = [f"cell {i}" for i in range(n)]
    data.var_names = [f"gene {j}" for j in range(genes)]
    data.obs["kind"] = pd.Categorical(np.where(kind, "B", "T"))
    data.obs["stress"] = 2.0 * stressed + rng.normal(size=n)
    data.layers["raw"] = np.expm1(counts)
    return data, kind, stressed


@pytest.mark.filterwarnings("ignore:features keep their scales")
def test_few_genes_are_features():
    data, _, stressed = cells(20)
    views = find_views(data, given="kind", **OPTIONS)
    assert views.encoding.feature_names == list(data.var_names)
    assert list(views.references) == ["stress"]
    assert nmi(views[0].labels, stressed) > 0.9
    assert "of your column stress" in str(views)
    assert views.index.tolist() == list(data.obs_names)


@pytest.mark.filterwarnings("ignore:features keep their scales")
@pytest.mark.parametrize("sparse", [False, True])
def test_many_genes_go_through_components_and_that_is_said(sparse):
    data, _, stressed = cells(150, sparse=sparse)
    said = "data has 150 variables, so that views are looked for in their first 50 principal comp"
    with pytest.warns(UserWarning, match=said):
        views = find_views(data, given="kind", **OPTIONS)
    assert views.encoding.feature_names[0] == "PC1"
    assert nmi(views[0].labels, stressed) > 0.9
    data.obsm["X_pca"] = np.random.default_rng(0).normal(size=(120, 4))
    with pytest.warns(UserWarning, match=r"components in obsm\['X_pca'\]"):
        roles = find_views(data, dry_run=True)
    assert roles.features == [f"X_pca_{j}" for j in range(1, 5)]


def test_what_is_asked_for_is_taken_silently():
    data, _, _ = cells(150)
    data.obsm["X_pca"] = np.random.default_rng(0).normal(size=(120, 4))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(find_views(data, use_rep="X_pca", dry_run=True).features) == 4
        assert len(find_views(data, use_rep="X", dry_run=True).features) == 150
        genes = ["gene 3", "gene 9"]
        assert find_views(data, features=genes, layer="raw", dry_run=True).features == genes


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"layer": "counts"}, "layer='counts' is not a layer of data: it has 'raw'"),
        ({"use_rep": "X_umap"}, "use_rep='X_umap' is not in obsm: use one of 'X'"),
        ({"layer": "raw", "use_rep": "X_pca"}, "layer and use_rep exclude each other"),
        ({"features": ["gene 999"]}, r"features='gene 999' is not a variable of data"),
        ({"given": "kinds"}, "given='kinds' is not a column: did you mean 'kind'"),
    ],
)
def test_wrong_uses_are_said_clearly(options, message):
    with pytest.raises(ValueError, match=message):
        find_views(cells(20)[0], **options)


def test_only_annotated_data_have_layers():
    with pytest.raises(ValueError, match="layer='raw' is for AnnData: leave it out"):
        find_views(np.eye(20), layer="raw")


@pytest.mark.filterwarnings("ignore:features keep their scales")
@pytest.mark.parametrize("sparse", [False, True])
def test_views_are_written_under_one_prefix(sparse, tmp_path):
    data, _, _ = cells(20, sparse=sparse)
    data.obs.loc["cell 3", "kind"] = np.nan
    with pytest.warns(UserWarning, match="left out 1 of 120 rows"):
        views = find_views(data, given="kind", missing="drop", **OPTIONS)
    written = views.assign(data)
    assert "multifacet_1" not in data.obs
    labels = written.obs["multifacet_1"]
    assert labels.isna().tolist() == [name == "cell 3" for name in data.obs_names]
    assert labels.dropna().astype(int).tolist() == views[0].labels.tolist()
    assert np.isnan(written.obsm["X_multifacet_1"][3]).all()
    effects = written.varm["multifacet_1"]
    assert effects.shape == (20, 2)
    assert set(np.argsort(-np.abs(effects[:, 0]))[:6]) == set(range(8, 14))
    assert written.uns["multifacet"]["multifacet_1"]["sentence"] == views[0].sentence
    written.write_h5ad(tmp_path / "written.h5ad")
    from_file = find_views(tmp_path / "written.h5ad", dry_run=True)
    assert from_file.features == list(data.var_names)
    assert "multifacet_1" in from_file.references
    shuffled = views.assign(data[::-1].copy())
    assert shuffled.obs["multifacet_1"].loc[labels.index].equals(labels)
    with pytest.raises(ValueError, match="data has no observation 'cell 0'"):
        views.assign(data[50:].copy())


@pytest.mark.parametrize(
    ("genes", "options"),
    [
        (20, {}),
        (20, {"layer": "raw"}),
        (20, {"features": [f"gene {j}" for j in range(14)]}),
        (150, {}),  # through components that are computed
        (150, {"layer": "raw"}),
        (150, {"use_rep": "X_pca"}),
    ],
)
@pytest.mark.parametrize("sparse", [False, True])
def test_new_cells_get_their_groups_and_places(genes, options, sparse, tmp_path):
    data, kind, _ = cells(genes, sparse=sparse)
    data.obsm["X_pca"] = np.asarray(data.X @ np.eye(genes, 14))
    known = data[:, ::-1].copy()  # variables are found by their names
    if options.get("use_rep") is None:
        del data.obsm["X_pca"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # on components
        views = find_views(data, given=kind, **OPTIONS, **options)
    again = type(views).load(views.save(tmp_path / "views.npz"))
    known.write_h5ad(tmp_path / "known.h5ad")
    for one in (views, again):
        for rows in (known, tmp_path / "known.h5ad"):
            assert one.predict(rows).ravel().tolist() == views[0].labels.tolist()
            np.testing.assert_allclose(one.transform(rows)[0], views[0].projection, atol=1e-5)
    assert views.predict(known[5:9]).ravel().tolist() == views[0].labels[5:9].tolist()


@pytest.mark.filterwarnings("ignore:features keep their scales")
def test_what_new_cells_lack_is_said():
    data, kind, _ = cells(20)
    data.obsm["X_pca"] = np.asarray(data.X[:, 2:16])
    views = find_views(data, given=kind, use_rep="X_pca", **OPTIONS)
    fresh = data.copy()
    fresh.obsm["X_pca"] = fresh.obsm["X_pca"][:, :3]
    with pytest.raises(ValueError, match=r"obsm\['X_pca'\] of data has 3 columns, but had 14"):
        views.predict(fresh)
    del fresh.obsm["X_pca"]
    with pytest.raises(ValueError, match=r"data has no obsm\['X_pca'\], in which the views were"):
        views.transform(fresh)
    by_gene = find_views(data, given=kind, **OPTIONS)
    with pytest.raises(ValueError, match="data has no variable 'gene 0', in which the views were"):
        by_gene.predict(data[:, 1:])


@pytest.mark.filterwarnings("ignore:features keep their scales")
def test_views_of_a_plain_table_tell_cells_by_the_names_of_variables():
    data, kind, _ = cells(20)
    views = find_views(data.to_df(), given=kind, **OPTIONS)
    assert views.predict(data).ravel().tolist() == views[0].labels.tolist()
