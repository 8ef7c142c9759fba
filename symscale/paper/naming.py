"""The LaTeX that a document gives a symbol as its name: it prints one symbol, and does nothing else."""

from __future__ import annotations

import re

from symscale.errors import NotationError

# Commands of TeX and LaTeX that do something: no name for a symbol has a use for them. A macro of the document's own
# is a name, without arguments; those that have them are known below.
_ACTS = re.compile(
    r"\\(?:immediate|write|input|include\w*|openout|openin|closeout|closein|read|readline|csname|endcsname|catcode|"
    r"\w*def|let|futurelet|(?:re)?newcommand|providecommand|Declare\w+|expandafter|noexpand|special|loop|repeat|"
    r"lua\w*|directlua|latelua|ShellEscape|verb\w*|begin\w*|end\w*|usepackage|RequirePackage|document\w*|"
    r"par|parshape|parskip|parindent|if\w*|fi|else|jobname|message|errmessage|show\w*|tracing\w*|every\w*|pdf\w*|font|fontdimen|"
    r"output|shipout|relax|global|long|outer|protected|unexpanded|scantokens|aftergroup|afterassignment|bye|stop|dump|"
    r"batchmode|scrollmode|nonstopmode|errorstopmode|bgroup|egroup|uppercase|lowercase|string|meaning|the|number|"
    r"romannumeral|label|tag|ref|eqref|pageref|cite\w*|footnote\w*|item|section|hbox|vbox|vtop|vcenter|setbox|box|copy|"
    r"un[hv](?:box|copy)|halign|valign|noalign|omit|span|insert|mark|vadjust|discretionary|penalty|unskip|unkern|"
    r"[hv]rule|[hv]skip|[hv]fill?|[hv]ss|m?kern|mskip|raise|lower|moveleft|moveright|char|mathchar|delimiter|radical|"
    r"accent|mathaccent|mathchoice|patterns|hyphenation|advance|multiply|divide|primitive|toks|count|dimen|skip|"
    r"newwrite|newread|ensuremath|nonumber|notag|cr|crcr|newline|left|right|over|atop|above|middle|require|unicode|"
    r"href|url|html\w+|class|cssId|style|index|glossary|set(?:counter|length|language))(?![A-Za-z])"
)
# The ones that have arguments: accents, alphabets, words.
_WITH_ARGUMENT = re.compile(
    r"\\(?!(?:"
    r"hat|tilde|bar|vec|dot|ddot|dddot|check|breve|acute|grave|mathring|widehat|widetilde|overline|"
    r"underline|overrightarrow|overleftarrow|overbrace|underbrace|overset|underset|stackrel|substack|"
    r"prescript|mathcal|mathbb|mathbf|mathrm|mathit|mathsf|mathtt|mathfrak|mathscr|mathnormal|boldsymbol|"
    r"bm|pmb|operatorname|text|textrm|textbf|textit|textsf|texttt|textsc|textnormal|textup|mbox|mathord|"
    r"mathop|mathbin|mathrel|mathinner|textcolor|color|sqrt|frac|dfrac|tfrac|phantom|hphantom|vphantom|"
    r"smash"
    r")(?![A-Za-z]))([A-Za-z]+)\*?\s*[{\[](?!\})"
)
#: Commands that are no letter themselves.
_PLAIN = re.compile(
    r"\\(?:[dt]?frac|sqrt|text\w*|math\w+|operatorname|mbox|boldsymbol|bm|pmb|[hv]?phantom|smash)(?![A-Za-z])"
)
_FORBIDDEN = re.compile(r"<(?=[A-Za-z/!?])|--|\\\\|(?<!\\)[$&%#~]|\^\^|\\[()\[\]@]|[\x00-\x1f\x7f]")
_OUTSIDE = re.compile(r"[-+=<>/:;]|\\(?:le|ge|leq|geq|ll|gg|cdot|times|pm|approx|to)(?![A-Za-z])")
_LONGEST = 80


def check_latex(name: str, latex: str) -> None:
    """Raise NotationError unless this is LaTeX that prints one symbol: braces in pairs, no command that acts."""

    def wrong(why: str, position: int, hint: str) -> NotationError:
        return NotationError(f"{name} cannot be written so: {why}.", text=latex, position=position, hint=hint)

    if not latex.strip() or len(latex) > _LONGEST:
        raise wrong("it is empty" if not latex.strip() else "it is too long", 0, r"A symbol is short, such as \beta.")
    for pattern, hint in ((_ACTS, "A symbol prints, it does not act."), (_FORBIDDEN, "Write maths without its $.")):
        found = pattern.search(latex)
        if found:
            raise wrong(f"{found[0]!r} does not belong in a symbol", found.start(), hint)
    found = _WITH_ARGUMENT.search(latex)
    if found:
        hint = "Accents, alphabets and text have arguments; a macro of the document's own is a name alone."
        raise wrong(f"\\{found[1]} with an argument does not belong in a symbol", found.start(), hint)
    depth = 0
    for found in re.finditer(r"\\.|[{}]", latex):
        depth += {"{": 1, "}": -1}.get(found[0], 0)
        if depth < 0:
            raise wrong("a brace closes that none opened", found.start(), "Write braces in pairs.")
    if depth or latex.endswith("\\"):
        raise wrong("a brace is open at its end", len(latex), "Write braces in pairs.")
    if not re.search(r"[^\W\d_]", _PLAIN.sub("", latex)):
        raise wrong("it has no letter", 0, r"A symbol is a letter, such as \beta.")
    if latex.lstrip()[0] in "^_'":
        raise wrong("there is nothing below its index", 0, r"Begin with a letter, such as B^*.")
    bare = _without_groups(latex)
    found = _OUTSIDE.search(bare)
    if found:
        raise wrong(f"{found[0]!r} makes it a formula", max(latex.find(found[0]), 0), "Put it in an index, or braces.")


def _without_groups(latex: str) -> str:
    """Return what stands outside all braces."""
    depth, kept = 0, []
    for each in latex:
        depth += (each == "{") - (each == "}")
        kept.append(each if not depth else " ")
    return "".join(kept)
