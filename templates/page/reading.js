// What a reader types, read as Python reads an answer: 4096, 28 672, 4Ki, 2^12, 8 × 10^11, 459 TFLOP/s / 180 GB/s.
// Returns {value} or {fault}. The patterns of numbers and the table of units are Python's own.
"use strict";

const LONGEST_QUANTITY = 200;
const HOW = "Write a number such as 4096, 28,672, 4Ki, 2^12 or 1.97e14";
const PURE = [0, 0, 0, 0];
const UNITS = new Map(
  UNIT_ROWS.flatMap(([words, p, q, dimension, prefixes]) => words.split(" ").map((word) => [word, { factor: fraction(BigInt(p), BigInt(q)), dimension, prefixes, word: words.split(" ")[0] }])),
);

// what is said beside the field
class Fault extends Error {}

function fail(words) {
  throw new Fault(words);
}

const own = (table, key) => (Object.hasOwn(table, key) ? table[key] : undefined);
const isPure = (dimension) => dimension.every((each) => each === 0);
const same = (one, other) => one.every((each, n) => each === other[n]);
const quoted = (text) => `“${text.length > 24 ? `${text.slice(0, 23)}…` : text}”`;

function readNumber(text, unit) {
  try {
    const found = readAmount(text);
    const wanted = dimensionOf(unit);
    if (!isPure(found.dimension) && !same(found.dimension, wanted)) {
      fail(`${quoted(text.trim())} has a unit, and this is ${isPure(wanted) ? "a pure number" : `in ${unit}`}.`);
    }
    if (found.value === null || found.value.p <= 0n) fail("It must be more than 0.");
    return { value: found.value };
  } catch (error) {
    if (error instanceof Fault) return { fault: error.message };
    throw error;
  }
}

// ---------------------------------------------------------------- words around a number

const PREFIX_NAMES = { nano: "n", micro: "µ", milli: "m", kilo: "k", mega: "M", giga: "G", tera: "T", peta: "P", kibi: "Ki", mebi: "Mi", gibi: "Gi", tebi: "Ti" };
const BASE_NAMES = { second: "s", byte: "B", bit: "bit", flop: "FLOP", watt: "W", joule: "J" };
const SPELLED = new RegExp(`(?<=[\\d ])(${Object.keys(PREFIX_NAMES).join("|")})(${Object.keys(BASE_NAMES).join("|")})s?\\b`, "gi");
const POWERS = { thousand: 3, million: 6, billion: 9, trillion: 12, quadrillion: 15 };
const NAMED = new RegExp(`(?<![\\w.])(\\d[\\d,_]*(?:\\.\\d+)?)\\s*(${Object.keys(POWERS).join("|")})\\b`, "gi");
const ABOUT = /^(?:≈|~|\\approx|\\sim|about|approximately|around|roughly|circa|ca\.?)\s*/i;
const AROUND = [["$$", "$$"], ["$", "$"], ["\\(", "\\)"], ["\\[", "\\]"], ["`", "`"]];

function cleaned(text) {
  let plain = text.replace(/⁄/g, "/").split(/\s+/).filter(Boolean).join(" ");
  for (const [left, right] of AROUND) {
    if (plain.startsWith(left) && plain.endsWith(right) && plain.length > left.length + right.length) plain = plain.slice(left.length, -right.length).trim();
  }
  if (plain.endsWith(".")) plain = plain.slice(0, -1).trimEnd();
  plain = plain.replace(new RegExp(THE_ANSWER, "i"), "").replace(new RegExp(JOINED, "i"), "");
  plain = plain.replace(/(?<=[\d ])KB\b/g, "kB").replace(/(?<=\d)\s*\\[,; ]\s*(?=[A-Za-zµ])/g, " ");
  plain = plain.replace(NAMED, (_, number, power) => `${number}e${POWERS[power.toLowerCase()]}`);
  plain = plain.replace(SPELLED, (_, prefix, base) => PREFIX_NAMES[prefix.toLowerCase()] + BASE_NAMES[base.toLowerCase()]);
  return plain.replace(/(?<![\w.])(\d[\d,_]*(?:\.\d+)?)\s*B(?=\s+(?:param|token|FLOP))/g, "$1e9").replace(/(?<=\d)\s*[x×]$/, "");
}

// ---------------------------------------------------------------- numbers and units

function numeral(text) {
  const [mantissa, power = "0"] = text.replace(/\{,\}|\\,|[,_\s]/g, "").toLowerCase().split("e");
  const [whole, part = ""] = mantissa.split(".");
  if (Math.abs(Number(power)) > 4200) fail(`The exponent ${power} of a number is beyond 4200.`);
  const places = BigInt(power) - BigInt(part.length);
  const digits = BigInt(whole + part || 0);
  return places >= 0n ? exact.n(digits * 10n ** places) : fraction(digits, 10n ** -places);
}

