"""The bounded archive, and the best children of each parent: size, pins, and what is alike."""

from speciate.core.objective import Objective
from speciate.core.slots import Newcomer, Placement
from speciate.core.testing.samples import view_of as view_of_members
from speciate.islands.archives import Bounded, TopPerParent
from test_selectors import view_of


def newcomer(fitness: float) -> Newcomer:
    return Newcomer(99, fitness, 10, 1.0, {})


def bounded(size: int, alike: int = 2, resolution: float = 0.0) -> Bounded:
    archive = Bounded(Bounded.Options(size=size, alike=alike))
    archive.open(Objective("score", resolution=resolution))
    return archive


def test_there_is_room_until_it_is_full() -> None:
    assert bounded(4).place(view_of([1.0, 2.0, 3.0]), frozenset(), newcomer(0.0)) == Placement(True)


def test_a_better_one_takes_the_place_of_the_worst() -> None:
    assert bounded(3).place(view_of([2.0, 1.0, 3.0]), frozenset(), newcomer(1.5)) == Placement(True, (11,))


def test_of_equally_bad_ones_the_youngest_leaves() -> None:
    assert bounded(3).place(view_of([1.0, 1.0, 3.0]), frozenset(), newcomer(1.5)) == Placement(True, (11,))


def test_one_that_is_not_better_is_not_kept() -> None:
    assert bounded(2).place(view_of([1.0, 2.0]), frozenset(), newcomer(1.0)) == Placement(False)


def test_the_pinned_do_not_leave() -> None:
    assert bounded(2).place(view_of([1.0, 2.0]), frozenset({10}), newcomer(3.0)) == Placement(True, (11,))
    assert bounded(2).place(view_of([1.0, 2.0]), frozenset({10, 11}), newcomer(3.0)).evicted == ()


def test_what_is_alike_replaces_its_oldest_like() -> None:
    view = view_of([5.0, 5.0 + 1e-12, 1.0])
    assert bounded(10, 2, 1e-9).place(view, frozenset(), newcomer(5.0 - 1e-12)) == Placement(True, (10,))
    assert bounded(10, 2, 1e-9).place(view, frozenset({10}), newcomer(5.0)) == Placement(True, (11,))
    assert bounded(10, 2, 1e-9).place(view, frozenset({10, 11}), newcomer(5.0)) == Placement(False)


def test_without_a_resolution_equals_are_as_welcome_as_others() -> None:
    assert bounded(10).place(view_of([5.0] * 6), frozenset(), newcomer(5.0)) == Placement(True)


def top(size: int = 10, children: int = 2) -> TopPerParent:
    return TopPerParent(TopPerParent.Options(size=size, children=children))


def child(id: int, fitness: float, parent: int | None) -> Newcomer:
    return Newcomer(id, fitness, 10, 1.0, {}, parent)


def test_a_third_child_takes_the_place_of_the_worse_of_two() -> None:
    members = view_of_members([child(0, 0.0, None), child(1, 3.0, 0), child(2, 2.0, 0), child(3, 1.0, 1)])
    assert top().place(members, frozenset({0, 1}), child(4, 2.5, 0)) == Placement(True, (2,))
    assert top().place(members, frozenset({0, 1}), child(4, 2.0, 0)) == Placement(False)
    assert top().place(members, frozenset({0, 1}), child(4, 0.5, 1)) == Placement(True)


def test_a_full_archive_gives_up_its_worst_for_an_only_child() -> None:
    members = view_of_members([child(0, 0.0, None), child(1, 3.0, 0), child(2, 2.0, 1)])
    assert top(size=3).place(members, frozenset({0, 1}), child(3, 2.5, 2)) == Placement(True, (2,))
    assert top(size=3).place(members, frozenset({0, 1}), child(3, 1.5, 2)) == Placement(False)


def test_a_seed_is_nobodys_child_and_stays() -> None:
    members = view_of_members([child(0, -9.0, None), child(1, 3.0, 0)])
    assert top(size=2, children=1).place(members, frozenset({0}), child(2, 4.0, None)) == Placement(True, (1,))
