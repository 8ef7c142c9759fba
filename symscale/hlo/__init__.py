"""Compiled modules: what their operations are, and how long they take at least."""

from symscale.hlo.contraction import Contraction
from symscale.hlo.module import Computation, Instruction, Module
from symscale.hlo.placing import Setting
from symscale.hlo.reader import read_hlo
from symscale.hlo.roofline import Roofline, roofline, together, total
from symscale.hlo.shape import Shape, address, indices, inside
from symscale.hlo.work import Product, Work, work_of

__all__ = [
    "Computation",
    "Contraction",
    "Instruction",
    "Module",
    "Product",
    "Roofline",
    "Setting",
    "Shape",
    "Work",
    "address",
    "indices",
    "inside",
    "read_hlo",
    "roofline",
    "together",
    "total",
    "work_of",
]