function readUnit(word) {
  const text = word.trim().replace(/([kMGTP]?)(bps|Bps)\b/g, (_, prefix, rate) => `${prefix}${rate === "bps" ? "bit/s" : "B/s"}`);
  let factor = exact.n(1n), dimension = PURE, named = false;
  if (!text) return { factor, dimension, named };
  const pieces = text.split(/\s*(\/|·|\*|\bper\b|(?<=\S)\s+(?=\S))\s*/);
  for (let n = 0; n < pieces.length; n += 2) {
    const found = /^([A-Za-zµμ$%]+|1)(?:\^(-?\d))?$/.exec(pieces[n]);
    if (!found) fail(`${quoted(pieces[n] || word)} is not a unit.`);
    const one = prefixed(found[1]);
    const times = Number(found[2] || 1) * (n && ["/", "per"].includes(pieces[n - 1]) ? -1 : 1);
    factor = exact.mul(factor, exact.power(one.factor, BigInt(times)));
    dimension = dimension.map((each, place) => each + times * one.dimension[place]);
    named = named || n > 0 || found[1] !== "1";
  }
  return { factor, dimension, named };
}

function prefixed(word) {
  if (own(CONFUSED, word) || (word.endsWith("FLOPS") && word.length <= 6)) fail(`${quoted(word)} means two things: ${own(CONFUSED, word) || CONFUSED.FLOPS}.`);
  if (UNITS.has(word) && word !== "F") return UNITS.get(word);
  for (const [prefix, [p, q, kind]] of Object.entries(SCALES)) {
    const base = word.startsWith(prefix) ? UNITS.get(word.slice(prefix.length)) : undefined;
    if (base && base.prefixes.split(" ").includes(kind) && (word.length - prefix.length <= 5 || isPure(base.dimension))) {
      return { ...base, factor: exact.mul(base.factor, fraction(BigInt(p), BigInt(q))) };
    }
  }
  return fail(`${quoted(word)} is not a unit.`);
}

// chips along X and the like are counts
function dimensionOf(unit) {
  const found = attempt(() => readUnit(unit));
  return found ? found.dimension : PURE;
}

function attempt(reader) {
  try {
    return reader();
  } catch (error) {
    if (error instanceof Fault) return null;
    throw error;
  }
}

const QUANTITY = new RegExp(`^\\s*([+-]?)\\s*(${GROUPED}|${NUMBER})\\s*(?:(?:\\\\times|×|x|\\*)\\s*10\\s*\\^\\s*\\{?(-?\\d+)\\}?)?\\s*(.*?)\\s*$`);

// 11.5 ms, 16 GiB, 2.55k tokens, 8 × 10^11
function readQuantity(text) {
  const found = text.length <= LONGEST_QUANTITY ? QUANTITY.exec(text) : null;
  if (!found) fail(`${HOW}.`);
  const [, sign, digits, power, rest] = found;
  let value = numeral(digits);
  if (power) value = exact.mul(value, numeral(`1e${power}`));
  if (sign === "-") value = exact.mul(value, exact.n(-1n));
  const counted = /^([KMGTP]i|[kMGTPE])(?:\s+(.*))?$/.exec(rest);
  const scale = counted ? fraction(BigInt(SCALES[counted[1]][0]), BigInt(SCALES[counted[1]][1])) : exact.n(1n);
  const unit = readUnit(counted ? counted[2] || "" : rest);
  return { value: exact.mul(value, scale, unit.factor), dimension: unit.dimension };
}

const COUNTED = /\s+(?:token|chip|element|layer|byte|second|FLOP|sequence|param)s?(?:\s*(?:per|\/)\s*(?:chip|device|accelerator|[gt]pu|layer|sequence|step))?$/i;
const ARITHMETIC = /^((?:[\d\s.,^*\/+(){}×·-]|(?<=\d)e(?=[\d+-]))*[\d)}])\s*([A-Za-zµ%$][\w\/ µ%$]*)$/;
const QUOTIENT = /[\s)][\/÷*×·]\s+(?=\(?\d)/;
const AMOUNT = new RegExp(`(?<![\\w.^])${NUMBER}\\s+[A-Za-zµ%$]\\w*(?:/[A-Za-z]\\w*)?`, "g");

function readAmount(text) {
  if (text.length > LONGEST) fail(`At most ${LONGEST} characters.`);
  const plain = cleaned(text).replace(ABOUT, "");
  if (!plain) fail(`${HOW}.`);
  let first = "";
  try {
    return readQuantity(plain);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    first = error.message;
  }
  const measured = (QUOTIENT.test(plain) && attempt(() => readRate(plain))) || attempt(() => readMeasured(plain));
  if (measured) return measured;
  const likeNumber = /^[+-]?[\d.,_ ]+\s*[A-Za-zµμ$%][\w\/ $%µμ]*$/.test(plain);
  const bare = plain.replace(COUNTED, "");
  const direct = attempt(() => formula(bare, false, [])) || attempt(() => formula(bare, true, []));
  if (direct) return direct;
  if (likeNumber) fail(first);
  return formula(bare, false, []);
}

// 2^34 B, 16 * 2^30 bytes
function readMeasured(plain) {
  const found = ARITHMETIC.exec(plain);
  const unit = found ? readUnit(found[2]) : { named: false };
  if (!unit.named) fail(`${HOW}.`);
  return { value: exact.mul(formula(found[1], false, []).value, unit.factor), dimension: unit.dimension };
}

// 459 TFLOP/s / 180 GB/s; FLOPs per byte are a number
function readRate(plain) {
  const amounts = [];
  const rest = plain.replace(AMOUNT, (each) => `(\u0001${amounts.push(readQuantity(each)) - 1})`);
  const found = formula(rest, false, amounts);
  return { value: found.value, dimension: same(found.dimension, [-1, 0, 0, 0]) ? PURE : found.dimension };
}
