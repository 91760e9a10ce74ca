"""Fresh environments without a network: the wheel, and links to just what it requires.

What pip would install is worked out from the metadata and linked from the environment of the tests,
so that an environment takes a second, and a package that is used but not required is missing there.
"""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from importlib.metadata import Distribution, PackageNotFoundError, PathDistribution, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


class MissingError(Exception):
    """A package that is required is not installed beside the tests."""


class Fresh:
    """An environment with the wheel and the requirements of some extras.

    Parameters
    ----------
    folder : Path
        Where to make it.
    wheel : Path
        The wheel of this package.
    extras : sequence of str
        Extras to install.
    """

    def __init__(self, folder: Path, wheel: Path, extras: tuple[str, ...] = ()):
        venv.EnvBuilder(symlinks=True).create(folder)
        self.bin = folder / "bin"
        pip(folder, "install", "--quiet", "--no-index", "--no-deps", "--no-compile", str(wheel))
        site = next(folder.glob("lib/python*/site-packages"))
        metadata = next(site.glob("multifacet-*.dist-info"))
        for needed in required(PathDistribution(metadata), frozenset(extras)).values():
            link(needed, site)
        pip(folder, "check")

    def run(self, *words: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
        """Run a command of the environment, which sees nothing of the one outside."""
        kept = {"PATH", "HOME", "TMPDIR", "LANG", "OMP_NUM_THREADS"}
        return subprocess.run(
            [self.bin / words[0], *words[1:]],
            cwd=cwd,
            env={name: value for name, value in os.environ.items() if name in kept},
            capture_output=True,
            text=True,
        )


def pip(folder: Path, *words: str) -> None:
    """Run the pip of the tests on another environment; raise if it complains."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(folder)]
    done = subprocess.run([*command, *words], capture_output=True, text=True)
    if done.returncode:
        raise AssertionError(f"pip {' '.join(words)}: {done.stdout}{done.stderr}")


def required(package: Distribution, extras: frozenset[str]) -> dict[str, Distribution]:
    """Return what a package and its extras require, and what that requires, by name."""
    found: dict[str, Distribution] = {}
    seen, waiting = set(), [(package, extras)]
    while waiting:
        package, extras = waiting.pop()
        for text in package.requires or ():
            requirement = Requirement(text)
            name, wanted = canonicalize_name(requirement.name), frozenset(requirement.extras)
            if not applies(requirement, extras) or (name, wanted) in seen:
                continue
            seen.add((name, wanted))
            if name == "multifacet":  # `all` names the other extras
                waiting.append((package, wanted))
                continue
            try:
                found[name] = distribution(name)
            except PackageNotFoundError as error:
                raise MissingError(f"{name} is not installed") from error
            waiting.append((found[name], wanted))
    return found


def applies(requirement: Requirement, extras: frozenset[str]) -> bool:
    """Tell whether a requirement is for this machine and one of the extras."""
    marker = requirement.marker
    return marker is None or any(marker.evaluate({"extra": extra}) for extra in extras | {""})


def link(package: Distribution, site: Path) -> None:
    """Make the files of an installed package appear in another environment."""
    tops = {file.parts[0] for file in package.files or ()} - {"..", "__pycache__"}
    for top in tops:
        if not (site / top).exists():
            (site / top).symlink_to(package.locate_file(top))
