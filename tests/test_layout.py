"""The arrows between modules go one way, and importing the package is cheap."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import multifacet

ROOT = Path(multifacet.__file__).parent
#: From left to right; a module may import only from layers before its own (or from its own).
LAYERS = [
    ["linalg", "printable", "progress", "documents"],
    ["frames", "files", "explain", "plotting"],
    ["kernels"],
    ["problems"],
    ["engines"],
    ["validation"],
    ["metrics", "datasets"],
    ["solvers"],
    ["certificate"],
    ["alternate"],
    ["together"],
    ["search"],
    ["evidence"],
    ["report"],
    ["results"],
    ["estimators", "isaac"],
    ["baselines"],
    ["cli", "app"],
    ["__main__"],
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
WITHOUT_SKLEARN = {
    "linalg",
    "printable",
    "frames",
    "files",
    "kernels",
    "problems",
    "engines",
    "solvers",
}


def modules():
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        if parts != ("__init__",):
            yield parts, ast.parse(path.read_text(encoding="utf-8"))


def imported(parts, tree):
    """Top-level names of this package, and of others, that a module imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield "outside", alias.name.split(".")[0]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield "outside", (node.module or "").split(".")[0]
        elif isinstance(node, ast.ImportFrom):
            package = list(parts[: len(parts) - node.level])
            target = package + (node.module.split(".") if node.module else [])
            names = [target[0]] if target else [alias.name for alias in node.names]
            for name in names:
                yield "inside", name


@pytest.mark.parametrize(
    ("parts", "tree"), [pytest.param(*m, id=".".join(m[0])) for m in modules()]
)
def test_arrows_go_one_way(parts, tree):
    here = LEVEL[parts[0]]
    for where, name in imported(parts, tree):
        if where == "inside" and name in LEVEL:
            assert LEVEL[name] <= here, f"{'.'.join(parts)} imports {name} from its right"
        if where == "outside" and parts[0] in WITHOUT_SKLEARN:
            assert name != "sklearn", f"{'.'.join(parts)} imports scikit-learn"


def test_import_is_lazy():
    code = (
        "import sys, multifacet; "
        "heavy = {'numpy', 'scipy', 'sklearn', 'pandas', 'rich', 'matplotlib', 'dask'}; "
        "heavy &= set(sys.modules); "
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_public_names_exist():
    for name in multifacet.__all__:
        assert getattr(multifacet, name) is not None
        assert name in dir(multifacet)
    assert set(dir(multifacet)) == {*multifacet.__all__, "__version__"}
    with pytest.raises(AttributeError, match="no attribute 'KDAK'"):
        _ = multifacet.KDAK


def test_every_public_estimator_parameter_is_documented():
    for name in ("KDAC", "LinearKDAC", "EmbeddingKDAC", "SupervisedKDR"):
        cls = getattr(multifacet, name)
        for parameter in cls().get_params():
            assert f"    {parameter} :" in cls.__doc__, f"{name}.{parameter} has no description"
