"""The contracts of what makes an island model: selector, inspirations, archive, topology, migration."""

import random
from collections.abc import Iterator

import numpy as np

from ..slots import (
    Archive,
    Inspirations,
    IslandStatus,
    Migration,
    Move,
    Newcomer,
    Placement,
    Reset,
    Selector,
    Topology,
)
from ..view import IslandView
from .component_contract import ComponentContract
from .samples import VIEWS, island_view, newcomer, view_of


class SelectorContract(ComponentContract):
    """What the engine relies on in a selector."""

    def component(self) -> Selector:
        """Return a new instance; every test asks for its own."""
        raise NotImplementedError("define `component`")

    def test_it_returns_a_member_of_the_view(self) -> None:
        for name, view in VIEWS.items():
            selector, rng = self.component(), np.random.default_rng(1)
            for _ in range(20):
                chosen = selector.select(view, rng)
                assert isinstance(chosen, int), f"{name}: {chosen!r} is no int; say int(…)"
                assert chosen in view.ids, f"{name}: {chosen} is not among the ids"

    def test_equal_generators_draw_equal_parents(self) -> None:
        for name, view in VIEWS.items():
            drawn = [self._draws(view, seed) for seed in (7, 7)]
            assert drawn[0] == drawn[1], f"{name}: the draw depends on something beside the view and the generator"

    def test_it_draws_from_its_generator_alone(self) -> None:
        view = VIEWS["forty members"]
        global_states = random.getstate(), np.random.get_state()[1].tobytes()  # type: ignore[index]
        self._draws(view, 3)
        now = random.getstate(), np.random.get_state()[1].tobytes()  # type: ignore[index]
        assert now == global_states, "global random state was used; draw from `rng`"

    def test_it_keeps_no_memory_of_other_views(self) -> None:
        view, other = VIEWS["forty members"], VIEWS["a thousand members"]
        selector = self.component()
        selector.select(other, np.random.default_rng(0))
        later = selector.select(view, np.random.default_rng(5))
        fresh = self.component().select(view, np.random.default_rng(5))
        assert later == fresh, "a selector is a function of the view and the generator, nothing else"

    def _draws(self, view: IslandView, seed: int) -> list[int]:
        selector, rng = self.component(), np.random.default_rng(seed)
        return [selector.select(view, rng) for _ in range(20)]


class InspirationsContract(ComponentContract):
    """What the engine relies on in the choice of inspirations."""

    def component(self) -> Inspirations:
        """Return a new instance; every test asks for its own."""
        raise NotImplementedError("define `component`")

    def test_it_chooses_distinct_members_other_than_the_parent(self) -> None:
        for name, view in VIEWS.items():
            parent = int(view.ids[0])
            for count in (0, 1, 3, 10_000):
                chosen = self.component().choose(view, parent, count, np.random.default_rng(count))
                assert len(chosen) <= count, f"{name}: {len(chosen)} inspirations where {count} were wanted"
                assert len(set(chosen)) == len(chosen), f"{name}: an inspiration twice in {chosen}"
                assert parent not in chosen, f"{name}: the parent inspires itself"
                assert set(chosen) <= set(view.ids.tolist()), f"{name}: {chosen} are not all among the ids"

    def test_equal_generators_choose_equal_inspirations(self) -> None:
        for name, view in VIEWS.items():
            first, second = (
                self.component().choose(view, int(view.ids[0]), 4, np.random.default_rng(7)) for _ in range(2)
            )
            assert first == second, f"{name}: the choice depends on something beside its arguments"


_Step = tuple[IslandView, frozenset[int], Newcomer, Placement]


