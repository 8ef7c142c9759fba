// Drawings: maps of regimes from borders in closed form, and curves, in SVG that follows the width of the page.
"use strict";

const SVG = "http://www.w3.org/2000/svg";
const COLUMNS = 160;
const MARGIN = { left: 54, right: 14, top: 28, bottom: 40 };
const SLACKS = [0, 1e-12, 1e-6];

function svg(tag, attributes = {}, ...inside) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...inside);
  return made;
}

// ---------------------------------------------------------------- regions of a vertical line

function floatHolds([left, sign, right], values, slack) {
  const a = left(floats, values), b = right(floats, values);
  const room = slack * Math.max(Math.abs(a), Math.abs(b));
  if (sign === "<") return a < b + room;
  if (sign === "<=") return a <= b + room;
  if (sign === ">") return a > b - room;
  if (sign === ">=") return a >= b - room;
  return Math.abs(a - b) <= room;
}

function applying(cases, values) {
  for (const slack of SLACKS) {
    const found = cases.find(([when]) => when.every((each) => floatHolds(each, values, slack)));
    if (found) return found;
  }
  return cases[cases.length - 1];
}

function holding(cases, values) {
  const found = [];
  for (const [low, , high] of applying(cases, values)[1]) {
    const a = low(floats, values), b = high(floats, values);
    if (a < b) found.push([a, b]);
  }
  return found;
}

function common(some, others) {
  const found = [];
  for (const [a, b] of some) {
    for (const [c, d] of others) {
      const low = Math.max(a, c), high = Math.min(b, d);
      if (low < high) found.push([low, high]);
    }
  }
  return found;
}

function outside(pieces) {
  const found = [];
  let start = 0;
  for (const [low, high] of [...pieces].sort((a, b) => a[0] - b[0])) {
    if (start < low) found.push([start, low]);
    start = high;
  }
  return start < Infinity ? [...found, [start, Infinity]] : found;
}

// the pieces of a vertical line that belong to each area, from below
function piecesAt(map, values) {
  const held = map.borders.map((cases) => holding(cases, values));
  return map.areas.map(([, inside, out]) => {
    let found = [[0, Infinity]];
    for (const each of inside) found = common(found, held[each]);
    for (const each of out) found = common(found, outside(held[each]));
    return found;
  });
}

// ---------------------------------------------------------------- axes

const log = Math.log10;

function decades(value, low = 1) {
  const at = log(value);
  return [Math.max(low, 10 ** Math.floor(at - 1.3)), 10 ** Math.ceil(at + 1.3)];
}

function frameOf(box, x, y) {
  const width = Math.round(Math.min(Math.max(box.clientWidth, 260), 760));
  const height = Math.round(Math.min(Math.max(width * 0.6, 220), 430));
  const inner = { left: MARGIN.left, right: width - MARGIN.right, top: MARGIN.top, bottom: height - MARGIN.bottom };
  const place = (axis, value) => {
    const { low, high, log: powers } = axis;
    return powers ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
  };
  return {
    width,
    height,
    inner,
    x,
    y,
    px: (value) => inner.left + (inner.right - inner.left) * place(x, value),
    py: (value) => inner.bottom - (inner.bottom - inner.top) * Math.min(Math.max(place(y, value), -0.5), 1.5),
    value: (axis, share) => (axis.log ? axis.low * (axis.high / axis.low) ** share : axis.low + (axis.high - axis.low) * share),
  };
}

const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";
const powerText = (n) => `10${n < 0 ? "⁻" : ""}${[...String(Math.abs(n))].map((each) => RAISED[each]).join("")}`;

function ticks(axis) {
  const found = [];
  if (axis.log) {
    const first = Math.ceil(log(axis.low) - 1e-9), last = Math.floor(log(axis.high) + 1e-9);
    const every = Math.ceil((last - first + 1) / 7) || 1;
    for (let n = first; n <= last; n += 1) found.push([10 ** n, (n - first) % every ? "" : n >= 0 && n <= 3 ? String(10 ** n) : powerText(n)]);
    if (last - first < 1) for (const m of [2, 3, 5, 7]) for (let n = first - 1; n <= last; n += 1) {
      const value = m * 10 ** n;
      if (value > axis.low && value < axis.high) found.push([value, short(value)]);
    }
    return found;
  }
  const rough = (axis.high - axis.low) / 5, size = 10 ** Math.floor(log(rough));
  const step = [1, 2, 5, 10].map((each) => each * size).find((each) => each >= rough);
  for (let at = Math.ceil(axis.low / step) * step; at <= axis.high * (1 + 1e-9); at += step) found.push([at, short(at)]);
  return found;
}

