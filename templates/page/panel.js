// The panel of inputs, the theme, and when to count again.
"use strict";

const WAITING = new Set();

// a number exactly as a reader may type it
function exactText(x, unit) {
  if (unit) {
    const [scaled, word] = displayed(x, unit, 6);
    return `${plainDigits(scaled)} ${word}`;
  }
  return plainDigits(x);
}

function plainDigits(x) {
  let rest = x.q, places = 0;
  while (rest % 10n === 0n || rest % 2n === 0n || rest % 5n === 0n) {
    rest = rest % 10n === 0n ? rest / 10n : rest % 2n === 0n ? rest / 2n : rest / 5n;
    places += 1;
  }
  if (rest !== 1n || places > 12) return `${x.p}/${x.q}`;
  const digits = ((x.p * 10n ** BigInt(places)) / x.q).toString().padStart(places + 1, "0");
  if (places === 0 && digits.length > 15) {
    const power = /0*$/.exec(digits)[0].length;
    return power > 6 ? `${digits.slice(0, -power)}e${power}` : grouped(digits);
  }
  const whole = digits.slice(0, digits.length - places);
  const part = digits.slice(digits.length - places).replace(/0+$/, "");
  return grouped(whole) + (part ? `.${part}` : "");
}

function later(board) {
  if (!WAITING.size) {
    requestAnimationFrame(() => {
      const boards = [...WAITING];
      WAITING.clear();
      boards.forEach(refresh);
    });
  }
  WAITING.add(board);
}

const field = (board, place) => byId(`${board.key}-i${place}`);

// the numbers that the steps have for a place which nobody has typed into, several where they differ
function startsOf(board, place) {
  const input = board.inputs[place];
  const settings = board.settings.filter((each) => each.has(place));
  const found = settings.length ? settings.map((each) => valueAt(board, place, each)) : [startOf(board, input)];
  const texts = found.filter((each) => each !== null).map((each) => exactText(each, input.unit));
  return [...new Set(texts)];
}

function showStart(board, place) {
  const element = field(board, place);
  const texts = startsOf(board, place);
  element.value = texts.length === 1 ? texts[0] : "";
  element.placeholder = texts.length ? texts.join("; ") : "–";
}

function type(board, place, text) {
  const element = field(board, place);
  if (element.value !== text) element.value = text;
  const fault = byId(`${board.key}-e${place}`);
  const wrong = (words) => {
    fault.textContent = words;
    fault.hidden = !words;
    if (words) element.setAttribute("aria-invalid", "true");
    else element.removeAttribute("aria-invalid");
  };
  if (!text.trim()) {
    board.typed.delete(place);
    wrong("");
  } else {
    const found = readNumber(text, board.inputs[place].unit);
    if (found.fault) board.typed.set(place, {});
    else board.typed.set(place, found);
    wrong(found.fault || "");
  }
  element.closest(".field").classList.toggle("typed", board.typed.has(place));
  later(board);
}

function choose(board, title) {
  board.chosen = title;
  board.root.querySelector(".chips").value = title;
  board.inputs.forEach((input, place) => {
    if (input.onChip) forget(board, place);
  });
  showStarts(board);
}

function chooseDtype(board, dtype) {
  const select = board.root.querySelector(".dtypes");
  if (!select) return;
  board.dtype = dtype;
  select.value = dtype;
  board.inputs.forEach((input, place) => {
    if (input.width || (input.onChip && input.name === "C")) forget(board, place);
  });
  showStarts(board);
}

function forget(board, place) {
  board.typed.delete(place);
  type(board, place, "");
}

function showStarts(board) {
  board.inputs.forEach((_, place) => {
    if (!board.typed.has(place)) showStart(board, place);
  });
  later(board);
}

const offerChips = (select) => select.append(...OFFERED.map((title) => new Option(title, title)));

// one chip and one dtype for all derivations of a page
function together() {
  const box = document.querySelector(".together");
  if (!box) return;
  box.hidden = false;
  const chips = byId("chips"), dtypes = byId("dtypes");
  offerChips(chips);
  chips.addEventListener("change", () => BOARDS.forEach((board) => choose(board, chips.value)));
  if (!dtypes) return;
  dtypes.append(...Object.keys(BYTES).map((each) => new Option(each, each)));
  dtypes.addEventListener("change", () => BOARDS.forEach((board) => chooseDtype(board, dtypes.value)));
}

