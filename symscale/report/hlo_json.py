"""Operations of a compiled module as JSON."""

from __future__ import annotations

import json
from typing import Any

from symscale.hlo import Shape
from symscale.report.hlo import Profile, shardings, utilised

VERSION = "1.0"


def hlo_json(found: Profile) -> str:
    """Return a module as JSON: every operation, totals, and the measurement."""
    document: dict[str, Any] = {
        "schema": f"symscale.hlo/{VERSION}",
        "module": found.module.name,
        "on": found.setting.machine.title if found.setting is not None else None,
        "operations": [_json(found, n) for n in range(len(found.works))],
        "sharded": [
            {"name": name, "shape": shape.text, "parts": split.parts, "copies": split.copies}
            for name, shape, split in shardings(found)
        ],
        "flops": found.flops,
        "seconds": float(found.time) if found.lines else None,
        "seconds_overlapped": float(found.least) if found.lines else None,
        "measured": None if found.measured is None else float(found.measured),
        "of_roofline": None if found.measured is None else float(found.time / found.measured),
        "mfu": None if found.measured is None else float(utilised(found, found.measured)),
    }
    return json.dumps(document, indent=2, ensure_ascii=False)


def _json(found: Profile, n: int) -> dict[str, Any]:
    work, line = found.works[n], found.lines[n] if found.lines else None
    return {
        "name": work.instruction.name,
        "op": work.instruction.op,
        "times": work.times,
        "operands": [_shape(each) for each in work.shapes],
        "results": [_shape(each) for each in work.instruction.results],
        "contractions": [
            {
                "program": each.contraction.program,
                "sizes": dict(each.contraction.sizes),
                "flops": each.contraction.flops,
                "exact_flops": each.contraction.exact_flops,
            }
            for each in work.products
        ],
        "collective": None
        if work.sent is None
        else {
            "kind": str(work.sent.kind),
            "bytes": work.sent.volume,
            "chips": work.sent.chips,
            "axes": work.sent.axes,
            "apart": work.sent.apart,
        },
        "bytes": work.bytes,
        "seconds": None if line is None else {name: float(spent) for name, spent in line.parts.items()},
        "bound": None if line is None else line.bound,
        "notes": line.notes if line is not None else work.notes,
    }


def _shape(shape: Shape) -> dict[str, Any]:
    return {
        "dtype": shape.dtype,
        "dims": shape.dims,
        "minor_to_major": shape.order,
        "tiles": shape.tiles,
        "padded": shape.padded,
        "bytes": shape.bytes,
        "bytes_padded": shape.held,
        "memory": shape.where,
    }
