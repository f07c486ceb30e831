"""Quality-diversity archives: the best of each cell of a feature space (MAP-Elites, CVT-MAP-Elites)."""

from abc import abstractmethod
from collections.abc import Hashable, Mapping
from functools import cached_property

import numpy as np
from pydantic import Field
from scipy.cluster.vq import kmeans2
from scipy.spatial import KDTree

from ..core.component import ComponentOptions
from ..core.slots import Archive, Newcomer, Placement
from ..core.view import IslandView
from .features import features_of, forget_leavers


class Elites(Archive):
    """Base of archives that keep the best of each cell; a strictly better newcomer alone replaces an elite.

    Nobody leaves but for a better one in the same cell, so that the number of cells in use never falls.
    """

    class Options(ComponentOptions):
        """Options of all archives of elites."""

        features: tuple[str, ...] = Field(
            default=("length", "novelty"),
            min_length=1,
            description="The dimensions: `length`, `novelty`, `fitness` or names of metrics, as raw values.",
        )

    options: Options

    def __init__(self, options: ComponentOptions | None = None) -> None:
        super().__init__(options)
        self._features: dict[int, tuple[float, ...]] = {}
        self._inside: dict[Hashable, set[int]] = {}

    def place(self, view: IslandView, pinned: frozenset[int], newcomer: Newcomer) -> Placement:
        """Keep the newcomer if its cell is free, or in place of those there if it beats all of them."""
        features = features_of(newcomer, self.options.features, "the archive")
        rescaled = self.learn(features)
        if forget_leavers(self._features, view) or rescaled:
            self._inside.clear()
            for id, known in self._features.items():
                self._inside.setdefault(self.cell(known), set()).add(id)
        self._features[newcomer.id] = features
        inside = self._inside.setdefault(self.cell(features), set())
        # Whoever has left the island since stands in its cell's set still, and is no member.
        rivals = np.flatnonzero(np.isin(view.ids, list(inside)))
        inside.add(newcomer.id)
        if not (newcomer.fitness > view.fitness[rivals]).all():
            return Placement(False)
        return Placement(True, tuple(id for id in view.ids[rivals].tolist() if id not in pinned))

    def clear(self) -> None:
        """Forget who was here."""
        self._features.clear()
        self._inside.clear()

    def cells(self, view: IslandView) -> int:
        """Return how many cells are in use."""
        return len({self.cell(self._features[id]) for id in view.ids.tolist()})

    def learn(self, features: tuple[float, ...]) -> bool:
        """Take note of what values there are; return whether cells have changed."""
        return False

    @abstractmethod
    def cell(self, features: tuple[float, ...]) -> Hashable:
        """Return the cell that a point of feature space lies in."""


class MapElites(Elites):
    """The best of each cell of a grid (MAP-Elites, Mouret and Clune 2015), whose cells are split and never merged.

    Cells of a dimension are [k w, (k + 1) w) for all integers k: values without limit, so that an outlier gets a cell
    of its own and moves nobody else's. A width w that is not given is a power of two, about the interquartile range of
    what was seen, divided by half of `bins`. It is only ever halved: members of two cells stay in two cells. Before
    `warmup` programs every value is a cell of its own; who shares a cell after that stays until a better one comes.
    """

    class Options(Elites.Options):
        """Options of `map-elites`."""

        widths: Mapping[str, float] = Field(
            default_factory=dict, description="Width of the cells by feature; what is missing follows the data."
        )
        bins: int = Field(default=10, ge=1, description="About how many cells a dimension has where most programs lie.")
        warmup: int = Field(default=10, ge=4, description="How many programs are seen before widths are derived.")

    options: Options

    def __init__(self, options: ComponentOptions | None = None) -> None:
        super().__init__(options)
        self._reset_scale()

    def clear(self) -> None:
        """Forget everything, widths that were derived included."""
        super().clear()
        self._reset_scale()

    def learn(self, features: tuple[float, ...]) -> bool:
        """Remember the values, and derive narrower widths when as many again were seen as last time."""
        self._seen.append(features)
        if len(self._seen) < self._due:
            return False
        self._due *= 2
        quartiles = np.percentile(np.array(self._seen), [25, 75], axis=0)
        for k, name in enumerate(self.options.features):
            spread = float(quartiles[1, k] - quartiles[0, k])
            if name in self.options.widths or not spread > 0:
                continue
            width = 2.0 ** np.floor(np.log2(2 * spread / self.options.bins))
            self._widths[k] = min(float(width), self._widths[k] or np.inf)
        return True

    def cell(self, features: tuple[float, ...]) -> Hashable:
        """Return the number of the cell in each dimension, or the value itself where there is no width yet."""
        pairs = zip(features, self._widths, strict=True)
        return tuple(value if width is None else float(np.floor(value / width)) for value, width in pairs)

    def _reset_scale(self) -> None:
        self._seen: list[tuple[float, ...]] = []
        self._due = self.options.warmup
        self._widths: list[float | None] = [self.options.widths.get(name) for name in self.options.features]


class CvtMapElites(Elites):
    """The best of each cell of a centroidal Voronoi tessellation (CVT-MAP-Elites, Vassiliades et al. 2018).

    The number of cells does not grow with the number of dimensions. Centroids are the k-means of points drawn in the
    box of `bounds`; a value outside lies in the cell of the box's edge, so that nobody is turned away for it.
    """

    class Options(Elites.Options):
        """Options of `cvt-map-elites`."""

        bounds: Mapping[str, tuple[float, float]] = Field(
            default={"length": (0.0, 4000.0), "novelty": (0.0, 1.0)},
            description="Lowest and highest value of each feature.",
        )
        centroids: int = Field(default=100, ge=1, description="How many cells there are.")
        seed: int = Field(default=0, ge=0, description="Another seed draws another tessellation.")

    options: Options

    def __init__(self, options: ComponentOptions | None = None) -> None:
        super().__init__(options)
        for name in self.options.features:
            low, high = self.options.bounds.get(name, (0.0, 0.0))
            if not low < high:
                raise ValueError(
                    f"cvt-map-elites needs bounds of the feature {name!r}: say bounds.{name} = [low, high]"
                )

    def cell(self, features: tuple[float, ...]) -> Hashable:
        """Return the number of the nearest centroid."""
        bounds = np.array([self.options.bounds[name] for name in self.options.features])
        place = (np.array(features) - bounds[:, 0]) / (bounds[:, 1] - bounds[:, 0])
        return int(self._tree.query(np.clip(place, 0.0, 1.0))[1])

    @cached_property
    def _tree(self) -> KDTree:
        rng = np.random.default_rng(self.options.seed)
        points = rng.random((25 * self.options.centroids, len(self.options.features)))
        start = points[: self.options.centroids].copy()
        centroids, _ = kmeans2(points, start, iter=20, minit="matrix")
        return KDTree(centroids)
