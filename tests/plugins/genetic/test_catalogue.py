"""What is read from a problem's block module."""

import numpy as np
import pytest
from speciate.plugins.genetic.catalogue import Catalogue


def names(source: str) -> list[str]:
    return [block.name for block in Catalogue.of(source).blocks]


@pytest.mark.parametrize("new", ["NewType", "typing.NewType"])
def test_a_new_type_stands_for_the_plain_type_under_it(new: str) -> None:
    catalogue = Catalogue.of(f'Scale = {new}("Scale", float)\n')
    assert catalogue.base("Scale") == "float"
    assert catalogue.is_number("Scale")
    assert catalogue.fits("float", "Scale")
    assert catalogue.fits("Scale", "int")
    assert not catalogue.fits("int", "Scale")


@pytest.mark.parametrize(
    "listing", ['__all__ = ["f"]', '__all__: list[str] = ["f"]', '__all__ = ("f",)', '__all__ = []\n__all__ += ["f"]']
)
def test_only_what_is_exported_is_a_block(listing: str) -> None:
    assert names(f"{listing}\ndef f() -> int: ...\ndef g() -> int: ...\n") == ["f"]


def test_without_a_list_of_exports_public_functions_that_say_what_they_return_are_blocks() -> None:
    assert names("def f() -> int: ...\ndef _g() -> int: ...\ndef h(): ...\n") == ["f"]


def test_a_call_of_a_class_makes_a_value_of_its_type() -> None:
    catalogue = Catalogue.of("class Plan: ...\ndef f(p: Plan) -> float: ...\n")
    assert catalogue.result_of("Plan") == "Plan"
    assert names("class Plan: ...\n") == []


@pytest.mark.parametrize("head", ["f(a, *, b: int)", "f(a: int = 1, /, b: int = 2)"])
def test_a_function_that_a_plain_call_cannot_reach_is_no_block(head: str) -> None:
    assert names(f"def {head} -> int: ...\n") == []


@pytest.mark.parametrize("source", ["def f(:", "x = '\0'", "(" * 5000], ids=["syntax", "null byte", "deep"])
def test_a_module_that_does_not_parse_has_no_blocks(source: str) -> None:
    assert Catalogue.of(source) == Catalogue()


def test_numbers_are_drawn_of_the_type_that_a_parameter_declares() -> None:
    block = Catalogue.of("def f(n: int = 8, x: float = 0.1, s: str = '') -> int: ...\n").blocks[0]
    drawn = [Catalogue().draw(p, np.random.default_rng(1)) for p in block.parameters]
    assert [type(getattr(d, "value", None)) for d in drawn] == [int, float, type(None)]
