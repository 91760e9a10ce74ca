"""What happens meanwhile, on standard error: notes, and a live display if someone can see it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, TypedDict

from ..printable import one_line
from ..progress import Event, Stage

if TYPE_CHECKING:
    from rich.progress import Progress


class Display:
    """Receives the events of the library, and notes; shows them unless it was asked to be quiet.

    Used as a context, it is live: stage, candidate, objective and elapsed time in one line. That
    needs a terminal; anywhere else only notes are shown.
    """

    def __init__(self, *, quiet: bool) -> None:
        from rich.console import Console

        self._console = Console(stderr=True, quiet=quiet)
        self._live: Progress | None = None
        self._visible = not quiet and sys.stderr.isatty()
        self._view = ""
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        """Tell the user something, once."""
        if text not in self.notes:
            self.notes.append(text)
            said = f"note: {one_line(text)}"
            self._console.print(said, markup=False, emoji=False, highlight=False, soft_wrap=True)

    def __enter__(self) -> Display:
        if self._visible:
            from rich import progress

            self._live = progress.Progress(
                progress.SpinnerColumn(),
                progress.TextColumn("{task.description}", markup=False),
                progress.BarColumn(bar_width=20),
                progress.TextColumn("{task.fields[detail]}", markup=False),
                progress.TimeElapsedColumn(),
                console=self._console,
                transient=True,
            )
            self._live.add_task("starting", total=None, detail="")
            self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    def __call__(self, event: Event) -> None:
        """Show an event of the library."""
        if self._live is None:
            return
        if event["stage"] == "view":
            self._view = f"view {event['number']} of at most {event['most']}: "
        self._live.update(
            self._live.task_ids[0],
            description=self._view + STAGES[event["stage"]],
            completed=event.get("done", 0),
            total=event.get("total"),
            **_numbers(event),
        )


#: What is done in each stage of the library.
STAGES: dict[Stage, str] = {
    "view": "preparing the search",
    "select": "searching",
    "explore": "alternating",
    "climb": "climbing",
    "solve": "solving",
    "stability": "asking other rows",
    "twins": "asking tables without groups",
    "refine": "refining all views together",
    "frontier": "what novelty costs",
    "components": "separating independent components",
    "merge": "merging dependent components",
    "clusters": "clustering the subspaces",
}


class Detail(TypedDict, total=False):
    """What a line of progress says beside its stage."""

    detail: str


def _numbers(event: Event) -> Detail:
    """Return the detail to show; nothing, which keeps the last one, if an event has no numbers."""
    if "best" in event:
        separation = f"best separation {event['best'].separation:.2f}"
        return {"detail": f"candidate {event['done']} of {event['total']}, {separation}"}
    return {"detail": f"objective {event['objective']:.4g}"} if "objective" in event else {}
