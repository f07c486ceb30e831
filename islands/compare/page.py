"""The report as one HTML page that holds everything it needs."""

import json
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from .charts import COLOURS, Bar, Line, interval_chart, legend, line_chart
from .words import conclusions, flip_words, ranked_arms

STYLE = """
:root{color-scheme:light dark;--ink:#1a1a1a;--dim:#666;--line:#ddd;--ground:#fff;--panel:#f6f6f4}
@media(prefers-color-scheme:dark){:root{--ink:#e6e6e6;--dim:#9a9a9a;--line:#3a3a3a;--ground:#171717;
  --panel:#202020}
}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--ground);max-width:1080px;
  margin:2rem auto;padding:0 1rem}
h1{font-size:1.5rem}
h2{font-size:1.2rem;margin-top:2.2rem;border-top:1px solid var(--line);padding-top:1rem}
h3{font-size:1rem}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:13px}
td,th{padding:3px 9px;text-align:right;
border-bottom:1px solid var(--line)}
th{color:var(--dim);font-weight:500}
td:first-child,th:first-child{text-align:left}
.wide{overflow-x:auto}
.say{background:var(--panel);padding:.6rem 1rem;border-left:3px solid #3366cc}
.warn{border-color:#dc3912}
.legend span{margin-right:1rem;white-space:nowrap}
.legend i{display:inline-block;width:.8em;height:.8em;margin-right:.35em}
.grid2{display:grid;grid-template-columns:repeat(auto-fit,minmax(420px,1fr));gap:1rem}
.dim{color:var(--dim)}
svg{width:100%;height:auto;font:11px system-ui,sans-serif}
svg text{fill:var(--dim)}
svg .grid{stroke:var(--line);stroke-width:.6}
svg .zero{stroke:var(--ink);stroke-dasharray:4 3}
b.win{color:#109618}
"""

METHOD = (
    "Every arm had the same seeds, problems and budgets; seeds pair the runs. Interquartile means have stratified "
    "bootstrap intervals, and ranks what resampling the seeds makes of them (Agarwal et al. 2021). Differences have "
    "paired percentile bootstrap intervals and Wilcoxon's signed-rank test, corrected by Holm over all pairs of a "
    "budget. A winner is named only where the interval of the difference leaves out 0 and the corrected p-value is "
    "below 0.05. The area under the anytime curve is divided by the budget. A score is the oracle's where the problem "
    "has an oracle."
)


def page(report: Mapping[str, Any]) -> str:
    """Return the page of a report. What is in it is also embedded as JSON, so that the page alone is the record."""
    names = list(dict.fromkeys(name for budget in report["budgets"] for name in budget["arms"]))
    colours = {name: COLOURS[k % len(COLOURS)] for k, name in enumerate(names)}
    seeds, problems = report["seeds"], report["problems"]
    about = (
        f"{len(names)} arms · {_count(len(problems), 'problem')} · {_count(len(seeds), 'seed')} · budgets: "
        + ", ".join(budget["budget"] for budget in report["budgets"])
    )
    parts = [
        f"<h1>Comparison on {escape(', '.join(problems))}</h1>",
        f"<p class='dim'>{escape(about)}<br>{escape(report['scale'])}</p>",
        *(_failure(failure) for failure in report["failures"]),
        *_effect(report, colours),
        *(_section(budget, colours) for budget in report["budgets"]),
        _method(),
    ]
    data = json.dumps(report, allow_nan=False).replace("</", "<\\/")
    return (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'><meta name='viewport' content='width=device-width'>"
        f"<title>speciate compare: {escape(', '.join(problems))}</title><style>{STYLE}</style></head><body>"
        f"{''.join(parts)}<script type='application/json' id='report'>{data}</script></body></html>\n"
    )


def _failure(failure: Mapping[str, Any]) -> str:
    where = f"{failure['arm']} is not ranked. It failed on {failure['problem']}, seed {failure['seed']}:"
    return f"<p class='say warn'>{escape(where)} {escape(failure['reason'])}</p>"


