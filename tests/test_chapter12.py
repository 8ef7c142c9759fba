"""Chapter 12 of "How To Scale Your Model": what it prints beside what the engine derives or the chips' files hold."""

from __future__ import annotations

import pytest
import sympy as sp
from answers import Row, check, read, rows, same, written

from symscale.collectives import bus_factor, groups_reached
from symscale.vocabulary import symbol


@pytest.mark.parametrize("row", rows("chapter12"), ids=lambda row: row.id)
def test_answers(row: Row) -> None:
    check(row)


def stated(name: str, quantity: str) -> list[sp.Expr]:
    """Return what the equations of a derivation state for a quantity."""
    return [each.rhs for step in written(name).steps for each in step.equations if each.lhs == symbol(quantity)]


def test_groups_that_random_copies_reach() -> None:
    # ch12.formula.alltoall-true: the library's share of groups, and the sum over the draws that finds it
    (found,) = stated("gpus/random", "share_reached")
    assert same(groups_reached(symbol("k"), symbol("Z"), independent=True) / symbol("Z"), found)


@pytest.mark.parametrize(("groups", "excess"), [(4, 1.4629), (8, 1.2083), (64, 1.0238)])
def test_the_bound_on_groups_is_close_only_for_many(groups: int, excess: float) -> None:
    # ch12.text.alltoall-approx-quality
    found = groups_reached(4, groups) / groups_reached(4, groups, independent=True)
    assert float(found) == pytest.approx(excess, rel=1e-4)


def test_bus_bandwidth_is_that_of_a_ring() -> None:
    # ch12.text.bus-bw
    (found,) = stated("gpus/sharp", "W_bus")
    assert found == 210 * 10**9 * bus_factor("AllReduce", 8)


def test_ports_bind_before_nodes_are_crossed_often() -> None:
    # ch12.text.dp-2node, ch12.text.tp-19: where the uplinks of N nodes need more than 7/8 of the ports' tokens
    uplinks, ports = read("C/W_node*(N - 1)/N"), read("7/8*C/W_nvlink")
    rates = {symbol("W_node"): 400, symbol("W_nvlink"): 450, symbol("C"): 1}
    slower = [n for n in range(2, 129) if (uplinks - ports).xreplace({**rates, symbol("N"): n}) > 0]
    assert slower[0] == 5