const short = (value) => (value !== 0 && (Math.abs(value) >= 1e5 || Math.abs(value) < 1e-3) ? value.toExponential(0) : String(Number(value.toPrecision(4))));

function axes(frame, xName, yName) {
  const { inner } = frame;
  const group = svg("g", { class: "axes" });
  for (const [value, label] of ticks(frame.x)) {
    const at = frame.px(value);
    if (at < inner.left - 0.5 || at > inner.right + 0.5) continue;
    group.append(svg("line", { x1: at, x2: at, y1: inner.bottom, y2: inner.bottom + 5 }));
    if (label) group.append(svg("text", { x: at, y: inner.bottom + 18, "text-anchor": "middle" }, label));
  }
  for (const [value, label] of ticks(frame.y)) {
    const at = frame.py(value);
    if (at < inner.top - 0.5 || at > inner.bottom + 0.5) continue;
    group.append(svg("line", { x1: inner.left - 5, x2: inner.left, y1: at, y2: at }));
    if (label) group.append(svg("text", { x: inner.left - 8, y: at + 4, "text-anchor": "end" }, label));
  }
  group.append(svg("rect", { class: "frame", x: inner.left, y: inner.top, width: inner.right - inner.left, height: inner.bottom - inner.top }));
  group.append(svg("text", { class: "name", x: inner.right, y: frame.height - 5, "text-anchor": "end" }, xName));
  group.append(svg("text", { class: "name", x: 4, y: 15 }, yName));
  return group;
}

const clipped = (id, { inner }) =>
  svg("clipPath", { id }, svg("rect", { x: inner.left, y: inner.top, width: inner.right - inner.left, height: inner.bottom - inner.top }));

// ---------------------------------------------------------------- maps

function mapPoint(board, map) {
  const vector = board.vectors[map.at];
  const place = map.across ?? map.x[0];
  const lacks = missing(board, map.at, [...new Set([...map.needs, place])]);
  if (lacks) return { lacks };
  const values = vector.map(toFloat);
  return { place, values, x: values[place], y: map.y(floats, values) };
}

function drawMap(board, number) {
  const map = board.maps[number];
  const box = byId(`${board.key}-m${number}`);
  const here = box.parentElement.querySelector(".here");
  const point = mapPoint(board, map);
  box.parentElement.classList.toggle("lacking", Boolean(point.lacks));
  if (point.lacks) {
    box.replaceChildren();
    here.textContent = `The map ${point.lacks.startsWith("needs") ? point.lacks : `cannot be drawn: ${point.lacks}`}.`;
    return;
  }
  const [x0, x1] = decades(point.x), [y0, y1] = decades(point.y, map.span.length ? 1e-9 : 1);
  const own = map.span.length && point.place === map.x[0];
  const span = own ? [Math.min(map.span[0], point.x), Math.max(map.span[1], point.x), Math.min(map.span[2], point.y), Math.max(map.span[3], point.y)] : [x0, x1, y0, y1];
  const frame = frameOf(box, { low: span[0], high: span[1], log: true }, { low: span[2], high: span[3], log: true });
  const xName = board.inputs[point.place].name;
  const picture = svg("svg", { viewBox: `0 0 ${frame.width} ${frame.height}`, width: frame.width, height: frame.height, role: "img" });
  const columns = sampled(map, point, frame);
  const clip = `${board.key}-mclip${number}`;
  picture.append(clipped(clip, frame));
  const shapes = svg("g", { "clip-path": `url(#${clip})` });
  map.areas.forEach((area, n) => shapes.append(...areaShapes(columns, n, frame)));
  picture.append(shapes);
  const taken = [{ x: frame.px(point.x), y: frame.py(point.y), half: 8 }];
  map.areas.forEach((area, n) => picture.append(...areaLabel(columns, n, frame, area[0], taken)));
  picture.append(axes(frame, xName, map.yName || ""));
  const at = piecesAt(map, point.values).findIndex((pieces) => pieces.some(([low, high]) => low <= point.y && point.y <= high));
  picture.append(svg("path", { class: "cross", d: `M${frame.px(point.x)} ${frame.inner.top}V${frame.inner.bottom}M${frame.inner.left} ${frame.py(point.y)}H${frame.inner.right}` }));
  picture.append(svg("circle", { class: "point", cx: frame.px(point.x), cy: frame.py(point.y), r: 6 }));
  const words = `At ${xName} = ${floatText(point.x)} and ${map.yName} = ${floatText(point.y)}: ${at < 0 ? "on a border" : map.areas[at][0]}.`;
  picture.setAttribute("aria-label", `${map.title}, over ${xName} and ${map.yName}. ${words}`);
  box.replaceChildren(picture);
  box.dataset.area = at < 0 ? "" : map.areas[at][0];
  here.textContent = words;
  map.frame = frame;
  map.point = point;
}