def _effect(report: Mapping[str, Any], colours: Mapping[str, str]) -> list[str]:
    """Return the ranks of the arms over the budgets of a kind, when there are several."""
    parts = []
    kinds = dict.fromkeys(budget["kind"] for budget in report["budgets"])
    for kind in kinds:
        budgets = sorted(
            (b for b in report["budgets"] if b["kind"] == kind and b["ranked"]), key=lambda b: float(b["total"])
        )
        if len(budgets) < 2:
            continue
        rows = []
        for name in colours:
            cells = [_rank_cell(budget["arms"].get(name)) for budget in budgets]
            rows.append([escape(name), *cells])
        parts.append(
            _table(["arm", *(b["budget"] for b in budgets)], rows, f"Effect of budget: rank and score ({kind})")
        )
    lines = flip_words(report["flips"])
    if parts:
        parts.insert(0, "<h2>Effect of budget</h2>")
        parts += [f"<p class='say'>{escape(line)}</p>" for line in lines]
    return parts


def _rank_cell(arm: Mapping[str, Any] | None) -> str:
    if arm is None or arm["rank"] is None:
        return "–"
    rank = arm["rank"]
    return f"{rank['estimate']:g} <span class='dim'>[{rank['low']:g}–{rank['high']:g}]</span> · {arm['iqm']:.4g}"


def _section(budget: Mapping[str, Any], colours: Mapping[str, str]) -> str:
    parts = [f"<h2>{escape(budget['budget'])}</h2>"]
    warn = "" if budget["ranked"] else " warn"
    parts.append(f"<div class='say{warn}'>{'<br>'.join(escape(line) for line in conclusions(budget))}</div>")
    parts.append(_arms(budget))
    shown = {name: colours[name] for name in budget["arms"]}
    parts.append(legend(shown))
    parts.append("<div class='grid2'>")
    for problem, curves in budget["curves"].items():
        lines = [Line(n, shown[n], c["median"], c["low"], c["high"]) for n, c in curves["arms"].items()]
        title = f"<h3>Anytime curves: {escape(problem)} <span class='dim'>median and quartiles of seeds</span></h3>"
        parts.append(
            f"<div>{title}{line_chart(curves['cost'], lines, across=budget['kind'], up='best score so far')}</div>"
        )
    profile = budget["profile"]
    lines = [Line(name, shown[name], shares) for name, shares in profile["arms"].items()]
    chart = line_chart(profile["thresholds"], lines, across="threshold", up="share of runs above it")
    parts.append(f"<div><h3>Performance profiles</h3>{chart}</div>")
    parts.append(f"<div><h3>Final scores: interquartile mean, 95 % interval</h3>{_finals(budget, shown)}</div>")
    parts.append("</div>")
    if budget["pairs"]:
        parts += [_against_best(budget, shown), _pairs(budget)]
    parts += [_costs(budget), _problems(budget)]
    return "".join(parts)


def _finals(budget: Mapping[str, Any], colours: Mapping[str, str]) -> str:
    bars = []
    for name, arm in ranked_arms(budget):
        low, high = arm["interval"] or (arm["iqm"], arm["iqm"])
        bars.append(Bar(name, colours[name], arm["iqm"], low, high))
    return interval_chart(bars, across="score")


def _against_best(budget: Mapping[str, Any], colours: Mapping[str, str]) -> str:
    named = {frozenset((p["a"], p["b"])) for p in budget["pairs"] if p["winner"]}
    arms = ranked_arms(budget)
    best = next((name for name, arm in arms if arm["behind_best"] is None), "")
    bars = []
    for name, arm in arms:
        if (behind := arm["behind_best"]) is not None:
            bold = frozenset((name, best)) in named
            bars.append(Bar(name, colours[name], behind["estimate"], behind["low"], behind["high"], bold))
    chart = interval_chart(bars, across=f"difference to {best}", zero=0.0)
    words = "paired by seed, 95 % bootstrap interval; thick where a winner is named after correction"
    title = f"Against the arm with the best interquartile mean, {escape(best)}"
    return f"<h3>{title} <span class='dim'>{words}</span></h3>{chart}"


