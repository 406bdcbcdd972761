"use strict";
(() => {
  // Sorting: the head's button sorts the rows of every group; the foot stays where it is.
  const valueOf = (row, column) => {
    const cell = row.cells[column];
    return cell.dataset.value === undefined ? cell.textContent.trim() : Number(cell.dataset.value);
  };
  const compare = (a, b) => {
    if (typeof a === "number" && typeof b === "number") return a - b;
    if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1; // dashes and words after numbers
    return a.localeCompare(b, "en", { numeric: true });
  };
  const sort = (table, column) => {
    const heads = [...table.tHead.rows[0].cells];
    const descending = heads[column].getAttribute("aria-sort") === "ascending";
    heads.forEach((head) => head.setAttribute("aria-sort", "none"));
    heads[column].setAttribute("aria-sort", descending ? "descending" : "ascending");
    for (const body of table.tBodies) {
      const rows = [...body.rows];
      rows.sort((x, y) => {
        const order = compare(valueOf(x, column), valueOf(y, column));
        return descending ? -order : order;
      });
      body.append(...rows);
    }
  };
  for (const table of document.querySelectorAll("table.sortable")) {
    [...table.tHead.rows[0].cells].forEach((head, column) =>
      head.querySelector("button").addEventListener("click", () => sort(table, column)));
  }

  // The errors behind a cell: a strip plot and the list itself.
  const box = document.getElementById("errors");
  const SVG = "http://www.w3.org/2000/svg";
  const short = (value) => value.toFixed(3).replace(/^0/, "");
  const make = (tag, attributes, text, space) => {
    const element = space ? document.createElementNS(space, tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    if (text !== undefined) element.textContent = text;
    return element;
  };
  const strip = (errors, mean) => {
    const low = Math.min(...errors), high = Math.max(...errors);
    const place = (value) => (high > low ? 12 + 276 * (value - low) / (high - low) : 150);
    const svg = make("svg", { viewBox: "0 0 300 54", "aria-hidden": "true" }, undefined, SVG);
    svg.append(make("line", { x1: 6, x2: 294, y1: 38, y2: 38, stroke: "currentColor" }, undefined, SVG));
    const height = new Map();
    for (const error of [...errors].sort((a, b) => a - b)) {
      const slot = Math.round(place(error) / 6);
      const level = height.get(slot) || 0;
      height.set(slot, level + 1);
      svg.append(make("circle", { cx: place(error), cy: 33 - 5 * Math.min(level, 5), r: 2.6, fill: "var(--dots)", "fill-opacity": 0.75 }, undefined, SVG));
    }
    svg.append(make("line", { x1: place(mean), x2: place(mean), y1: 2, y2: 42, stroke: "var(--mean)", "stroke-width": 1.5 }, undefined, SVG));
    const label = (x, anchor, text) => svg.append(make("text", { x, y: 51, "font-size": 10, fill: "currentColor", "text-anchor": anchor }, text, SVG));
    if (high > low) label(6, "start", short(low));
    label(high > low ? 294 : 150, high > low ? "end" : "middle", short(high));
    return svg;
  };
  let pinned = null, shown = null;
  const hide = () => {
    if (shown) { shown.removeAttribute("aria-describedby"); shown.setAttribute("aria-expanded", "false"); }
    box.hidden = true;
    shown = pinned = null;
  };
  const show = (cell) => {
    if (shown === cell) return;
    if (shown) hide();
    const errors = cell.dataset.errors.split(" ").map(Number);
    const mean = errors.reduce((sum, error) => sum + error, 0) / errors.length;
    box.replaceChildren(
      make("strong", {}, cell.dataset.label),
      make("div", {}, `${errors.length} splits, mean ${short(mean)} (line), smallest ${short(Math.min(...errors))}, largest ${short(Math.max(...errors))}`),
      strip(errors, mean),
      make("div", { class: "list" }, errors.map(short).join(" ")),
    );
    box.hidden = false;
    const at = cell.getBoundingClientRect();
    const left = Math.min(Math.max(6, at.left), document.documentElement.clientWidth - box.offsetWidth - 6);
    const below = at.bottom + 6 + box.offsetHeight < innerHeight || at.top < box.offsetHeight + 6;
    box.style.left = `${left + scrollX}px`;
    box.style.top = `${(below ? at.bottom + 6 : at.top - box.offsetHeight - 6) + scrollY}px`;
    cell.setAttribute("aria-describedby", "errors");
    cell.setAttribute("aria-expanded", "true");
    shown = cell;
  };
  const cells = [...document.querySelectorAll("button.cell")];
  // One stop of the Tab key per table; arrow keys move inside it.
  const enter = (cell) => {
    for (const other of cells) if (other.closest("table") === cell.closest("table")) other.tabIndex = -1;
    cell.tabIndex = 0;
  };
  for (const cell of cells) {
    cell.setAttribute("aria-expanded", "false");
    cell.tabIndex = -1;
    cell.addEventListener("mouseenter", () => { if (!pinned) show(cell); });
    cell.addEventListener("mouseleave", () => { if (!pinned && document.activeElement !== cell) hide(); });
    cell.addEventListener("focus", () => { enter(cell); if (pinned !== cell) pinned = null; show(cell); });
    cell.addEventListener("blur", hide);
    cell.addEventListener("click", () => { if (pinned === cell) { hide(); } else { show(cell); pinned = cell; } });
  }
  for (const table of document.querySelectorAll("table.sortable")) {
    const first = table.querySelector("button.cell");
    if (first) first.tabIndex = 0;
  }
  const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
  const move = (cell, [down, right]) => {
    const rows = [...cell.closest("table").querySelectorAll("tbody tr")];
    let row = rows.indexOf(cell.closest("tr")), column = cell.closest("td").cellIndex;
    for (;;) {
      row += down;
      column += right;
      const target = rows[row] && rows[row].cells[column];
      if (!target) return;
      const button = target.querySelector("button.cell");
      if (button) { button.focus(); return; }
    }
  };
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hide();
    const cell = document.activeElement;
    if (event.key in steps && cell && cell.matches("button.cell")) {
      event.preventDefault();
      move(cell, steps[event.key]);
    }
  });

  // Tables that are wider than the page say so, and show where there is more.
  const wide = [...document.querySelectorAll(".wide")];
  const look = (box) => {
    const hidden = box.scrollWidth - box.clientWidth;
    box.classList.toggle("scrolls", hidden > 2);
    box.classList.toggle("scrolled", hidden > 2 && box.scrollLeft > 2);
    box.classList.toggle("more", hidden > 2 && box.scrollLeft < hidden - 2);
  };
  const lookAll = () => wide.forEach(look);
  for (const box of wide) box.addEventListener("scroll", () => look(box), { passive: true });
  for (const fold of document.querySelectorAll("details")) fold.addEventListener("toggle", lookAll);
  addEventListener("resize", lookAll);
  lookAll();

  // A link to a table that is folded opens it.
  const unfold = () => {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let fold = target && target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    if (target) target.scrollIntoView();
  };
  addEventListener("hashchange", unfold);
  unfold();

  // Printed pages show what is folded, except tables of many pages; narrow figures need no sideways scrolling on a phone.
  let closed = [];
  addEventListener("beforeprint", () => {
    hide();
    closed = [...document.querySelectorAll("details:not([open])")].filter((d) => !d.closest("#provenance, figure, .long"));
    closed.forEach((d) => { d.open = true; });
  });
  addEventListener("afterprint", () => { closed.forEach((d) => { d.open = false; }); });
  for (const image of document.images) {
    const mark = () => image.classList.toggle("narrow", image.naturalWidth < 1500);
    if (image.complete) mark(); else image.addEventListener("load", mark);
  }
})();