function reset(board) {
  board.inputs.forEach((_, place) => forget(board, place));
  chooseDtype(board, "");
  choose(board, "");
}

function listen(board) {
  const panel = board.root.querySelector(".panel");
  panel.hidden = false;
  board.inputs.forEach((_, place) => {
    const element = field(board, place);
    Object.assign(element, { autocomplete: "off", autocapitalize: "off", spellcheck: false, maxLength: 80 });
    const fault = Object.assign(document.createElement("p"), { className: "fault", id: `${board.key}-e${place}`, hidden: true });
    fault.setAttribute("role", "alert");
    element.after(fault);
    element.setAttribute("aria-describedby", fault.id);
    showStart(board, place);
    element.addEventListener("input", () => type(board, place, element.value));
    element.addEventListener("blur", () => {
      if (!element.value.trim()) showStart(board, place);
    });
    element.addEventListener("keydown", (event) => {
      if (event.key !== "ArrowUp" && event.key !== "ArrowDown") return;
      const vector = board.vectors[0] || [];
      const now = board.typed.has(place) ? board.typed.get(place).value : valueAt(board, place, new Map()) || vector[place];
      if (!now) return;
      event.preventDefault();
      const two = exact.n(2n);
      type(board, place, exactText(event.key === "ArrowUp" ? exact.mul(now, two) : exact.div(now, two), board.inputs[place].unit));
    });
  });
  const chips = panel.querySelector(".chips");
  offerChips(chips);
  chips.addEventListener("change", () => choose(board, chips.value));
  const dtypes = panel.querySelector(".dtypes");
  if (dtypes) dtypes.append(...board.dtypes.map((each) => new Option(each, each)));
  if (dtypes) dtypes.addEventListener("change", () => chooseDtype(board, dtypes.value));
  panel.querySelector(".reset").addEventListener("click", () => reset(board));
  board.maps.forEach((map, number) => {
    const box = byId(`${board.key}-m${number}`);
    map.title = box.dataset.title;
    map.yName = box.dataset.y;
    box.addEventListener("click", (event) => pointAt(board, number, event));
    const across = box.parentElement.querySelector("select");
    if (across) {
      across.addEventListener("change", () => {
        map.across = Number(across.value);
        later(board);
      });
    }
  });
  board.plots.forEach((plot, number) => {
    const box = byId(`${board.key}-p${number}`);
    [plot.title, plot.xName, plot.yName] = [box.dataset.title, box.dataset.x, box.dataset.y];
  });
}

// a box that scrolls is one that the keyboard reaches
function reachable() {
  for (const box of document.querySelectorAll(".wide")) {
    if (box.scrollWidth > box.clientWidth + 1) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
}

function theme() {
  const button = byId("theme");
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const root = document.documentElement;
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : dark.matches);
  const show = () => {
    button.textContent = isDark() ? "Light" : "Dark";
    button.setAttribute("aria-label", `Switch to the ${isDark() ? "light" : "dark"} theme`);
  };
  button.hidden = false;
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    show();
  });
  dark.addEventListener("change", show);
  show();
}

// drawings are made where a reader is about to see them, or to print them
function watchful() {
  const observer = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) {
        const board = BOARDS.find((each) => each.root === entry.target);
        board.near = entry.isIntersecting;
        if (board.near && board.vectors.length) draw(board);
      }
    },
    { rootMargin: "800px 0px" },
  );
  BOARDS.forEach((board) => observer.observe(board.root));
  window.addEventListener("beforeprint", () => BOARDS.forEach(draw));
  let width = window.innerWidth;
  window.addEventListener("resize", () => {
    if (window.innerWidth === width) return;
    width = window.innerWidth;
    reachable();
    BOARDS.filter((each) => each.near).forEach(draw);
  });
}

// the first derivation at once, the others one by one, so that a long page answers from the beginning
function start() {
  theme();
  BOARDS.forEach(listen);
  together();
  const waiting = [...BOARDS];
  const next = () => {
    const board = waiting.shift();
    if (board && !board.vectors.length) refresh(board);
    if (waiting.length) setTimeout(next);
    else {
      reachable();
      document.documentElement.classList.add("ready");
    }
  };
  next();
  watchful();
}