def _arms(budget: Mapping[str, Any]) -> str:
    rows = []
    for name, arm in ranked_arms(budget):
        spread, rank = arm["interval"], arm["rank"]
        rows.append(
            [
                escape(name),
                "–" if rank is None else f"{rank['estimate']:g} [{rank['low']:g}–{rank['high']:g}]",
                f"{arm['iqm']:.5g}",
                "–" if spread is None else f"{spread[0]:.5g} … {spread[1]:.5g}",
                f"{arm['median']:.5g}",
                f"{arm['auc']:.5g}",
                str(arm["n"]),
            ]
        )
    return _table(["arm", "rank [95 %]", "IQM", "95 %", "median", "AUC", "runs"], rows)


def _pairs(budget: Mapping[str, Any]) -> str:
    rows = []
    for pair in sorted(budget["pairs"], key=lambda pair: (pair["p_holm"], pair["p"])):
        better = pair["improvement"]
        rows.append(
            [
                escape(f"{pair['a']} − {pair['b']}"),
                f"{pair['difference']:+.4g}",
                f"{pair['interval'][0]:+.4g} … {pair['interval'][1]:+.4g}",
                f"{pair['p_holm']:.3g}",
                f"{better['estimate']:.2f} [{better['low']:.2f}–{better['high']:.2f}]",
                f"{pair['wins']}:{pair['losses']}",
                "–" if pair["needed"] is None else str(pair["needed"]),
                f"<b class='win'>{escape(pair['winner'])}</b>" if pair["winner"] else "–",
            ]
        )
    head = ["a − b", "difference", "95 %", "p (Holm)", "P(a > b)", "wins", "pairs needed", "winner"]
    return _table(head, rows, "Every two arms, paired by seed")


def _costs(budget: Mapping[str, Any]) -> str:
    reasons = sorted({reason for arm in budget["arms"].values() for reason in arm["refused"]})
    kinds = ("evaluations", "proposals", "model_calls", "seconds", "cpu_s")
    rows = []
    for name, arm in budget["arms"].items():
        distance, cycles = arm["diversity"]["distance"], arm["diversity"]["cycles"]
        rows.append(
            [
                escape(name),
                *(f"{arm['cost'][kind]:.4g}" for kind in kinds),
                *(str(arm["refused"].get(reason, 0)) for reason in reasons),
                f"{arm['diversity']['unique']:.3f}",
                "–" if distance is None else f"{distance:.3f}",
                "–" if cycles is None else f"{cycles:.3f}",
            ]
        )
    head = [
        "arm",
        "evaluations",
        "proposals",
        "model calls",
        "seconds",
        "candidates' CPU s",
        *reasons,
        "unique",
        "distance",
        "lines returned",
    ]
    return _table(head, rows, "Cost (mean of a run), refusals (all runs), diversity of what was evaluated")


def _problems(budget: Mapping[str, Any]) -> str:
    problems = list(budget["by_problem"])
    if len(problems) < 2:
        return ""
    rows = []
    for name in budget["arms"]:
        own = [budget["by_problem"][problem][name] for problem in problems]
        rows.append([escape(name), *(f"{o['median']:.5g} [{o['low']:.5g} … {o['high']:.5g}]" for o in own)])
    return _table(["arm", *map(escape, problems)], rows, "By problem: median and quartiles of the metric")


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], title: str = "") -> str:
    top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    heading = f"<h3>{escape(title)}</h3>" if title else ""
    return f"{heading}<div class='wide'><table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>"


def _method() -> str:
    return f"<h2>How this was computed</h2><p class='dim'>{escape(METHOD)}</p>"


def _count(n: int, word: str) -> str:
    return f"{n} {word}{'' if n == 1 else 's'}"
