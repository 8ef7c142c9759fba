"""A config's JSON -> Config: strictly, by the table of architectures, with a note of everything that was not stated."""

from __future__ import annotations

import json
from collections.abc import Mapping, Set
from pathlib import Path
from typing import Any

from symscale.errors import ModelError
from symscale.machine.model import did_you_mean
from symscale.textfile import read_text
from symscale.transformer.architectures import ARCHITECTURES, REQUIRED, STRUCTURAL, WORDS, Row, Stated
from symscale.transformer.config import Config, validate
from symscale.transformer.fields import READERS, Place, shown
from symscale.transformer.form import Values, config_of
from symscale.transformer.plain_fields import PLAIN

MAX_LAYERS = 10_000
OWN_TYPE = "symscale"


def load_config(path: str | Path) -> Config:
    """Return the architecture of a Hugging Face config.json. Raises ModelError naming the file and the field."""
    path = Path(path)
    file = path / "config.json" if path.is_dir() else path
    text = read_text(file, hint="Give the config.json of a model: a page of JSON.", error=ModelError)
    return read_config(parse_json(text, str(path)), str(path))


def read_config(raw: Mapping[str, Any], name: str) -> Config:
    """Return the architecture that the fields of a config describe; `name` stands in errors.

    Raises ModelError for an unknown model type, and for fields that are missing, of a wrong kind, or contradictory.
    """
    fields, notes = _text_model(raw, name)
    kind = _model_type(fields, name)
    row = ARCHITECTURES[kind]
    values = _values(row, fields, name)
    _no_window(values, fields, name)
    used = {each for source in row.values() if isinstance(source, Stated) for each in source.names}
    _architectures(fields, kind, name)
    ignored = _ignored(fields, kind, used, name)
    every = fields.get("moe_layer_freq")
    if every not in (None, 1):
        raise Place(name, "moe_layer_freq").error(f"is {shown(every)}", "Only 1 is read: experts in every later layer.")
    if fields.get("num_nextn_predict_layers"):
        notes = (*notes, "Layers that predict further tokens (num_nextn_predict_layers) are not counted.")
    found = config_of(values, kind, name, notes=notes, ignored=ignored)
    return validate(found)


def _ignored(fields: Mapping[str, Any], kind: str, used: Set[str], name: str) -> tuple[str, ...]:
    """Return the stated fields that have no meaning for the type, or that nobody knows.

    Raises ModelError for an unknown field of our own type, whose fields are all known.
    """
    known = used | PLAIN if kind == OWN_TYPE else used | STRUCTURAL | PLAIN
    unknown = [each for each in fields if each not in known and not each.startswith("_")]
    if kind == OWN_TYPE and unknown:
        near = did_you_mean(unknown[0], used)
        raise Place(name, unknown[0][:60]).error(
            f"is no field of the type {OWN_TYPE}", f"It has {', '.join(sorted(used))}.{near}"
        )
    without = [each for each in STRUCTURAL - used - PLAIN if fields.get(each) not in (None, False)]
    return tuple(sorted([*without, *unknown]))


def _architectures(fields: Mapping[str, Any], kind: str, name: str) -> None:
    """Raise ModelError where the class that a file names is that of another known type."""
    classes = fields.get("architectures")
    for each in classes if isinstance(classes, list) else ():
        stem = each.partition("For")[0].partition("LMHead")[0].lower() if isinstance(each, str) else ""
        others = [other for other in ARCHITECTURES if _class_stem(other) == stem]
        if others and kind not in others:
            raise Place(name, "model_type").error(
                f"is {shown(kind)}, and architectures names {shown(each)}",
                f'That class has "model_type": "{others[0]}": make them agree.',
            )


def _class_stem(kind: str) -> str:
    return kind.removesuffix("_text").replace("_", "")


def _no_window(values: Values, fields: Mapping[str, Any], name: str) -> None:
    """Raise ModelError for a window of no length: that there is none is written null."""
    for word in ("window", "chunk"):
        field = values.names.get(word, "")
        if fields.get(field) == 0 and values["use_window"] is not False:
            raise Place(name, field).error("is 0", "A window has a length from 1; that there is none is written null.")


