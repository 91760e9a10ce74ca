"""Options that several commands share, and where their values may come from."""

from __future__ import annotations

import csv
import re
import tomllib
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import click

from ..runs.options import OPTIONS
from ..runs.record import read_record
from .command import Refused

#: Options that are about a call, not about its result: never kept in run.json.
CALL_ONLY = ("config", "repeat", "output", "force", "resume", "quiet", "as_json")
#: Those of them that no file of options may hold.
_NEVER_IN_A_FILE = ("config", "repeat", "resume")


class Names(click.ParamType):  # type: ignore[type-arg]  # generic in newer versions only
    """Names of columns between commas; quotes protect a comma in a name."""

    name = "COL,COL"

    def convert(self, value: Any, param: Any, ctx: Any) -> list[str]:
        """Return the names."""
        if isinstance(value, list):
            return [str(one) for one in value]
        try:
            parts = next(csv.reader([str(value)], skipinitialspace=True), [])
        except csv.Error:
            text = f"{value!r} has a line break: put the name that holds it in quotes"
            self.fail(text, param, ctx)
        names = [name.strip() for name in parts]
        if not all(names) or not names:
            self.fail(f"{value!r} holds an empty name", param, ctx)
        return names


class Auto(click.ParamType):  # type: ignore[type-arg]  # generic in newer versions only
    """A number, or the word auto."""

    def __init__(self, number: Callable[[str], Any], *, several: bool = False) -> None:
        self.number, self.several = number, several
        one = {int: "N", float: "X"}.get(number, "N|X")  # type: ignore[call-overload]
        self.name = f"{one}|{one},{one}|{one}-{one}|auto" if several else f"{one}|auto"

    def get_metavar(self, param: Any, ctx: Any = None) -> str:
        """Return what help shows."""
        return self.name

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return a number, a list of numbers, a range as text, or "auto"."""
        if value == "auto" or (self.several and re.fullmatch(r"\d+-\d+", str(value))):
            return value
        parts = value.split(",") if isinstance(value, str) and self.several else value
        try:
            if isinstance(parts, list):
                numbers = [self.number(str(part)) for part in parts]
                return numbers if len(numbers) > 1 else numbers[0]
            return self.number(str(parts))  # as text, because int(2.5) of a file would be 2
        except (ValueError, IndexError):
            kind = "a whole number" if self.number is int else "a number"
            self.fail(f"{value!r} is neither {kind} nor 'auto'", param, ctx)


def option(name: str, *short: str, **settings: Any) -> Callable[[Any], Any]:
    """Return an option of a run, by the name and with the default that :mod:`runs` gives it."""
    known = OPTIONS[name]
    shown = settings.setdefault("default", known.default) is not None
    return click.option(*short, f"--{name}", known.parameter, show_default=shown, **settings)


def flat(ctx: Any, param: Any, value: Iterable[list[str]]) -> list[str]:
    """Return the names of an option that may be repeated."""
    return [name for names in value for name in names]


def several(name: str, *, help: str, metavar: str = "COL,COL") -> Callable[[Any], Any]:
    """Return an option that takes names between commas and may be repeated."""
    settings = {"multiple": True, "callback": flat, "metavar": metavar, "help": help}
    return option(name, type=Names(), default=None, **settings)


def whole_or_real(text: str) -> int | float:
    """Return a number: a whole one if it is written without a point."""
    return int(text) if text.strip("+-").isdigit() else float(text)


def auto(
    *names: str, number: Callable[[str], Any] = int, several: bool = False, help: str
) -> Callable[[Any], Any]:
    """Return an option that takes a number or "auto", which is its default."""
    return option(*names, type=Auto(number, several=several), help=help)


def switch(name: str, *, help: str) -> Callable[[Any], Any]:
    """Return an option that is said, denied (--no-...), or "auto" if neither."""
    parameter = OPTIONS[name].parameter
    told = f"{help}  [default: auto]"
    flags = f"--{name}/--no-{name}"
    return click.option(flags, parameter, default=None, callback=_or_auto, help=told)


def _or_auto(ctx: Any, param: Any, value: bool | None) -> bool | str:
    return "auto" if value is None else value


def from_config(ctx: click.Context, param: Any, path: str | None) -> str | None:
    """Take options from a TOML file, as far as the command line does not say otherwise."""
    if path is None:
        return None
    try:
        values = tomllib.loads(_read(path))
    except (ValueError, RecursionError) as error:
        raise Refused(f"{path!r} is not valid TOML: {error}") from error
    _set_defaults(ctx, path, _of_command(ctx, values))
    return path


def _of_command(ctx: click.Context, values: dict[str, Any]) -> dict[str, Any]:
    """Return options without those in sections of other commands, so that all may share a file."""
    commands = getattr(ctx.find_root().command, "commands", {})
    sections = {key: v for key, v in values.items() if key in commands and isinstance(v, dict)}
    common = {key: value for key, value in values.items() if key not in sections}
    return common | sections.get(str(ctx.info_name), {})


def from_run(ctx: click.Context, param: Any, path: str | None) -> str | None:
    """Take all options from the run.json of an earlier run, and remember what it read."""
    if path is None:
        return None
    try:
        run = read_record(_read(path))
    except ValueError as error:
        raise Refused(f"{path!r} is not the run.json of a run of multifacet: {error}") from error
    if run["task"] != ctx.info_name:
        task = run["task"]
        raise Refused(f"{path!r} is of `multifacet {task}`, not of `multifacet {ctx.info_name}`")
    # What nobody said and nothing stands for is null.
    said = {key: value for key, value in run["options"].items() if value is not None}
    _set_defaults(ctx, path, said)
    ctx.meta["repeated"] = [run["input"], *run["existing"]]
    return path


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise Refused(f"there is no file {path!r}") from None
    except UnicodeDecodeError:
        raise Refused(f"{path!r} is not text in UTF-8") from None
    except OSError as error:
        raise Refused(f"cannot read {path!r}: {error.strerror}") from None


def _set_defaults(ctx: click.Context, path: str, values: dict[str, Any]) -> None:
    if ctx.default_map:
        raise Refused("--config and --from exclude each other: pass one of them")
    params = {key_of(p): p for p in ctx.command.params if p.name not in _NEVER_IN_A_FILE}
    said = {}
    for key, value in values.items():
        if key not in params:
            close = get_close_matches(key, params)
            meant = f"did you mean {close[0]!r}?" if close else f"use {', '.join(params)}"
            raise Refused(f"{path!r} has the unknown option {key!r}: {meant}")
        if not (value == "auto" and params[key].secondary_opts):  # a switch that nobody touched
            said[params[key].name] = _as_said(path, key, params[key], value)
    ctx.default_map = said


def _as_said(path: str, key: str, param: click.Parameter, value: Any) -> Any:
    """Return a value of a file as the command line would have it; refuse what it cannot say."""
    flag, names = getattr(param, "is_flag", False), getattr(param, "multiple", False)
    several = names or getattr(param.type, "several", False)
    words = value if several and isinstance(value, list) else [value]
    if not all(isinstance(w, bool if flag else str | int | float) for w in words) or (
        not flag and any(isinstance(word, bool) for word in words)
    ):
        yes_or_no = "true, false or 'auto'" if param.secondary_opts else "true or false"
        kind = yes_or_no if flag else "text or a number" + ", or a list of them" * several
        raise Refused(f"{path!r} has {key} = {_shortened(value)}: it takes {kind}")
    if flag:
        return value
    said = [str(word) for word in value] if isinstance(value, list) else str(value)
    return [said] if names else said  # as if the option was there once


def _shortened(value: Any, most: int = 60) -> str:
    text = str(value)
    return text if len(text) <= most else f"{text[:most]} ..."


def key_of(param: click.Parameter) -> str:
    """Return what files call an option: its long name without dashes."""
    return max(param.opts, key=len).lstrip("-")


def stacked(*decorators: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return one decorator that applies several, so that help lists them in this order."""

    def decorate(function: Any) -> Any:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


