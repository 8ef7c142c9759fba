"""The one family of errors: what was wrong, where (a caret), and what would be right."""

from __future__ import annotations


class SymscaleError(ValueError):
    """An input that cannot be answered.

    `text` and `position` place a caret under the offending character; `hint` says what would be right.
    """

    def __init__(self, message: str, *, text: str = "", position: int | None = None, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.text = text
        self.position = position
        self.hint = hint

    def __str__(self) -> str:
        parts = [self.message]
        if self.text and self.position is not None:
            parts.append(caret(self.text, self.position))
        if self.hint:
            parts.append(self.hint)
        return "\n".join(parts)

    @property
    def told(self) -> str:
        """The error on one line, for a place in which a caret would point at nothing."""
        message, hint = (" ".join(each.split()) for each in (self.message, self.hint))
        return f"{message}{' ' if message.endswith(('.', '?', '!')) else ': '}{hint}" if hint else message


class NotationError(SymscaleError):
    """Text that the grammar does not read."""


class LayoutError(SymscaleError):
    """A program whose shapes or shardings do not fit together."""


class UnitError(SymscaleError):
    """Two sides, or two addends, of different dimension."""


class MachineError(SymscaleError):
    """An unknown chip, network or dtype, or a machine file that does not validate."""


class ModelError(SymscaleError):
    """An unknown model or architecture, or a config with a missing or contradictory field."""


class UndecidedError(SymscaleError):
    """A question whose answer depends on a sign that the assumptions do not settle."""


class MissingError(SymscaleError):
    """A library that a command needs, and that is not installed."""


class SettingsError(SymscaleError):
    """What the settings of a folder of documents say that cannot be: a fault of none of the documents."""


class StepError(SymscaleError):
    """A derivation step whose check failed, or that has no check."""


def caret(text: str, position: int, width: int = 76) -> str:
    """Return the line of `text` around `position` with a caret below it, cut to `width` characters."""
    position = max(0, min(position, len(text)))
    start = text.rfind("\n", 0, position) + 1
    end = text.find("\n", position)
    line, column = text[start : len(text) if end < 0 else end], position - start
    left = max(0, min(column - width // 2, len(line) - width))
    shown = line[left : left + width]
    lead, tail = "…" if left else "", "…" if left + width < len(line) else ""
    return f"    {lead}{shown}{tail}\n    {' ' * (len(lead) + column - left)}^"
