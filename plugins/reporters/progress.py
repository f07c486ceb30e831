"""Shows a run as it goes: a live display on a terminal, plain lines elsewhere. All of it goes to standard error."""

import os
import sys
import time
from typing import IO, TYPE_CHECKING, Literal

from pydantic import Field

from ...core.component import ComponentOptions
from ...core.events import IndividualAdmitted, OffspringRefused, RecordBroken, RunEnded, RunStarted
from ...core.slots import Reporter
from .curve import ASCII, BLOCKS, curve
from .tally import Tally

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.live import Live


class Progress(Reporter):
    """Best score and its curve, evaluations a second, refusals by reason, what is left of the budget."""

    class Options(ComponentOptions):
        """Options of `progress`."""

        style: Literal["auto", "live", "plain"] = Field(
            default="auto", description="`auto` is live on a terminal and plain elsewhere."
        )
        every_s: float = Field(default=10.0, gt=0, description="Seconds between two plain lines; records come at once.")

    options: Options

    def __init__(self, options: ComponentOptions | None = None, stream: IO[str] | None = None) -> None:
        super().__init__(options)
        self._stream = stream
        self._tally: Tally | None = None
        self._live: Live | None = None
        self._console: Console | None = None
        self._last_line = 0.0

    def run_started(self, event: RunStarted) -> None:
        """Begin to show."""
        self._tally = Tally(event)
        stream = self._stream or sys.stderr
        if self.options.style == "live" or (self.options.style == "auto" and _is_terminal(stream)):
            from rich.console import Console
            from rich.live import Live

            self._console = Console(file=stream, highlight=False, markup=False)
            self._live = Live(get_renderable=self._render, console=self._console, refresh_per_second=4)
            self._live.start()
            return
        budget = ", ".join(f"{value:g} {name}" for name, value in event.totals.items())
        self._say(f"{event.problem}: {event.objective.direction} {event.objective.name}, seed {event.seed}, {budget}")

    def individual_admitted(self, event: IndividualAdmitted) -> None:
        """Count, and say a line when it is time."""
        if self._tally is None:
            return
        self._tally.admitted(event)
        if self._live is None and time.monotonic() - self._last_line >= self.options.every_s:
            self._say(self._line())

    def offspring_refused(self, event: OffspringRefused) -> None:
        """Count."""
        if self._tally is not None:
            self._tally.refuse(event)

    def record_broken(self, event: RecordBroken) -> None:
        """Note the new best, and say so at once unless it differs by noise only."""
        tally = self._tally
        if tally is None:
            return
        before = tally.best
        tally.record(event)
        noise = max(1e-9, tally.started.objective.resolution)
        if self._live is None and tally.best is not None and (before is None or abs(tally.best - before) > noise):
            self._say(f"{_clock(tally.seconds())} best {tally.best:.10g} by {tally.best_operator} ({tally.best_id})")

    def run_ended(self, event: RunEnded) -> None:
        """Leave the last state on the screen."""
        self.close()

    def close(self) -> None:
        """Give the terminal back."""
        live, self._live = self._live, None
        if live is not None:
            live.stop()

    def _say(self, line: str) -> None:
        self._last_line = time.monotonic()
        print(line, file=self._stream or sys.stderr, flush=True)

    def _line(self) -> str:
        tally = self._tally
        assert tally is not None
        best = "none yet" if tally.best is None else f"{tally.best:.10g}"
        left = tally.left_s()
        refused = sum(tally.refused.values())
        return (
            f"{_clock(tally.seconds())} best {best}, {tally.evaluations} evaluations, {tally.rate():.1f}/s, "
            f"{refused} refused" + ("" if left is None else f", {_clock(left)} left")
        )

    def _render(self) -> "RenderableType":
        from rich.panel import Panel
        from rich.table import Table
        from rich.text import Text

        tally, console = self._tally, self._console
        assert tally is not None
        assert console is not None
        started = tally.started
        rows = Table.grid(padding=(0, 2))
        rows.add_column(style="dim", no_wrap=True)
        rows.add_column(overflow="fold")
        rows.add_row(started.objective.name, Text(self._best_words()))
        width = max(10, min(60, console.width - 24))
        sign = 1.0 if started.objective.direction == "maximise" else -1.0
        drawn = curve([sign * v for v in tally.history], width, marks=BLOCKS if _unicode(console.file) else ASCII)
        rows.add_row("", Text(drawn, style="green"))
        if tally.best_operator:
            rows.add_row("found by", Text(f"{tally.best_operator}, individual {tally.best_id}"))
        rows.add_row("evaluations", Text(_of(tally.evaluations, started.totals.get("evaluations"), tally.rate())))
        rows.add_row("time", Text(_time(tally)))
        refused = ", ".join(f"{count} {reason}" for reason, count in tally.refused.most_common()) or "none"
        rows.add_row("refused", Text(refused))
        title = f"{started.problem} — {started.objective.direction}, seed {started.seed}"
        return Panel(rows, title=Text(title), title_align="left", border_style="blue", width=min(console.width, 90))

    def _best_words(self) -> str:
        tally = self._tally
        assert tally is not None
        if tally.best is None:
            return "no valid program yet"
        words = f"{tally.best:.12g}"
        if tally.valid is not None:
            words += " (valid by the exact oracle)" if tally.valid else " (rejected by the oracle)"
        short = tally.short_of()
        if short is not None:
            words += f", {short:.2g} short of the best known" if short > 1e-12 else ", the best known value"
        return words


def _is_terminal(stream: IO[str]) -> bool:
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def _unicode(stream: IO[str]) -> bool:
    try:
        BLOCKS.encode(getattr(stream, "encoding", None) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def _of(done: int, total: float | None, rate: float) -> str:
    return (f"{done}" if total is None else f"{done} of {total:g}") + f", {rate:.1f}/s"


def _time(tally: Tally) -> str:
    left = tally.left_s()
    return _clock(tally.seconds()) + ("" if left is None else f", {_clock(left)} left")
