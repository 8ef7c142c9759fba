// Arithmetic that a reader types, with the grammar of Python's formulas: numbers, signs, powers, brackets, functions; no names.
"use strict";

const SIGNS_READ = { "**": "^", "^": "^", "*": "*", "·": "*", "×": "*", "⋅": "*", "∙": "*", "/": "/", "÷": "/", "+": "+", "-": "-", "−": "-", "–": "-", "%": "%", "(": "(", ")": ")", "{": "{", "}": "}", "√": "root", ",": "," };
const COMMANDS = { cdot: "*", times: "*", ast: "*", div: "/", frac: "frac", dfrac: "frac", tfrac: "frac", sqrt: "root" };
const FUNCTIONS = { max: "max", min: "min", ceil: "ceil", ceiling: "ceil", floor: "floor", sqrt: "sqrt", log: "log", ln: "log", log2: "log2", log10: "log10", exp: "exp" };
const ONE_NUMBER = new RegExp(NUMBER, "y"), ONE_GROUP = new RegExp(GROUPED, "y");
const SKIPPED = /(?:[ \t\r\f\v\u00a0\u2009\u202f]+|\\[,;:!> ]|~|\\(?:left|right|middle|[bB]igg?[lrm]?|q?quad|displaystyle)(?![A-Za-z]))+/y;
const CLOSING = { "(": ")", "{": "}" };
const MOST_NESTED = 50, MOST_POWER = 1000n;

function at(pattern, text, place) {
  pattern.lastIndex = place;
  return pattern.exec(text);
}

