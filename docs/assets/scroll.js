// Wide tables and formulas can be reached and scrolled by the keyboard; the theme sees to code.
const SCROLLS = ".md-typeset__scrollwrap, .formula";
new ResizeObserver(() => {
  for (const each of document.querySelectorAll(SCROLLS)) {
    if (each.clientWidth && each.scrollWidth > each.clientWidth) each.tabIndex = 0;
    else each.removeAttribute("tabindex");
  }
}).observe(document.body);
