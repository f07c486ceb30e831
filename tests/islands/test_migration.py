"""Topologies and copying migration."""

import numpy as np
from speciate.core.slots import IslandStatus, Move, Reset
from speciate.core.view import IslandView
from speciate.islands.migration import Copying
from speciate.islands.topologies import FullyConnected, Ring
from test_selectors import view_of


def on_island(number: int, fitness: list[float], **flags: list[bool]) -> IslandView:
    view = view_of(fitness)
    columns = {name: getattr(view, name) for name in IslandView.__slots__}
    columns.update(island=number, ids=view.ids + 100 * number)
    columns.update({name: np.array(values) for name, values in flags.items()})
    return IslandView(**columns)


def status(number: int, since: int, best: float = 1.0, stagnant: int = 0) -> IslandStatus:
    return IslandStatus(number, 100, since, stagnant, 110, best)


def plan(options: Copying.Options, views: list[IslandView], statuses: list[IslandStatus]) -> tuple[Move | Reset, ...]:
    return Copying(options).plan(views, statuses, Ring(), np.random.default_rng(0))


def test_a_ring_sends_to_the_next() -> None:
    assert [Ring().targets(i, 4) for i in range(4)] == [(1,), (2,), (3,), (0,)]
    assert Ring().targets(0, 1) == ()


def test_in_a_full_topology_everyone_is_a_neighbour() -> None:
    assert FullyConnected().targets(1, 4) == (0, 2, 3)
    assert FullyConnected().targets(0, 1) == ()


def test_nothing_happens_before_the_interval() -> None:
    views = [on_island(0, [1.0]), on_island(1, [2.0])]
    assert plan(Copying.Options(interval=10), views, [status(0, 9), status(1, 50)]) == ()


def test_the_best_travel_and_neither_seeds_nor_migrants() -> None:
    views = [
        on_island(0, [5.0, 4.0, 3.0, 2.0], seed=[True, False, False, False], migrant=[False, True, False, False]),
        on_island(1, [1.0]),
    ]
    moves = plan(Copying.Options(interval=10, migrants=1), views, [status(0, 10), status(1, 10)])
    assert moves == (Move(12, 0, 1), Move(110, 1, 0))


def test_the_better_half_of_a_lone_island_that_stagnates_retires_and_its_seeds_stay() -> None:
    views = [on_island(0, [5.0, 6.0, 4.0, 1.0, 2.0], seed=[False, True, False, False, False])]
    options = Copying.Options(retirement=50)
    assert plan(options, views, [status(0, 10, stagnant=49)]) == ()
    assert plan(options, views, [status(0, 10, stagnant=50)]) == (Reset(0, (11, 13, 14)),)
    assert plan(Copying.Options(retirement=None), views, [status(0, 10, stagnant=999)]) == ()


def test_where_all_are_equal_the_seeds_alone_go_on() -> None:
    views = [on_island(0, [5.0, 5.0, 5.0], seed=[True, False, False])]
    assert plan(Copying.Options(), views, [status(0, 10, stagnant=300)]) == (Reset(0, (10,)),)


def test_a_stagnant_island_is_founded_anew_by_the_best_of_a_better_one() -> None:
    views = [on_island(0, [5.0]), on_island(1, [1.0])]
    statuses = [status(0, 10, 5.0, stagnant=99), status(1, 10, 1.0, stagnant=99)]
    moves = plan(Copying.Options(interval=10, migrants=0, stagnation=50), views, statuses)
    assert moves == (Reset(1, (110,)),)
    assert plan(Copying.Options(interval=10, migrants=0, stagnation=None), views, statuses) == ()
