// Every number of a derivation, counted again when an input changes.
"use strict";

const HOLDS = { "<": (s) => s < 0, "<=": (s) => s <= 0, ">": (s) => s > 0, ">=": (s) => s >= 0, "==": (s) => s === 0 };
const SIGNS = { "<": "<", "<=": "≤", ">": ">", ">=": "≥", "==": "=" };
const MATHML = "http://www.w3.org/1998/Math/MathML";
const BOARDS = [];

const byId = (id) => document.getElementById(id);

function derivation(data) {
  const board = {
    ...data,
    typed: new Map(),
    chosen: "",
    dtype: "",
    root: byId(data.key),
    vectors: [],
    near: false,
    inputs: data.inputs.map(([name, unit, start, example, onChip, width]) => ({ name, unit, start, example, onChip, width })),
  };
  board.values = board.numbers.map(() => undefined);
  board.settings = board.settings.map((rows) => new Map(rows.map(([place, value, figure, kind, chip, refused, anew]) => [place, { value, figure, kind, chip, refused, anew }])));
  BOARDS.push(board);
  return board;
}

// ---------------------------------------------------------------- what the inputs are

// a figure of a chip; where the dtype decides, C is the peak of the one that is chosen
function figureOf(board, title, figure, kind) {
  const figures = CHIPS[title];
  return (figures && figures[kind ? `C_${board.dtype || kind}` : figure]) || null;
}

// the number of formulas without one of their own: the chosen chip's, the start
function startOf(board, input) {
  if (input.width && board.dtype) return BYTES[board.dtype];
  const peak = input.name === "C" ? board.kind : "";
  if (input.onChip && (board.chosen || (peak && board.dtype))) return figureOf(board, board.chosen || board.chip, input.name, peak);
  return input.start;
}

// why a number of a step is none on the chosen chip, or in the dtype; `undefined` where the step has none
const refusal = (board, own) => (own && ((board.chosen && own.refused) || (board.dtype && own.anew))) || "";

// the number that a place has for formulas of one setting: typed, or the step's own, on the chosen chip and dtype
function valueAt(board, place, setting) {
  if (board.typed.has(place)) return board.typed.get(place).value || null;
  const own = setting.get(place);
  if (!own) return startOf(board, board.inputs[place]);
  if (own.figure === "bytes") return board.dtype ? BYTES[board.dtype] : own.value;
  if (refusal(board, own)) return null;
  const other = own.kind && board.dtype && board.dtype !== own.kind;
  if (own.figure && (board.chosen || other)) return figureOf(board, board.chosen || own.chip, own.figure, own.kind);
  return own.value;
}

function vectorsOf(board) {
  return board.settings.map((setting) => board.inputs.map((_, place) => valueAt(board, place, setting)));
}

// why a number has no value: a chip for which the formula is another, an input that is missing, or one that the chip lacks
function missing(board, at, needs) {
  if (board.chosen && Object.hasOwn(board.refused, board.chosen)) return `not on ${board.chosen}`;
  const whole = board.settings[at].get(-1);
  if (whole && (refusal(board, whole) || lacksPeak(board, whole))) return refusal(board, whole) || lacksPeak(board, whole);
  const lacking = needs.filter((place) => board.vectors[at][place] === null);
  if (!lacking.length) return "";
  const off = lacking.find((place) => !board.typed.has(place) && (board.inputs[place].onChip || board.settings[at].has(place)));
  return off === undefined || !(board.chosen || board.dtype) ? `needs ${lacking.map((place) => board.inputs[place].name).join(", ")}` : lackOf(board, at, off);
}

// a step is put on a chip as a whole: with the peak of each of its dtypes
function lacksPeak(board, whole) {
  if (!whole.kind || !(board.chosen || board.dtype)) return "";
  const title = board.chosen || whole.chip;
  const kinds = board.dtype && whole.figure ? [board.dtype] : whole.kind.split(" ");
  const lacking = kinds.find((kind) => !CHIPS[title][`C_${kind}`]);
  return lacking ? `${title} has no peak for '${lacking}'` : "";
}

function lackOf(board, at, place) {
  const own = board.settings[at].get(place), { name } = board.inputs[place];
  if (refusal(board, own)) return refusal(board, own);
  const chip = board.chosen || (own && own.chip) || board.chip;
  const kind = own ? own.kind : name === "C" ? board.kind : "";
  return kind ? `${chip} has no peak for '${board.dtype || kind}'` : `${chip} has no ${(own && own.figure) || name}`;
}

// ---------------------------------------------------------------- what is written

