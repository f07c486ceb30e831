"""Registers every component that comes with speciate, and logs diversity, through the hooks that everyone uses."""

import threading
from pathlib import Path
from typing import TYPE_CHECKING

from ..core.hooks import hookimpl

if TYPE_CHECKING:
    from ..core.events import IndividualAdmitted, RunStarted
    from ..core.registry import Registry

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = __package__.rpartition(".")[0]


@hookimpl
def register(registry: "Registry") -> None:
    """Register by name what is imported on first use, and by path what is a file."""
    for slot, name, target in COMPONENTS:
        registry.add(slot, name, f"{PACKAGE}.{target}")
    for slot, name, target, extra in WITH_EXTRAS:
        registry.add(slot, name, f"{PACKAGE}.{target}", extra=extra)
    for path in sorted((ROOT / "plugins" / "presets").glob("*.toml")):
        registry.add("preset", path.stem, path)
    for path in sorted((ROOT / "problems").glob("*/problem.toml")):
        registry.add("problem", path.parent.name, path.parent)


@hookimpl
def run_started(event: "RunStarted") -> None:
    """Begin to log the diversity of a run. A run's events come in one thread, so that runs side by side are apart."""
    from .reporters.diversity import DiversityLog  # only here: listing components must stay quick

    _THREAD.diversity = DiversityLog(event)


@hookimpl
def individual_admitted(event: "IndividualAdmitted") -> None:
    """Let the log measure when it is time."""
    diversity = getattr(_THREAD, "diversity", None)
    if diversity is not None:
        diversity.admit(event)


@hookimpl
def run_ended() -> None:
    """Forget the run."""
    _THREAD.diversity = None


_THREAD = threading.local()

COMPONENTS = (
    ("operator", "genetic", "plugins.genetic.operator:Genetic"),
    ("operator", "diff", "plugins.edits.operators:Diff"),
    ("operator", "rewrite", "plugins.edits.operators:Rewrite"),
    ("operator", "crossover", "plugins.edits.operators:Crossover"),
    ("operator", "elsewhere", "plugins.edits.operators:Elsewhere"),
    ("operator", "tune", "plugins.edits.operators:Tune"),
    ("policy", "scripted", "plugins.policies.scripted:Scripted"),
    ("selector", "novel", "islands.selectors:Novel"),
    ("selector", "shinka", "islands.selectors:Shinka"),
    ("selector", "power-law", "islands.selectors:PowerLaw"),
    ("selector", "greedy", "islands.selectors:Greedy"),
    ("selector", "uniform", "islands.selectors:Uniform"),
    ("selector", "tournament", "islands.selectors_classic:Tournament"),
    ("selector", "truncation", "islands.selectors_classic:Truncation"),
    ("selector", "fitness-proportional", "islands.selectors_classic:FitnessProportional"),
    ("selector", "boltzmann", "islands.selectors_classic:Boltzmann"),
    ("selector", "novelty-only", "islands.selectors_classic:NoveltyOnly"),
    ("selector", "dgm", "islands.selectors_published:Dgm"),
    ("selector", "hyperagents", "islands.selectors_published:Hyperagents"),
    ("selector", "aflow", "islands.selectors_published:Aflow"),
    ("selector", "puct", "islands.selectors_puct:Puct"),
    ("selector", "gepa", "islands.selectors_published:Gepa"),
    ("selector", "funsearch", "islands.selectors_published:FunSearch"),
    ("selector", "openevolve", "islands.selectors_published:OpenEvolve"),
    ("selector", "best-first", "islands.selectors_published:BestFirst"),
    ("selector", "seeds", "islands.selectors_classic:Seeds"),
    ("selector", "ucb", "islands.selectors_bandit:Ucb"),
    ("selector", "thompson", "islands.selectors_bandit:Thompson"),
    ("selector", "lexicase", "islands.selectors_lexicase:Lexicase"),
    ("selector", "epsilon-lexicase", "islands.selectors_lexicase:EpsilonLexicase"),
    ("inspirations", "none", "islands.inspirations:NoInspirations"),
    ("inspirations", "uniform", "islands.inspirations:UniformInspirations"),
    ("inspirations", "best", "islands.inspirations:BestInspirations"),
    ("inspirations", "diverse", "islands.inspirations:DiverseInspirations"),
    ("inspirations", "nearest-better", "islands.inspirations:NearestBetter"),
    ("inspirations", "mixed", "islands.inspirations:MixedInspirations"),
    ("operator", "bits", "plugins.bits:Bits"),
    ("embedder", "bits", "plugins.bits:BitsEmbedder"),
    ("embedder", "ast-ngrams", "plugins.embedders.ngrams:AstNgrams"),
    ("novelty", "cosine", "islands.novelty:Cosine"),
    ("archive", "bounded", "islands.archives:Bounded"),
    ("archive", "top-per-parent", "islands.archives:TopPerParent"),
    ("archive", "unbounded", "islands.archives:Unbounded"),
    ("archive", "map-elites", "islands.elites:MapElites"),
    ("archive", "cvt-map-elites", "islands.elites:CvtMapElites"),
    ("archive", "pareto", "islands.fronts:ParetoFront"),
    ("archive", "novelty", "islands.fronts:NoveltyArchive"),
    ("topology", "none", "islands.topologies:NoNeighbours"),
    ("topology", "ring", "islands.topologies:Ring"),
    ("topology", "star", "islands.topologies:Star"),
    ("topology", "torus", "islands.topologies:Torus"),
    ("topology", "full", "islands.topologies:FullyConnected"),
    ("topology", "random-regular", "islands.topologies:RandomRegular"),
    ("migration", "copying", "islands.migration:Copying"),
    ("migration", "by-stagnation", "islands.needs:ByStagnation"),
    ("migration", "by-diversity", "islands.needs:ByDiversity"),
    ("migration", "reset-worse-half", "islands.resets:ResetWorseHalf"),
    ("migration", "splitting", "islands.resets:Splitting"),
    ("sandbox", "forkserver", "plugins.sandboxes.forkserver:ForkServer"),
    ("sandbox", "auto", "plugins.sandboxes.auto:AutoSandbox"),
    ("sandbox", "process", "plugins.sandboxes.process:ProcessSandbox"),
    ("executor", "local", "plugins.executors.local:LocalExecutor"),
    ("reporter", "progress", "plugins.reporters.progress:Progress"),
    ("comparison", "paired", "islands.compare.paired:Paired"),
)
"""Slot, name and `module:Class` below the package."""

WITH_EXTRAS = (
    ("sandbox", "docker", "plugins.sandboxes.docker:DockerSandbox", "docker"),
    ("embedder", "openai", "plugins.embedders.endpoint:OpenAIEmbedder", "openai"),
    (
        "embedder",
        "sentence-transformers",
        "plugins.embedders.sentences:SentenceTransformers",
        "sentence-transformers",
    ),
)
"""The same, with the extra that must be installed."""