reading_options = stacked(
    option(
        "format",
        type=click.Choice(["csv", "parquet", "arrow", "npy", "npz", "h5ad"]),
        help="What DATA is; by default its suffix or its content says.",
    ),
    option("separator", help="Between fields of text; a character, tab or space."),
    option("decimal", type=click.Choice([".", ","]), help="Decimal mark of text."),
    option("encoding", help="Encoding of text.  [default: UTF-8]"),
    option(
        "matrix",
        help="Of a .h5ad file: X, layers:NAME or obsm:NAME; auto is X, or components of it.",
    ),
    option("id", metavar="COL", help="Column that names the rows."),
)
data_options = stacked(click.argument("data", type=click.Path()), reading_options)
role_options = stacked(
    several("features", help="The features; no other column becomes one."),
    several("exclude", help="Columns that are no features."),
    option(
        "categories",
        type=click.Choice(["reference", "use"]),
        help="Columns that look like labels are compared with what is found, or used as features.",
    ),
)
feature_options = stacked(
    role_options,
    option(
        "missing",
        type=click.Choice(["error", "impute", "drop"]),
        help="What to do with missing values.",
    ),
    switch(
        "standardize",
        help="Give every feature variance 1, or none; auto does unless all are in one unit.",
    ),
)
seed_option = option("seed", type=int, help="Seed.")
search_options = stacked(
    auto("bandwidth", number=float, help="Bandwidth of the Gaussian kernel."),
    seed_option,
    option("jobs", type=int, help="Threads.  [default: all cores]"),
)
call_options = stacked(
    click.option(
        "--config",
        metavar="FILE",
        is_eager=True,
        callback=from_config,
        help="TOML file with options, such as clusters = 2; the command line wins.",
    ),
    click.option(
        "--from",
        "repeat",
        metavar="RUN.JSON",
        is_eager=True,
        callback=from_run,
        help="Repeat an earlier run exactly; its input must not have changed.",
    ),
    click.option("-o", "--output", metavar="OUT", help="Directory to write to."),
    click.option("--force", is_flag=True, help="Replace results that are there."),
    click.option("--quiet", is_flag=True, help="No progress and no notes."),
    click.option("--json", "as_json", is_flag=True, help="Print the result as JSON."),
)
