"""What others rely on, as lines of text: public names with their signatures, commands, formats.

``python -m tests.release.surface`` writes ``public.txt``. Lines there that begin with ``+`` and
``-`` came and went since the last release; ``--released`` forgets about that.
"""

from __future__ import annotations

import difflib
import importlib
import inspect
import re
import sys
from pathlib import Path

import click

from multifacet.search import PLAN

ROOT = Path(__file__).resolve().parents[2]
FILE = Path(__file__).with_name("public.txt")


def surface() -> list[str]:
    """Return the public surface: everything on the page of the reference, and every command."""
    lines = set(formats())
    for name in documented_names():
        module, _, last = name.rpartition(".")
        lines |= set(entries(name, getattr(importlib.import_module(module), last)))
    from multifacet.cli import main

    for name, command in main.commands.items():
        lines |= {f"$ multifacet {name} {words(option)}" for option in command.params}
    return sorted(lines)


def documented_names() -> list[str]:
    """Return the names on the page of the reference, in full."""
    names, module = [], ""
    for line in (ROOT / "docs" / "api.rst").read_text(encoding="utf-8").splitlines():
        if line.startswith(".. currentmodule:: "):
            module = line.split()[-1]
        elif re.fullmatch(r"   ~?[A-Za-z_][\w.]*", line):
            names.append(f"{module}.{line.strip().lstrip('~')}")
    return names


def entries(name: str, thing: object) -> list[str]:
    """Return the lines of a function, or of a class with its members and documented attributes."""
    if not inspect.isclass(thing):
        return [name + (signature(thing) if callable(thing) else "")]
    ours = [cls for cls in thing.__mro__ if cls.__module__.startswith("multifacet")]
    members = {key: value for cls in reversed(ours) for key, value in vars(cls).items()}
    found = [name + signature(thing)]
    for key, value in members.items():
        value = getattr(value, "__func__", value)  # of a class method
        if not key.startswith("_") and inspect.isfunction(value):
            found.append(f"{name}.{key}{signature(value)}")
        elif not key.startswith("_") and hasattr(value, "__get__"):
            found.append(f"{name}.{key}")
    documented = re.search(
        r"Attributes\n-+\n(.*?)(\n\n|\Z)", inspect.getdoc(thing) or "", re.DOTALL
    )
    for line in documented[1].splitlines() if documented else ():
        if re.match(r"\w", line):
            found += [f"{name}.{key}" for key in re.findall(r"\w+", line.partition(" :")[0])]
    return found


def signature(thing: object) -> str:
    """Return names and defaults of parameters; types are the business of the type checker."""
    try:
        found = inspect.signature(thing)
    except ValueError:  # an enumeration, or something that is not made by calling it
        return ""
    bare = [p.replace(annotation=p.empty) for p in found.parameters.values()]
    text = str(found.replace(parameters=bare, return_annotation=found.empty))
    # The constants of the search have their own key.
    text = text.replace(repr(PLAN), "PLAN")
    return re.sub(r" at 0x\w+", "", text)


def words(option: click.Parameter) -> str:
    """Return how an option or argument is written."""
    return "/".join(option.opts) if isinstance(option, click.Option) else option.name.upper()


def formats() -> list[str]:
    """Return the versions of what is written to files."""
    from multifacet.app import schemas
    from multifacet.results import checkpoint, comparison, reduction, summary, views

    versions = {
        "views.npz": views, "checkpoint": checkpoint, "exploration.json": schemas,
        "views.json": summary, "reduction.json": reduction, "comparison.json": comparison,
    }  # fmt: skip
    return [f"# format of {name}: {home.FORMAT}" for name, home in versions.items()]


def marked(released: list[str], now: list[str]) -> list[str]:
    """Return the lines of both, with what came and went."""
    return [line for line in difflib.ndiff(released, now) if not line.startswith("?")]


def at_release(lines: list[str]) -> list[str]:
    """Return the surface of the last release from marked lines."""
    return [line[2:] for line in lines if not line.startswith("+")]


def main(arguments: list[str]) -> None:
    """Write the file again."""
    now = surface()
    known = FILE.read_text(encoding="utf-8").splitlines() if FILE.exists() else []
    released = at_release(known) if known and arguments != ["--released"] else now
    FILE.write_text("\n".join(marked(released, now)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
