"""What the fields of a page read numbers and units by: the patterns and words of Python's reader, as a script."""

from __future__ import annotations

import json

from symscale.exercise.reading import LONGEST
from symscale.exercise.wording import JOINED, THE_ANSWER
from symscale.quantity.dimension import Dimension
from symscale.quantity.literal import GROUPED, NUMBER
from symscale.quantity.unit import confused_words, prefix_words, unit_words


def reading_script() -> str:
    """Return the patterns of numbers and the table of units: words that share a unit stand together."""
    shared: dict[tuple[str, str, tuple[int, ...], str], list[str]] = {}
    for word, (unit, prefixes) in unit_words().items():
        key = (str(unit.factor.p), str(unit.factor.q), _exponents(unit.dimension), prefixes)
        shared.setdefault(key, []).append(word)
    rows = [[" ".join(words), *key] for key, words in shared.items()]
    scales = {prefix: [str(size.p), str(size.q), kind] for prefix, (size, kind) in prefix_words().items()}
    parts = {
        "NUMBER": NUMBER,
        "GROUPED": GROUPED,
        "JOINED": JOINED.pattern,
        "THE_ANSWER": THE_ANSWER.pattern,
        "LONGEST": LONGEST,
        "UNIT_ROWS": rows,
        "SCALES": scales,
        "CONFUSED": confused_words(),
    }
    return "\n".join(f"const {name} = {json.dumps(value, ensure_ascii=False)};" for name, value in parts.items())


def _exponents(dimension: Dimension) -> tuple[int, ...]:
    return tuple(int(each) for each in (dimension.byte, dimension.second, dimension.dollar, dimension.joule))
