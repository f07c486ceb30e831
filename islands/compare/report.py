"""Writes a report as JSON and CSV, and prints it as tables in a terminal."""

import csv
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from .page import page
from .words import conclusions, flip_words, ranked_arms

COLUMNS = ("budget", "table", "arm", "other", "problem", "quantity", "value", "low", "high")


def write_report(report: Mapping[str, Any], out: Path) -> Path:
    """Write report.json, report.csv and report.html into `out`, and return the path of the last."""
    html = out / "report.html"
    html.write_text(page(report), "utf-8")
    text = json.dumps({**report, "report": str(html)}, ensure_ascii=False, allow_nan=False, indent=1)
    (out / "report.json").write_text(text + "\n", "utf-8")
    with (out / "report.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for budget in report["budgets"]:
            writer.writerows([budget["budget"], *row] for row in _rows(budget))
    return html


def _rows(budget: Mapping[str, Any]) -> Iterator[list[Any]]:
    """Yield every figure of a budget as a row of its own: a table that any program can filter."""
    for name, arm in budget["arms"].items():
        low, high = arm["interval"] or ("", "")
        yield ["arm", name, "", "", "iqm", arm["iqm"], low, high]
        for quantity in ("n", "median", "auc"):
            yield ["arm", name, "", "", quantity, arm[quantity], "", ""]
        if arm["rank"] is not None:
            yield ["arm", name, "", "", "rank", *_ends(arm["rank"])]
        for kind, value in {**arm["cost"], **arm["diversity"]}.items():
            yield ["arm", name, "", "", kind, "" if value is None else value, "", ""]
        for reason, count in arm["refused"].items():
            yield ["refused", name, "", "", reason, count, "", ""]
    for problem, arms in budget["by_problem"].items():
        for name, own in arms.items():
            yield ["problem", name, "", problem, "median", own["median"], own["low"], own["high"]]
    for pair in budget["pairs"]:
        yield ["pair", pair["a"], pair["b"], "", "difference", pair["difference"], *pair["interval"]]
        yield ["pair", pair["a"], pair["b"], "", "improvement", *_ends(pair["improvement"])]
        yield ["pair", pair["a"], pair["b"], "", "p_holm", pair["p_holm"], "", ""]
        yield ["pair", pair["a"], pair["b"], "", "winner", pair["winner"] or "", "", ""]


def _ends(interval: Mapping[str, float]) -> list[float]:
    return [interval["estimate"], interval["low"], interval["high"]]


def print_report(report: Mapping[str, Any], console: Console | None = None) -> None:
    """Print what a person wants to know first: arms, differences, what may not be said, and where the rest is."""
    console = console or Console()
    for budget in report["budgets"]:
        console.print(_arms_table(budget))
        console.print(_cost_table(budget))
        if budget["pairs"]:
            console.print(_pairs_table(budget))
        for line in conclusions(budget):
            console.print(f"  {line}", markup=False, highlight=False)
    for failure in report["failures"]:
        where = f"{failure['arm']} on {failure['problem']}, seed {failure['seed']}"
        console.print(f"failed: {where}: {failure['reason']}", markup=False, highlight=False)
    for line in flip_words(report["flips"]):
        console.print(line, markup=False, highlight=False)
    console.print(report["scale"], markup=False, highlight=False, style="dim")


def _arms_table(budget: Mapping[str, Any]) -> Table:
    table = _empty(budget["budget"], "arm", "rank", "IQM", "95 %", "median", "AUC", "runs")
    for name, arm in ranked_arms(budget):
        rank, spread = arm["rank"], arm["interval"]
        table.add_row(
            name,
            "–" if rank is None else f"{rank['estimate']:g} [{rank['low']:g}–{rank['high']:g}]",
            f"{arm['iqm']:.5g}",
            "–" if spread is None else f"{spread[0]:.5g} … {spread[1]:.5g}",
            f"{arm['median']:.5g}",
            f"{arm['auc']:.5g}",
            str(arm["n"]),
        )
    return table


def _cost_table(budget: Mapping[str, Any]) -> Table:
    table = _empty(None, "mean of a run", "eval.", "prop.", "CPU s", "wall s", "unique", "distance", "refused")
    for name, arm in budget["arms"].items():
        cost, distance = arm["cost"], arm["diversity"]["distance"]
        table.add_row(
            name,
            f"{cost['evaluations']:.0f}",
            f"{cost['proposals']:.0f}",
            f"{cost['cpu_s']:.2f}",
            f"{cost['seconds']:.1f}",
            f"{arm['diversity']['unique']:.2f}",
            "–" if distance is None else f"{distance:.3f}",
            f"{sum(arm['refused'].values()) / arm['n']:.0f}",
        )
    return table


def _empty(title: str | None, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD, pad_edge=False)
    for number, column in enumerate(columns):
        table.add_column(column, justify="right" if number else "left", no_wrap=True)
    return table


MOST_PAIRS = 12


def _pairs_table(budget: Mapping[str, Any]) -> Table:
    shown = sorted(budget["pairs"], key=lambda pair: (pair["p_holm"], pair["p"]))[:MOST_PAIRS]
    left = len(budget["pairs"]) - len(shown)
    caption = f"{left} more pairs are in the report" if left else None
    table = _empty(None, "a − b", "difference", "95 %", "p (Holm)", "P(a > b)", "winner")
    table.caption, table.caption_justify = caption, "left"
    for pair in shown:
        table.add_row(
            f"{pair['a']} − {pair['b']}",
            f"{pair['difference']:+.4g}",
            f"{pair['interval'][0]:+.4g} … {pair['interval'][1]:+.4g}",
            f"{pair['p_holm']:.3g}",
            f"{pair['improvement']['estimate']:.2f}",
            pair["winner"] or "–",
        )
    return table
