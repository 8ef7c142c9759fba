"""Chapter 1 of "How To Scale Your Model": what it prints beside what the engine derives."""

from __future__ import annotations

import pytest
from answers import Row, check, read, rows, same, written

from symscale.vocabulary import symbol


@pytest.mark.parametrize("row", rows("chapter1"), ids=lambda row: row.id)
def test_answers(row: Row) -> None:
    check(row)


def test_tiles_that_cover_the_matrices_give_the_plain_product() -> None:
    # ch1.formula.tiled-*: one tile of m x k and k x n is the product of the chapter's first example
    tiled = {each.lhs: each.rhs for step in written("roofline/tiles").steps for each in step.equations}
    one = {symbol(f"t_{dim}"): read("1") for dim in "mnk"} | {symbol(f"b_{dim}"): read(dim) for dim in "mnk"}
    plain = {each.lhs: each.rhs for step in written("roofline/matmul").steps for each in step.equations}
    sizes = {symbol("B"): read("m"), symbol("D"): read("k"), symbol("F"): read("n")}
    for quantity in map(symbol, ("FLOPs", "bytes_hbm")):
        assert same(tiled[quantity].subs(one), plain[quantity].subs(sizes))


def test_weights_on_several_chips_move_the_borders_alone() -> None:
    # ch1.claim.per-replica: in the limit the batch is that of one chip; exactly, D counts X times
    whole, parts = (written(f"roofline/{name}").crossovers[0].answers[0] for name in ("matmul", "sharded-weights"))
    one, several = (each.cases[0].intervals[0].lo for each in (whole, parts))
    assert same(several.subs(symbol("X"), 1), one)
    assert same(several.subs(symbol("F"), read("F*X")), one)