const floatText = (value) => readable(fromFloat(value));

function fromFloat(value) {
  const [mantissa, power] = value.toExponential().split("e");
  return numeral(`${mantissa}e${power}`);
}

function sampled(map, point, frame) {
  const found = [];
  for (let n = 0; n <= COLUMNS; n += 1) {
    const x = frame.value(frame.x, n / COLUMNS);
    const values = point.values.slice();
    values[point.place] = x;
    found.push({ at: frame.px(x), areas: piecesAt(map, values) });
  }
  return found;
}

// one shape for every run of columns in which an area has as many pieces
function areaShapes(columns, area, frame) {
  const shapes = [];
  let run = [];
  const close = (end) => {
    const count = run.length ? run[0].areas[area].length : 0;
    for (let piece = 0; piece < count; piece += 1) {
      const edge = run.map((each) => [each.at, ...each.areas[area][piece]]);
      const first = run[0].from, last = end;
      const above = edge.map(([at, , high]) => `${at.toFixed(1)} ${frame.py(high).toFixed(1)}`);
      const below = edge.map(([at, low]) => `${at.toFixed(1)} ${frame.py(low).toFixed(1)}`).reverse();
      const ends = [`${first.toFixed(1)} ${above[0].split(" ")[1]}`, `${last.toFixed(1)} ${above[above.length - 1].split(" ")[1]}`];
      const feet = [`${last.toFixed(1)} ${below[0].split(" ")[1]}`, `${first.toFixed(1)} ${below[below.length - 1].split(" ")[1]}`];
      shapes.push(svg("path", { class: `area area${area % 6}`, d: `M${[ends[0], ...above, ends[1], feet[0], ...below, feet[1]].join("L")}Z` }));
    }
    run = [];
  };
  columns.forEach((column, n) => {
    const before = columns[n - 1];
    const from = before ? (before.at + column.at) / 2 : column.at;
    if (run.length && run[0].areas[area].length !== column.areas[area].length) close(from);
    run.push({ ...column, from: run.length ? run[0].from : from });
  });
  close(columns[columns.length - 1].at);
  return shapes;
}

// the name of an area where it has most room, on no other name and not on the point; none where there is no room
function areaLabel(columns, area, frame, text, taken) {
  let best = null;
  const half = 3.6 * text.length;
  const inside = (x, y) => columns.every((each) => Math.abs(each.at - x) > half + 3 || each.areas[area].some(([low, high]) => frame.py(high) < y - 14 && y + 6 < frame.py(low)));
  const free = (x, y) => inside(x, y) && taken.every((each) => Math.abs(each.x - x) > each.half + half + 6 || Math.abs(each.y - y) > 20);
  for (const column of columns) {
    for (const [low, high] of column.areas[area]) {
      const bottom = Math.min(frame.py(low), frame.inner.bottom), top = Math.max(frame.py(high), frame.inner.top);
      const room = Math.min(column.at - frame.inner.left, frame.inner.right - column.at) - half;
      if (room > 0 && bottom - top > 26 && free(column.at, (top + bottom) / 2 + 4) && (!best || bottom - top + Math.min(room, 60) > best.size)) {
        best = { size: bottom - top + Math.min(room, 60), x: column.at, y: (top + bottom) / 2 + 4 };
      }
    }
  }
  if (best) taken.push({ x: best.x, y: best.y, half });
  return best ? [svg("text", { class: "label", x: best.x, y: best.y, "text-anchor": "middle" }, text)] : [];
}

// a click puts the point there
function pointAt(board, number, event) {
  const map = board.maps[number];
  const { frame, point } = map;
  if (!frame || point.lacks) return;
  const shape = event.currentTarget.querySelector("svg").getBoundingClientRect();
  const share = (event.clientX - shape.left) / shape.width * frame.width, down = (event.clientY - shape.top) / shape.height * frame.height;
  const x = frame.value(frame.x, (share - frame.inner.left) / (frame.inner.right - frame.inner.left));
  const y = frame.value(frame.y, (frame.inner.bottom - down) / (frame.inner.bottom - frame.inner.top));
  const values = point.values.slice();
  values[point.place] = x;
  const lead = values[map.lead] * (y / map.y(floats, values));
  type(board, point.place, String(rounded(x)));
  type(board, map.lead, String(rounded(lead)));
}

const rounded = (value) => Number(value >= 100 ? Math.round(Number(value.toPrecision(2))) : value.toPrecision(2));