def parse_json(text: str, file: str) -> dict[str, Any]:
    """Return the object a JSON text holds. Raises ModelError with a caret, or naming a key that stands twice."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in pairs:
            if key in found and found[key] != value:
                raise ModelError(
                    f"{file}: {key[:60]} stands twice, with {shown(found[key])} and {shown(value)}.", hint="Remove one."
                )
            found[key] = value
        return found

    try:
        found = json.loads(text, object_pairs_hook=once)
    except json.JSONDecodeError as error:
        raise ModelError(
            f"{file}: not JSON: {error.msg}.", text=text, position=error.pos, hint="Give the config.json of a model."
        ) from error
    except RecursionError as error:
        raise ModelError(f"{file}: not a config: it is nested too deeply.", hint="Give a config.json.") from error
    except ValueError as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError(f"{file}: not a config: a number is too long.", hint="Give a config.json.") from error
    if not isinstance(found, dict):
        raise ModelError(f"{file}: a list or a single value, not an object.", hint="A config reads { … }.")
    return found


def _text_model(raw: Mapping[str, Any], name: str) -> tuple[Mapping[str, Any], tuple[str, ...]]:
    """Return the fields of the language model: the whole file, or the part of a model that sees or hears."""
    part = raw.get("text_config")
    if part is None:
        return raw, ()
    if not isinstance(part, dict):
        raise ModelError(f"{name}: text_config is {shown(part)}.", hint="It holds the fields of the language model.")
    outer = raw.get("tie_word_embeddings")
    inner = part.get("tie_word_embeddings")
    if outer is not None and inner is not None and outer != inner:
        raise ModelError(
            f"{name}: tie_word_embeddings is {shown(outer)}, and {shown(inner)} in text_config.",
            hint="Remove one of them.",
        )
    inherited = {} if outer is None else {"tie_word_embeddings": outer}
    kind = raw.get("model_type")
    note = f"Of {kind if isinstance(kind, str) else 'the file'} only the language model (text_config) is counted."
    return {**inherited, **part}, (note,)


def _model_type(fields: Mapping[str, Any], name: str) -> str:
    kind = fields.get("model_type")
    if not isinstance(kind, str):
        found = "is missing" if kind is None else f"is {shown(kind)}"
        raise Place(name, "model_type").error(found, 'Give the architecture, such as "model_type": "llama".')
    if kind not in ARCHITECTURES:
        raise ModelError(
            f"{name}: the architecture {shown(kind)} is not known.",
            hint=f"Known: {', '.join(ARCHITECTURES)}.{did_you_mean(kind, ARCHITECTURES)}",
        )
    crossing = next((each for each in ("is_encoder_decoder", "add_cross_attention") if fields.get(each) is True), None)
    if crossing is not None:
        raise Place(name, crossing).error("is true", "Only decoder-only transformers are read.")
    return kind


def _values(row: Row, fields: Mapping[str, Any], name: str) -> Values:
    """Return the value of every word of a row, and which fields had to be assumed."""
    found: dict[str, Any] = {}
    names: dict[str, str] = {}
    assumed: dict[str, str] = {}
    for word, source in row.items():
        if not isinstance(source, Stated):
            found[word] = source
            continue
        field = _field(source, fields, name)
        names[word] = field
        value = fields.get(field)
        if value is None:
            value = _default(source, field, fields, name)
            if value is not None:
                assumed[field] = shown(value)
        found[word] = READERS[WORDS[word]](value, Place(name, field))
    if found["L"] > MAX_LAYERS:
        raise Place(name, names["L"]).error(f"is {found['L']:,}", f"Give at most {MAX_LAYERS:,} layers.")
    return Values(name, found, names, assumed)


def _field(source: Stated, fields: Mapping[str, Any], name: str) -> str:
    """Return the name under which a field stands; two names with two values contradict each other."""
    present = [each for each in source.names if fields.get(each) is not None]
    if len({shown(fields[each]) for each in present}) > 1:
        one, two = present[:2]
        raise ModelError(
            f"{name}: {one} is {shown(fields[one])} and {two} is {shown(fields[two])}.",
            hint="They mean the same: remove one.",
        )
    return present[0] if present else source.names[0]


def _default(source: Stated, field: str, fields: Mapping[str, Any], name: str) -> Any:
    if source.default is not REQUIRED:
        # null is no and nothing; where the type would have a yes or a number, it may not have been meant
        if field in fields and source.default not in (None, False):
            usual = shown(source.default)
            raise Place(name, field).error(
                "is null", f"Give a value, or leave it out: the model type then has {usual}."
            )
        return source.default
    if field in fields and field == "q_lora_rank":  # null: queries are projected without a rank
        return None
    found = "is null" if field in fields else "is missing"
    raise Place(name, field).error(found, "The model type has no size of its own for it: give a number.")
