"""The arrows between modules go one way, and importing the package is cheap."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import multifacet

ROOT = Path(multifacet.__file__).parent
#: From bottom to top; a part may import only from layers below its own, so that no two import each
#: other, not even through others. ``frames`` and ``files`` use the bottom alone, and results are in
#: terms of tables, so they are as low as can be, and ``runs`` with them; ``validation`` and
#: ``metrics`` ask engines what rows may be, so they are not. Estimators know arrays and labels,
#: ``finding`` makes several views of them, and only ``tables`` brings both together.
LAYERS = [
    ["linalg", "printable", "progress", "documents", "wording"],
    ["rowwise", "content"],
    ["frames", "explain", "kmeans"],
    ["files", "plotting"],
    ["runs"],
    ["kernels", "datasets"],
    ["problems"],
    ["engines"],
    ["validation", "metrics", "solvers"],
    ["alternate", "certificate"],
    ["together", "search"],
    ["evidence"],
    ["results"],
    ["isaac", "baselines", "fitting"],
    ["estimators"],
    ["finding"],
    ["tables"],
    ["report"],
    ["app"],
    ["cli"],
    ["__main__"],
]
#: Imports against the order, inside functions: a result asks for its report when the user does.
LATER = {("results", "report")}
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
WITHOUT_SKLEARN = {
    "linalg",
    "kmeans",
    "printable",
    "wording",
    "frames",
    "files",
    "kernels",
    "problems",
    "engines",
    "solvers",
}


@cache
def modules():
    """Parts of the name, and tree, of every module."""
    paths = {path.relative_to(ROOT).with_suffix("").parts: path for path in ROOT.rglob("*.py")}
    return [
        (parts, ast.parse(paths[parts].read_text(encoding="utf-8")))
        for parts in sorted(paths)
        if parts != ("__init__",)
    ]


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
        if where == "inside" and name in LEVEL and name != parts[0]:
            downwards = LEVEL[name] < here or (parts[0], name) in LATER
            assert downwards, f"{'.'.join(parts)} imports {name}, which is not below it"
        if where == "outside" and parts[0] in WITHOUT_SKLEARN:
            assert name != "sklearn", f"{'.'.join(parts)} imports scikit-learn"


def test_what_is_imported_later_is_imported_in_functions():
    for parts, tree in modules():
        top = ast.Module([node for node in tree.body if isinstance(node, ast.ImportFrom)], [])
        at_once = {(parts[0], name) for _, name in imported(parts, top)}
        assert not at_once & LATER, ".".join(parts)


def test_no_module_imports_itself_through_others():
    graph = module_graph()
    for start in graph:
        seen, ahead = set(), [start]
        while ahead:
            new = graph.get(ahead.pop(), set()) - seen
            assert start not in new, f"{start} is in a circle of imports"
            seen |= new
            ahead += new


def module_graph():
    """Return which module imports which, for more than its types."""
    trees = {".".join(parts).removesuffix(".__init__"): (parts, tree) for parts, tree in modules()}
    graph = {}
    for module, (parts, tree) in trees.items():
        types = {id(n) for block in ast.walk(tree) if for_types(block) for n in ast.walk(block)}
        nodes = [n for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and n.level]
        found = {
            name if name in trees else name.rpartition(".")[0]
            for node in nodes
            if id(node) not in types
            for name in full_names(parts, node)
        }
        graph[module] = {n for n in found & set(trees) if (parts[0], n.split(".")[0]) not in LATER}
    return graph


def for_types(node):
    return isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"


def full_names(parts, node):
    """Return the full names of what an import takes from this package."""
    home = [*parts[: len(parts) - node.level], *filter(None, [node.module])]
    return [".".join([*home, alias.name]) for alias in node.names]


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
            described = f"\n{parameter} :" in inspect.getdoc(cls)
            assert described, f"{name}.{parameter} has no description"


@pytest.mark.parametrize(
    "path", [pytest.param(p, id=p.stem) for p in sorted(Path(__file__).parent.rglob("*.py"))]
)
def test_tests_change_no_constant_and_nothing_private(path):
    """Limits are passed as anybody can pass them; else a test is of another program."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        for name in written_from_outside(node):
            inside = name.startswith("_") or (name.isupper() and len(name) > 1)  # X is data
            assert not inside, f"{path.name}:{node.lineno} changes {name}: pass it as an argument"


def written_from_outside(node):
    """Return the attributes of others that a statement, or a call of ``setattr``, writes."""
    if isinstance(node, ast.Assign | ast.AugAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        parts = [part for target in targets for part in ast.walk(target)]
        written = [part for part in parts if isinstance(part, ast.Attribute)]
        return [part.attr for part in written if getattr(part.value, "id", "") != "self"]
    if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("setattr", "delattr"):
        texts = [one.value for one in node.args[:2] if isinstance(one, ast.Constant)]
        return [text.rpartition(".")[2] for text in texts if isinstance(text, str)]
    return []
