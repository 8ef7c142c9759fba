// Numbers as symscale prints them: significant digits rounded half to even, SI prefixes, thousands, powers of ten.
"use strict";

const UP = ["", "k", "M", "G", "T", "P", "E"];
const DOWN = ["", "m", "µ", "n", "p"];
const PREFIXED = /^(?:(B|FLOP|OP|bit|J|W|Hz)(\/s|\/s\/chip|\/chip|\/token)?|(s))$/;
const SINGULAR = new Set(["token", "chip", "param", "axis", "query", "GPU", "host", "pod", "step", "layer", "day"]);
const PLURALS = { axis: "axes", query: "queries" };

// 0.digits × 10^exponent, to a number of significant digits; exact if nothing was lost
function decimal(x, digits) {
  if (x.p === 0n) return { negative: false, digits: "0", exponent: 1, exact: x.known };
  const p = magnitude(x.p), q = x.q;
  let exponent = p.toString().length - q.toString().length + 1;
  const below = (power) => (power >= 0 ? p < q * 10n ** BigInt(power) : p * 10n ** BigInt(-power) < q);
  while (below(exponent - 1)) exponent -= 1;
  const places = digits - exponent;
  const above = places >= 0 ? p * 10n ** BigInt(places) : p;
  const under = places >= 0 ? q : q * 10n ** BigInt(-places);
  let whole = above / under;
  const twice = 2n * (above - whole * under);
  if (twice > under || (twice === under && whole % 2n === 1n)) whole += 1n;
  let text = whole.toString();
  if (text.length > digits) {
    text = text.slice(0, digits);
    exponent += 1;
  }
  return { negative: x.p < 0n, digits: text, exponent, exact: x.known && whole * under === above };
}

function trimmed(text, isExact) {
  if (isExact && text.includes(".")) text = text.replace(/0+$/, "");
  return text.replace(/\.$/, "");
}

function grouped(text) {
  const [whole, ...rest] = text.split(".");
  const bare = whole.replace("-", "");
  const shown = bare.length > 4 ? whole.replace(/\B(?=(\d{3})+$)/g, ",") : whole;
  return [shown, ...rest].join(".");
}

function positional(rounded, places) {
  let digits = rounded.digits;
  let text;
  if (rounded.exponent <= 0) text = "0." + "0".repeat(-rounded.exponent) + digits;
  else {
    digits = digits.padEnd(rounded.exponent, "0");
    text = `${digits.slice(0, rounded.exponent)}.${digits.slice(rounded.exponent)}`;
  }
  return trimmed(places ? text : text.split(".")[0], rounded.exact);
}

// `240.2`, `28,672`, `1.97 × 10^14`
function formatNumber(x, digits) {
  if (x.known && x.q === 1n && magnitude(x.p) < 1000000n) return grouped(x.p.toString());
  const rounded = decimal(x, digits);
  const sign = rounded.negative ? "-" : "";
  if (rounded.exponent >= -2 && rounded.exponent <= 6) {
    const places = Math.max(digits - rounded.exponent, 0);
    return grouped(sign + positional(decimal(x, Math.max(digits, rounded.exponent)), places));
  }
  const mantissa = sign + trimmed(`${rounded.digits[0]}.${rounded.digits.slice(1)}`, rounded.exact);
  const power = `10^${rounded.exponent - 1}`;
  return mantissa === "1" || mantissa === "-1" ? mantissa.replace("1", power) : `${mantissa} × ${power}`;
}

function plural(unit, x) {
  let [head, ...rest] = unit.replace("$", "USD").split("/");
  if (SINGULAR.has(head) && !(x.p === x.q)) head = PLURALS[head] || `${head}s`;
  return [head, ...rest].join("/");
}

function prefixOf(x, digits, second) {
  if (x.p === 0n) return ["", 0];
  const step = Math.floor((decimal(x, digits).exponent - 1) / 3);
  if (step < -DOWN.length || step >= UP.length) return ["", 0];
  if (second) {
    const down = Math.max(Math.min(step, 0), 1 - DOWN.length);
    return [DOWN[-down], down];
  }
  return [UP[Math.max(step, 0)], Math.max(step, 0)];
}

const thousandths = (x, step) =>
  step >= 0 ? fraction(x.p, x.q * 1000n ** BigInt(step), x.known) : fraction(x.p * 1000n ** BigInt(-step), x.q, x.known);

// the number scaled to its prefix, and the unit with it: 1/5000 s is 200 µs
function displayed(x, unit, digits) {
  const match = PREFIXED.exec(unit);
  if (!match) return [x, plural(unit, x)];
  const [prefix, step] = prefixOf(x, digits, unit === "s");
  return [thousandths(x, step), prefix + unit];
}

// a number beside a formula: the unit may be none, and whole numbers below 10^4 stay as they are
function formatQuantity(x, unit, digits) {
  if (!unit || unit === "1") return [formatNumber(x, digits), ""];
  const [scaled, word] = displayed(x, unit, digits);
  return [formatNumber(scaled, digits), word];
}
