"""Resets and migration by need."""

import numpy as np
from speciate.core.slots import Migration, Move, Reset
from speciate.core.testing import MigrationContract
from speciate.islands.needs import ByDiversity, ByStagnation
from speciate.islands.resets import ResetWorseHalf, Splitting
from speciate.islands.topologies import FullyConnected, Ring
from test_migration import on_island, status

RNG = np.random.default_rng


def contract_of(kind: type[Migration], births: int) -> type[MigrationContract]:
    members = {"component": lambda self: kind(), "births": births}
    return type(f"Test{kind.__name__}", (MigrationContract,), members)


for _kind, _births in ((ResetWorseHalf, 1100), (Splitting, 600), (ByStagnation, 300), (ByDiversity, 100)):
    globals()[f"Test{_kind.__name__}"] = contract_of(_kind, _births)


def test_property_33_the_worse_half_rounded_down_is_founded_by_survivors() -> None:
    views = [on_island(k, [float(k)]) for k in range(5)]
    statuses = [status(k, 1000, float(k)) for k in range(5)]
    plan = ResetWorseHalf().plan(views, statuses, Ring(), RNG(0))
    assert [wish.island for wish in plan if isinstance(wish, Reset)] == [0, 1]
    assert ResetWorseHalf().plan(views, [status(k, 999) for k in range(5)], Ring(), RNG(0)) == ()
    assert ResetWorseHalf().plan(views[:1], statuses[:1], Ring(), RNG(0)) == ()


def test_property_33_every_survivor_may_found() -> None:
    views = [on_island(k, [float(k)]) for k in range(4)]
    statuses = [status(k, 1000, float(k)) for k in range(4)]
    for k, one in enumerate(statuses):
        object.__setattr__(one, "best", 10 + 100 * k)
    founders = {
        founder
        for seed in range(30)
        for wish in ResetWorseHalf().plan(views, statuses, Ring(), RNG(seed))
        if isinstance(wish, Reset)
        for founder in wish.founders
    }
    assert founders == {210, 310}


def test_splitting_settles_half_of_the_best_on_the_worst() -> None:
    views = [on_island(0, [1.0]), on_island(1, [2.0] * 8), on_island(2, [3.0])]
    statuses = [status(0, 500, 1.0), status(1, 500, 9.0), status(2, 500, 3.0)]
    (wish,) = Splitting().plan(views, statuses, Ring(), RNG(0))
    assert isinstance(wish, Reset)
    assert wish.island == 0
    assert wish.founders[0] == 110
    assert len(set(wish.founders)) == 4
    assert set(wish.founders) <= set(views[1].ids.tolist())


def test_a_stagnant_island_is_sent_the_best_of_its_neighbours() -> None:
    views = [on_island(0, [5.0, 4.0, 3.0], seed=[True, False, False]), on_island(1, [1.0]), on_island(2, [2.0])]
    statuses = [status(0, 25), status(1, 25, stagnant=100), status(2, 25, stagnant=99)]
    assert ByStagnation().plan(views, statuses, Ring(), RNG(0)) == (Move(11, 0, 1), Move(12, 0, 1))
    early = [status(0, 24), status(1, 25, stagnant=100), status(2, 25)]
    assert ByStagnation().plan(views, early, Ring(), RNG(0)) == ()


def test_an_island_without_novelty_is_sent_the_most_novel() -> None:
    dull = on_island(0, [1.0] * 20, novelty=[0.01] * 20)
    rich = on_island(1, [1.0] * 20, novelty=[k / 20 for k in range(20)])
    plan = ByDiversity().plan([dull, rich], [status(0, 25), status(1, 25)], FullyConnected(), RNG(0))
    assert plan == (Move(129, 1, 0), Move(128, 1, 0))