function setText(element, text) {
  if (element.dataset.text === text) return;
  element.dataset.text = text;
  const power = /^(.*?)(-?)(?:([\d.,]+) × )?10\^(-?\d+)(.*)$/.exec(text);
  if (!power) {
    element.textContent = text;
    return;
  }
  const part = (tag, ...inside) => {
    const made = document.createElementNS(MATHML, tag);
    made.append(...inside);
    return made;
  };
  const row = part("math");
  const [, before, minus, mantissa, exponent, after] = power;
  if (minus) row.append(part("mo", "−"));
  if (mantissa) row.append(part("mn", mantissa), part("mo", "×"));
  const raised = exponent.startsWith("-") ? part("mrow", part("mo", "−"), part("mn", exponent.slice(1))) : part("mn", exponent);
  row.append(part("msup", part("mn", "10"), raised));
  element.replaceChildren(before, row, after);
}

const spelled = ([number, unit]) => (unit ? `${number} ${unit}` : number);

function writeNumber(board, place, changed) {
  const [setting, unit, f, needs, relation, when, whenNeeds] = board.numbers[place];
  const vector = board.vectors[setting];
  const old = changed && changed[setting];
  const all = relation ? [...needs, ...relation.needs, ...whenNeeds] : [...needs, ...whenNeeds];
  // what is missing is said again: another chip may lack it
  if (old && all.every((each) => vector[each] !== null && old[each] === vector[each])) return;
  const element = byId(`${board.key}-n${place}`);
  const lacks = missing(board, setting, needs);
  const value = lacks ? null : f(exact, vector);
  board.values[place] = value;
  if (!element) return;
  const box = element.closest(".now, .value, td, li") || element;
  const apart = element.classList.contains("beside");
  box.classList.toggle("lacking", value === null);
  if (value === null) {
    setText(element, lacks || "no real value here");
    verdict(element, "", "");
    return;
  }
  if (when.length && !missing(board, setting, whenNeeds) && !when.every((each) => truth(each, vector))) {
    setText(element, "this case does not apply here");
    box.classList.add("lacking");
    verdict(element, "", "");
    return;
  }
  const shown = formatQuantity(value, unit, 6);
  const sign = relation ? `${SIGNS[relation.op]} ` : "= ";
  if (apart) setText(element, sign + spelled(shown));
  else {
    setText(element, shown[0]);
    const beside = element.nextElementSibling;
    if (beside && beside.classList.contains("unit")) beside.textContent = shown[1];
    else if (shown[1]) setText(element, spelled(shown));
  }
  if (relation) judge(board, element, relation, value, setting);
}

// a number as it was typed, where that is not too long
function readable(x) {
  return x.q === 1n && x.p < 10n ** 12n ? grouped(x.p.toString()) : formatNumber(x, 6);
}

function truth([left, sign, right], vector) {
  const a = left(exact, vector), b = right(exact, vector);
  return a !== null && b !== null && HOLDS[sign](compare(a, b));
}

// says whether a relation holds at the inputs
function judge(board, element, relation, value, at) {
  if (missing(board, at, relation.needs)) return verdict(element, "", "");
  const here = relation.f(exact, board.vectors[at]);
  if (here === null) return verdict(element, "", "");
  const holds = HOLDS[relation.op](compare(here, value));
  return verdict(element, holds ? "holds" : "fails", `${holds ? "holds" : "does not hold"} at ${readable(here)}`);
}

function verdict(element, kind, text) {
  const found = element.closest(".row");
  const badge = found && found.querySelector(".verdict");
  if (!badge) return;
  setText(badge, text);
  badge.className = `verdict ${kind}`;
}

// the number of a cell stands in its column's unit, that of the smallest unless the largest would be long
function writeColumn(board, place) {
  const [unit, cells] = board.columns[place];
  const values = cells.map((each) => (typeof each === "number" ? board.values[each] : each));
  const order = values.filter((each) => each && each.p !== 0n).sort(compare);
  let step = 0, word = unit;
  const prefixed = PREFIXED.test(unit);
  if (unit && order.length) {
    word = displayed(order[0], unit, 6)[1];
    step = prefixed ? prefixOf(order[0], 6, unit === "s")[1] : 0;
    const largest = thousandths(order[order.length - 1], step);
    if (largest.p >= 10000n * largest.q) {
      const middle = order[Math.floor(order.length / 2)];
      word = displayed(middle, unit, 6)[1];
      step = prefixed ? prefixOf(middle, 6, unit === "s")[1] : 0;
    }
  }
  byId(`${board.key}-c${place}`).textContent = word ? `[${word}]` : "";
  cells.forEach((each, n) => {
    if (typeof each === "number" && values[n]) setText(byId(`${board.key}-n${each}`), formatNumber(thousandths(values[n], step), 4));
  });
}