class ArchiveContract(ComponentContract):
    """What the engine relies on in an archive. `bound` is the largest size that it may reach, or None."""

    bound: int | None = None

    def component(self) -> Archive:
        """Return a new instance; every test asks for its own."""
        raise NotImplementedError("define `component`")

    def test_the_first_one_stays(self) -> None:
        placement = self.component().place(island_view(0), frozenset(), newcomer(0, 1.0))
        assert placement == Placement(True), "an empty archive refuses nobody and evicts nobody"

    def test_only_members_that_are_not_pinned_leave(self) -> None:
        for view, pinned, new, placement in self._history(300):
            members = set(view.ids.tolist())
            assert set(placement.evicted) <= members, f"{placement.evicted} are not all members"
            assert not set(placement.evicted) & pinned, f"a pinned member is among the evicted {placement.evicted}"
            assert len(set(placement.evicted)) == len(placement.evicted), "a member is evicted twice"
            assert new.id not in placement.evicted, "a newcomer that does not stay is not kept, never evicted"

    def test_its_size_stays_bounded(self) -> None:
        if self.bound is None:
            return
        largest = max(len(view) for view, *_ in self._history(300 + 3 * self.bound))
        assert largest <= self.bound, f"{largest} members where at most {self.bound} may be"

    def test_equal_histories_give_equal_archives(self) -> None:
        first, second = ([placement for *_, placement in self._history(200)] for _ in range(2))
        assert first == second, "a placement depends on something beside what was placed before"

    def test_a_cleared_archive_is_as_new(self) -> None:
        archive = self.component()
        list(self._history(100, archive))
        archive.clear()
        again = [placement for *_, placement in self._history(100, archive)]
        fresh = [placement for *_, placement in self._history(100)]
        assert again == fresh, "after `clear` an archive still remembers"

    def _history(self, births: int, archive: Archive | None = None) -> Iterator[_Step]:
        """Yield (view, pinned, newcomer, placement) of each birth on an island that does what the archive says."""
        archive = archive if archive is not None else self.component()
        rng = np.random.default_rng(4)
        members: list[Newcomer] = []
        for id in range(births):
            parent = int(rng.choice([member.id for member in members])) if members else None
            new = newcomer(id, float(rng.normal()), int(rng.integers(1, 2000)), float(rng.random()), parent)
            best = max(members, key=lambda member: member.fitness, default=None)
            pinned = frozenset({0} if best is None else {0, best.id}) & {member.id for member in members}
            view = view_of(members)
            placement = archive.place(view, pinned, new)
            yield view, pinned, new, placement
            if placement.kept:
                members = [m for m in members if m.id not in placement.evicted or m.id in pinned]
                members.append(new)


class TopologyContract(ComponentContract):
    """What the engine relies on in a topology."""

    def component(self) -> Topology:
        """Return a new instance; every test asks for its own."""
        raise NotImplementedError("define `component`")

    def test_targets_are_other_islands(self) -> None:
        for count in (1, 2, 3, 4, 5, 8, 13, 64):
            for island in range(count):
                targets = self.component().targets(island, count)
                assert island not in targets, f"island {island} of {count} is its own target"
                assert len(set(targets)) == len(targets), f"a target twice in {targets}"
                assert all(0 <= target < count for target in targets), f"{targets} of {count} islands"

    def test_targets_do_not_change(self) -> None:
        topology = self.component()
        for island in range(5):
            assert topology.targets(island, 5) == self.component().targets(island, 5), "neighbours must not change"


class MigrationContract(ComponentContract):
    """What the engine relies on in a migration. `topology` is what the tests give it."""

    births: int = 200
    """How many births the tests let pass; more when the component rarely acts."""

    def component(self) -> Migration:
        """Return a new instance; every test asks for its own."""
        raise NotImplementedError("define `component`")

    def test_it_moves_only_members_to_neighbours(self) -> None:
        views = [island_view(12, island, island=island, first=100 * island) for island in range(4)]
        for wish in self._wishes(views):
            if isinstance(wish, Move):
                assert wish.individual in views[wish.source].ids, f"{wish}: not a member of its source"
                assert wish.target in _AllButSelf().targets(wish.source, len(views)), f"{wish}: not a neighbour"
            else:
                assert 0 <= wish.island < len(views), f"{wish}: there is no such island"
                members = {id for view in views for id in view.ids.tolist()}
                assert wish.founders, f"{wish}: an island needs a founder"
                assert set(wish.founders) <= members, f"{wish}: founders are members of an island"

    def test_it_needs_nobody_to_migrate(self) -> None:
        assert not [w for w in self._wishes([island_view(12)]) if isinstance(w, Move)], "one island has no neighbour"

    def test_equal_generators_make_equal_plans(self) -> None:
        views = [island_view(12, island, island=island, first=100 * island) for island in range(3)]
        assert self._wishes(views) == self._wishes(views), "a plan depends on something beside its arguments"

    def _wishes(self, views: list[IslandView]) -> list[Move | Reset]:
        migration, rng = self.component(), np.random.default_rng(2)
        wishes: list[Move | Reset] = []
        since = 0
        for birth in range(1, self.births + 1):
            since += 1
            statuses = [
                IslandStatus(v.island, birth, since, birth // 2, int(v.ids[v.fitness.argmax()]), float(v.fitness.max()))
                for v in views
            ]
            plan = migration.plan(views, statuses, _AllButSelf(), rng)
            wishes.extend(plan)
            since = 0 if plan else since
        return wishes


class _AllButSelf(Topology):
    """Every island lies next to every other."""

    def targets(self, island: int, count: int) -> tuple[int, ...]:
        return tuple(other for other in range(count) if other != island)