function tokensOf(text, juxtaposed) {
  const found = [], open = [];
  let numerator = false;
  const put = (kind, value) => {
    const before = found[found.length - 1];
    const ends = before && ["number", "amount", "%", ")", "}"].includes(before.kind) && !numerator;
    numerator = false;
    if (ends && ["number", "amount", "(", "{", "call", "root", "frac"].includes(kind)) {
      if (!juxtaposed || (before.kind === "number" && kind === "number")) fail(`Two numbers stand side by side without an operator. ${HOW}.`);
      found.push({ kind: "juxt" });
    }
    found.push({ kind, value });
  };
  let place = 0;
  while (place < text.length) {
    const skipped = at(SKIPPED, text, place);
    if (skipped) {
      place += skipped[0].length;
      continue;
    }
    const char = text[place];
    if (/[\d.]/.test(char)) {
      const plain = at(ONE_NUMBER, text, place), group = at(ONE_GROUP, text, place);
      if (!plain) fail(`A number was expected at ${quoted(text.slice(place))}.`);
      const separating = open.length > 0 && open[open.length - 1].arguments;
      let number = plain[0];
      if (group && group[0].length > number.length) {
        number = group[0];
        if (number.includes(",") && separating) fail(`${quoted(number)} may be one number or several in a list.`);
      } else if (/^,\d/.test(text.slice(place + number.length)) && !separating) fail("A comma inside a number groups three digits, as in 28,672.");
      put("number", numeral(number));
      place += number.length;
    } else if (char === "\u0001") {
      const [whole, index] = /^\u0001(\d+)/.exec(text.slice(place));
      put("amount", Number(index));
      place += whole.length;
    } else if (/[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]/.test(char)) {
      const raised = /^(⁻?)([⁰¹²³⁴⁵⁶⁷⁸⁹]+)/.exec(text.slice(place));
      if (!raised) fail(`${quoted(char)} has no meaning in a number.`);
      put("^");
      if (raised[1]) put("-");
      put("number", exact.n(BigInt([...raised[2]].map((each) => "⁰¹²³⁴⁵⁶⁷⁸⁹".indexOf(each)).join(""))));
      place += raised[0].length;
    } else if (/^\*\*/.test(text.slice(place)) || own(SIGNS_READ, char)) {
      const sign = text.startsWith("**", place) ? "**" : char;
      const kind = SIGNS_READ[sign];
      if (text.startsWith("//", place)) fail("“//” is not an operator here.");
      const opened = kind === ")" || kind === "}" ? open.pop() : null;
      if (opened === undefined || (opened && CLOSING[opened.kind] !== kind)) fail("The brackets do not match.");
      const before = found.length ? found[found.length - 1].kind : "";
      put(kind);
      numerator = Boolean(opened && opened.numerator);
      if (own(CLOSING, kind)) open.push({ kind, arguments: before === "call", numerator: before === "frac" });
      if (open.length > MOST_NESTED) fail(`Brackets are nested more than ${MOST_NESTED} deep.`);
      place += sign.length;
    } else {
      const word = /^\\?([A-Za-z][A-Za-z0-9]*)/.exec(text.slice(place));
      const command = word && word[0].startsWith("\\") ? own(COMMANDS, word[1]) : undefined;
      const name = word ? own(FUNCTIONS, word[0].startsWith("\\") ? word[1] : word[1].toLowerCase()) : undefined;
      if (command) put(command);
      else if (name && /^\s*(?:\\left\s*)?[({]/.test(text.slice(place + word[0].length))) put("call", name);
      else fail(`${quoted(word ? word[0] : char)} is no number. ${HOW}.`);
      place += word[0].length;
    }
  }
  if (open.length) fail("A bracket is never closed.");
  return found;
}

function formula(text, juxtaposed, amounts) {
  const found = tokensOf(text, juxtaposed);
  let place = 0;
  const kind = () => (place < found.length ? found[place].kind : "end");
  const take = (wanted) => {
    if (kind() !== wanted) fail(kind() === "end" ? `A number was expected at the end. ${HOW}.` : `“${kind()}” was not expected here.`);
    place += 1;
    return found[place - 1];
  };
  const pure = (each) => {
    if (!isPure(each.dimension)) fail("A unit has no place here.");
    return each.value;
  };
  const some = (value, dimension) => {
    if (value === null) fail("This has no real value.");
    return { value, dimension };
  };
  const times = (one, other, sign) =>
    some(
      sign === 1 ? exact.mul(one.value, other.value) : other.value.p === 0n ? fail("This divides by zero.") : exact.div(one.value, other.value),
      one.dimension.map((each, n) => each + sign * other.dimension[n]),
    );
  const sum = () => {
    let total = product();
    while (kind() === "+" || kind() === "-") {
      const sign = take(kind()).kind, next = product();
      if (!same(total.dimension, next.dimension)) fail("Only what has the same unit can be added.");
      total = some(exact.add(total.value, sign === "-" ? exact.mul(next.value, exact.n(-1n)) : next.value), total.dimension);
    }
    return total;
  };
  const product = () => {
    let total = unary(), divided = false;
    while (["*", "/", "juxt"].includes(kind())) {
      const sign = take(kind()).kind;
      if (sign === "juxt" && divided) fail("It is not clear how far this denominator reaches: write a/(b*c).");
      total = times(total, unary(), sign === "/" ? -1 : 1);
      divided = sign === "/";
    }
    return total;
  };
  const unary = () => {
    if (kind() === "-") {
      take("-");
      const inside = unary();
      return { ...inside, value: exact.mul(inside.value, exact.n(-1n)) };
    }
    if (kind() === "+") {
      take("+");
      return unary();
    }
    const base = postfix();
    if (kind() !== "^") return base;
    take("^");
    return power(base, pure(unary()));
  };
  const power = (base, raised) => {
    if (magnitude(raised.p) > MOST_POWER * raised.q) fail("An exponent is at most 1000.");
    if (base.value.p === 0n && raised.p <= 0n) fail("Zero has no such power.");
    if (raised.q !== 1n && !isPure(base.dimension)) fail("A unit has no place here.");
    if (raised.q === 1n && digitsOf(base.value.p) * magnitude(raised.p) > 4200n) fail("This power is too large a number.");
    return some(exact.raised(base.value, raised), base.dimension.map((each) => (raised.q === 1n ? each * Number(raised.p) : each)));
  };
  const postfix = () => {
    const inside = atom();
    if (kind() !== "%") return inside;
    take("%");
    return some(exact.div(inside.value, exact.n(100n)), inside.dimension);
  };
  const between = (left) => {
    take(left);
    const inside = sum();
    take(CLOSING[left]);
    return inside;
  };
  const atom = () => {
    if (kind() === "number") return { value: take("number").value, dimension: PURE };
    if (kind() === "amount") return amounts[take("amount").value];
    if (kind() === "frac") {
      take("frac");
      const above = between("{");
      return times(above, between("{"), -1);
    }
    if (kind() === "root") {
      take("root");
      return power(atom(), fraction(1n, 2n));
    }
    if (kind() === "call") return call(take("call").value);
    return between(kind() === "{" ? "{" : "(");
  };
  const call = (name) => {
    const left = kind() === "{" ? "{" : "(";
    take(left);
    const parts = [pure(sum())];
    while (left === "(" && kind() === ",") {
      take(",");
      parts.push(pure(sum()));
    }
    take(CLOSING[left]);
    if (name === "max" || name === "min") return some(exact[name](...parts), PURE);
    if (parts.length > (name === "log" ? 2 : 1)) fail(`“${name}” takes one argument.`);
    if (name === "sqrt") return power({ value: parts[0], dimension: PURE }, fraction(1n, 2n));
    const base = name === "log2" ? exact.n(2n) : name === "log10" ? exact.n(10n) : parts[1];
    if (name.startsWith("log")) return some(base ? exact.logs(parts[0], base) : exact.log(parts[0]), PURE);
    return some(exact[name](parts[0]), PURE);
  };
  const result = sum();
  if (kind() !== "end") take("end");
  return result;
}