// the case of an answer that holds at the inputs
function writeAnswer(board, place) {
  const answer = board.answers[place];
  const vector = board.vectors[answer.at];
  const element = byId(`${board.key}-a${place}`);
  element.closest(".answer").hidden = false;
  const lacks = missing(board, answer.at, answer.needs);
  const found = Object.hasOwn(board.refused, board.chosen) ? undefined : answer.cases.find(([when]) => when.every((each) => truth(each, vector)));
  if (!found) {
    setText(element, !lacks ? "no case applies here" : lacks.startsWith("needs") ? `${lacks} to choose the case` : lacks);
    return;
  }
  const said = found[1].map(([low, lowOpen, high, highOpen]) => {
    const a = low(exact, vector), b = high(exact, vector);
    const parts = [];
    if (a === null || b === null) return "no real value here";
    if (a.infinite || a.p !== 0n) parts.push(`${lowOpen ? ">" : "≥"} ${spelled(formatQuantity(a, answer.unit, 6))}`);
    if (!b.infinite) parts.push(`${highOpen ? "<" : "≤"} ${spelled(formatQuantity(b, answer.unit, 6))}`);
    return parts.join(" and ") || "every value is enough";
  });
  setText(element, said.length ? said.join(", or ") : "no value is enough");
}

// times side by side; the longest binds
function writeBars(board, place) {
  const [passes, rows] = board.bars[place];
  const box = byId(`${board.key}-b${place}`);
  const values = rows.map(([, number]) => board.values[number] || null);
  const main = rows.map((row, n) => (row[2] ? null : values[n]));
  const known = main.filter((each) => each !== null);
  const complete = rows.every((row, n) => row[2] || values[n] !== null);
  const most = known.length ? known.reduce((a, b) => (compare(a, b) >= 0 ? a : b)) : null;
  rows.forEach((row, n) => {
    const line = box.children[n];
    const value = values[n];
    const share = value === null || most === null || most.p === 0n ? 0 : toFloat(exact.div(value, most));
    line.querySelector(".fill").style.width = `${(100 * Math.min(share, 1)).toFixed(2)}%`;
    setText(line.querySelector(".amount"), value === null ? "–" : spelled(formatQuantity(value, "s", 4)));
    line.classList.toggle("binding", complete && !row[2] && most !== null && value !== null && compare(value, most) === 0);
  });
  const words = bindingWords(rows, values, most, complete);
  box.parentElement.querySelector(".binds").textContent = words;
  return words && passes ? `${passes}: ${words}` : words;
}

function bindingWords(rows, values, most, complete) {
  if (!complete || most === null) return "";
  const longest = rows.filter((row, n) => !row[2] && compare(values[n], most) === 0).map((row) => row[0]);
  const axes = rows.map((row, n) => [row, values[n]]).filter(([row, time]) => row[2] && time !== null);
  let where = "";
  if (axes.length > 1 && !longest.some((each) => each === "Arithmetic" || each === "HBM")) {
    const slowest = axes.reduce((a, b) => (compare(a[1], b[1]) >= 0 ? a : b));
    where = `, ${slowest[0][0]} the slowest`;
  }
  return `${longest.join(" and ")} ${longest.length > 1 || longest[0].includes(" and ") ? "bind" : "binds"}${where}`;
}

// ---------------------------------------------------------------- one pass over a derivation

function refresh(board) {
  // on another chip what is lacking has other words
  const terms = `${board.chosen} ${board.dtype}`;
  const before = board.vectors.length && board.terms === terms ? board.vectors : null;
  board.terms = terms;
  board.vectors = vectorsOf(board);
  for (let place = 0; place < board.numbers.length; place += 1) writeNumber(board, place, before);
  board.columns.forEach((_, place) => writeColumn(board, place));
  board.answers.forEach((_, place) => writeAnswer(board, place));
  const binding = board.bars.map((_, place) => writeBars(board, place)).filter(Boolean);
  if (board.near) draw(board);
  const changed = board.typed.size > 0 || board.chosen !== "" || board.dtype !== "";
  board.root.classList.toggle("changed", changed);
  board.root.classList.toggle("typed-anew", board.dtype !== "" || board.inputs.some((each, place) => each.width && board.typed.has(place)));
  for (const each of board.root.querySelectorAll(".step .chip")) each.textContent = board.chosen || board.chip;
  summarise(board, binding);
}

function draw(board) {
  board.maps.forEach((_, place) => drawMap(board, place));
  board.plots.forEach((_, place) => drawPlot(board, place));
}

function summarise(board, binding) {
  const output = board.root.querySelector(".summary");
  if (!output) return;
  const count = (kind) => board.root.querySelectorAll(`.verdict.${kind}`).length;
  const holds = count("holds"), fails = count("fails");
  const parts = Object.hasOwn(board.refused, board.chosen) ? [board.refused[board.chosen].replace(/\.$/, "")] : [...new Set(binding)];
  if (holds + fails === 1) parts.push(holds ? "The condition holds" : "The condition does not hold");
  else if (holds + fails) parts.push(`${holds} of ${holds + fails} conditions hold`);
  const text = parts.length ? `${parts.join("; ")}.` : "";
  if (output.textContent !== text) output.textContent = text;
}
