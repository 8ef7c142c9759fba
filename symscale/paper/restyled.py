"""Figures and tables as a document words them: symbols that are renamed are renamed in all of their words."""

from __future__ import annotations

from dataclasses import replace

from symscale.derivation.figure import Figure
from symscale.derivation.sheet import Cell, Sheet
from symscale.notation.order import Order
from symscale.paper.widths import Width
from symscale.paper.words import renamed
from symscale.report.lines import MARGINS, WIDTH
from symscale.report.picture import fitted

NATURAL = MARGINS[0] + WIDTH + MARGINS[2]  # of a figure that is not asked to be narrower or wider


def figure_in(figure: Figure, order: Order, width: Width) -> Figure:
    """Return a figure whose formulas and words are printed in an order, laid out for a width."""
    if width.said or width.centimetres < NATURAL:
        figure = fitted(figure, width.centimetres)
    if not order.written:
        return replace(figure, order=order)
    plane = figure.map
    return replace(
        figure,
        order=order,
        caption=renamed(figure.caption, order),
        setting=renamed(figure.setting, order),
        x=replace(figure.x, label=renamed(figure.x.label, order)),
        y=replace(figure.y, label=renamed(figure.y.label, order)),
        curves=tuple(replace(each, label=renamed(each.label, order)) for each in figure.curves),
        marks=tuple(replace(each, label=renamed(each.label, order)) for each in figure.marks),
        map=plane
        and replace(plane, areas=tuple(replace(each, label=renamed(each.label, order)) for each in plane.areas)),
    )


def sheet_in(sheet: Sheet, order: Order) -> Sheet:
    """Return a table whose heads and words are printed in an order."""

    def said(cell: Cell) -> Cell:
        return renamed(cell, order) if isinstance(cell, str | tuple) else cell

    if not order.written:
        return sheet
    return replace(sheet, rows=tuple(tuple(map(said, row)) for row in sheet.rows))
