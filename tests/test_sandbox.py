"""The sandbox of templates: no way leads out of it, and all that jinja brings into it is known."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from symscale.errors import SymscaleError
from symscale.paper import fill
from symscale.paper.dialect import dialect_of
from symscale.paper.fill import filled
from symscale.paper.template import environment


def made(folder: Path, name: str, text: str) -> str:
    """Return what a template comes to, filled in by this process."""
    (folder / name).write_bytes(text.encode())
    return filled(folder / name, dialect_of(name), None, False)[0]


# every way to an attribute that begins with an underscore, or leads to code
UNDERSCORED = [
    "''.__class__",
    "''['__class__']",
    "''|attr('__class__')",
    "''|attr('_' ~ '_class__')",
    "['x']|map(attribute='__class__')|list",
    "['x']|map(attribute='__class__', default=1)|list",
    "['x']|map('attr', '__class__')|list",
    "['x']|selectattr('__class__')|list",
    "['x']|selectattr('__class__', 'defined')|list",
    "['x']|rejectattr('__class__')|list",
    "['x']|groupby('__class__')|list",
    "['x']|groupby('__class__', default=1)|list",
    "['x', 'y']|sort(attribute='__class__')|list",
    "['x', 'y']|unique(attribute='__class__')|list",
    "['x']|sum(attribute='__class__')",
    "['x']|join(attribute='__class__')",
    "['x', 'y']|min(attribute='__class__')",
    "['x', 'y']|max(attribute='__class__')",
    "[['x']]|map(attribute='0.__class__')|list",
    "'{0.__class__}'.format('x')",
    "'{0[__class__]}'.format('x')",
    "'{a.__class__}'.format(a='x')",
    "'{a.__class__}'.format_map({'a': 'x'})",
    "('{0.__class__}'|attr('format'))('x')",
    "'{0:{1.__class__}}'.format('x', 'y')",
    "('x' if true).__class__",
    "symscale.__globals__",
    "range.__globals__",
    "dict.__class__",
    "namespace(a=1).__class__",
    "symscale('training/fsdp')._write",
    "symscale('training/fsdp')['_write']",
    "symscale('training/fsdp')|attr('_write')",
    "symscale('training/fsdp').claim._asked",
    "(symscale('training/fsdp').steps|first)._asked",
    "symscale('training/fsdp').steps.gi_frame",
    "self.__init__",
    "self._TemplateReference__context",
    "cat.__init__",
]


@pytest.mark.parametrize("way", UNDERSCORED)
def test_no_way_leads_to_what_is_inside(tmp_path: Path, way: str) -> None:
    with pytest.raises(SymscaleError) as caught:
        made(tmp_path, "doc.md.j2", f"{{% macro cat() %}}{{% endmacro %}}\n{{{{ {way} }}}}")
    name = re.findall(r"_\w+|gi_frame", way.replace("' ~ '", ""))[0]
    assert f"doc.md.j2, line 2: access to attribute '{name}' of" in caught.value.message
    assert "is unsafe in a template" in caught.value.message


# what every filter makes of something
FILTERS = {
    "abs": ("-2|abs", "2"),
    "attr": ("'a'|attr('upper') is callable", "True"),
    "batch": ("[1,2,3]|batch(2)|list", "[[1, 2], [3]]"),
    "capitalize": ("'ab'|capitalize", "Ab"),
    "center": ("'a'|center(3)", " a "),
    "count": ("[1]|count", "1"),
    "d": ("x|d(1)", "1"),
    "default": ("x|default(1)", "1"),
    "dictsort": ("{'b': 1, 'a': 2}|dictsort", "[('a', 2), ('b', 1)]"),
    "e": ("'<'|e", "&lt;"),
    "escape": ("'<'|escape", "&lt;"),
    "filesizeformat": ("2000|filesizeformat", "2.0 kB"),
    "first": ("[1,2]|first", "1"),
    "float": ("'2'|float", "2.0"),
    "forceescape": ("'<'|forceescape", "&lt;"),
    "format": ("'%d'|format(3)", "3"),
    "formula": ("'B*D'|formula", "$BD$"),
    "groupby": ("[{'a': 1}]|groupby('a')|length", "1"),
    "indent": ("'a\nb'|indent(1)", "a\n b"),
    "int": ("'3'|int", "3"),
    "items": ("{1: 2}|items|list", "[(1, 2)]"),
    "join": ("[1,2]|join('-')", "1-2"),
    "last": ("[1,2]|last", "2"),
    "length": ("'ab'|length", "2"),
    "list": ("'ab'|list", "['a', 'b']"),
    "lower": ("'A'|lower", "a"),
    "map": ("['a']|map('upper')|list", "['A']"),
    "max": ("[1,2]|max", "2"),
    "min": ("[1,2]|min", "1"),
    "number": ("2000|number('B')", "2000 B"),
    "reject": ("[1,2]|reject('odd')|list", "[2]"),
    "rejectattr": ("[{'a': 1}]|rejectattr('a')|list", "[]"),
    "replace": ("'ab'|replace('a', 'c')", "cb"),
    "reverse": ("'ab'|reverse", "ba"),
    "round": ("2.567|round(1)", "2.6"),
    "safe": ("'a'|safe", "a"),
    "select": ("[1,2]|select('odd')|list", "[1]"),
    "selectattr": ("[{'a': 1}]|selectattr('a')|list", "[{'a': 1}]"),
    "slice": ("[1,2]|slice(2)|list", "[[1], [2]]"),
    "sort": ("[2,1]|sort", "[1, 2]"),
    "string": ("1|string", "1"),
    "striptags": ("'<b>a</b>'|striptags", "a"),
    "sum": ("[1,2]|sum", "3"),
    "symscale": ("'training/fsdp cite'|symscale", "[@austin2025]"),
    "text": ("'a*b'|text", "a\\*b"),
    "title": ("'ab c'|title", "Ab C"),
    "tojson": ("[1]|tojson", "[1]"),
    "trim": ("' a '|trim", "a"),
    "truncate": ("'abcdefghijk'|truncate(4, true, '')", "abcd"),
    "unique": ("[1,1]|unique|list", "[1]"),
    "upper": ("'a'|upper", "A"),
    "urlencode": ("'a b'|urlencode", "a%20b"),
    "urlize": ("'a'|urlize", "a"),
    "wordcount": ("'a b'|wordcount", "2"),
    "wordwrap": ("'a b'|wordwrap(1)", "a\nb"),
}
TESTS = {
    "boolean": "true",
    "callable": "range",
    "defined": "range",
    "divisibleby(2)": "4",
    "eq(1)": "1",
    "equalto(1)": "1",
    "==(1)": "",
    "escaped": "'a'|e",
    "even": "2",
    "false": "false",
    "filter": "'abs'",
    "float": "1.5",
    "ge(1)": "1",
    "greaterthan(1)": "2",
    "gt(1)": "2",
    "in([1])": "1",
    "integer": "1",
    "iterable": "[]",
    "le(1)": "1",
    "lessthan(2)": "1",
    "lower": "'a'",
    "lt(2)": "1",
    "mapping": "{}",
    "ne(1)": "2",
    "none": "none",
    "number": "1",
    "odd": "1",
    "sameas(true)": "true",
    "sequence": "[]",
    "string": "'a'",
    "test": "'odd'",
    "true": "true",
    "undefined": "x",
    "upper": "'A'",
}


def test_every_filter_test_and_name_is_known_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a new version of jinja brings is not let into templates unseen."""
    found = []
    monkeypatch.setattr(fill, "environment", lambda *each: found.append(environment(*each)) or found[0])
    text = "".join(f"{{{{ {asked} }}}}|" for asked, wanted in FILTERS.values())
    wanted = "".join(f"{each}|" for _, each in FILTERS.values())
    assert made(tmp_path, "a.md.j2", text) == wanted
    assert set(found[0].filters) == set(FILTERS)
    signs = {"!=", "<", "<=", "==", ">", ">="}
    assert set(found[0].tests) == {each.partition("(")[0] for each in TESTS} | signs
    held = [f"{{{{ {value} is {name} }}}}" for name, value in TESTS.items() if value]
    assert set(made(tmp_path, "b.md.j2", "|".join(held)).split("|")) == {"True"}
    assert set(found[0].globals) == {"range", "dict", "namespace", "symscale"}
    assert made(tmp_path, "c.md.j2", "{{ dict(a=1) }}{{ range(2)|list }}{{ namespace(a=3).a }}") == "{'a': 1}[0, 1]3"


def test_what_lets_nothing_else_run_ends(tmp_path: Path) -> None:
    if not hasattr(signal, "setitimer"):
        pytest.skip("there is no clock of the system here")
    code = (
        "from symscale.paper import limits\nlimits.SECONDS = 0.1\nlimits.limit_process()\n"
        "with limits.timed():\n    sum([1 << 10**7] * 10**6)\n"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=60, check=False).returncode == -signal.SIGPROF
