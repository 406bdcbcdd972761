"use strict";
(() => {
  // Sorting: the head's button sorts the rows of every group; the foot stays where it is.
  const valueOf = (row, column) => {
    const cell = row.cells[column], text = cell.textContent.trim();
    const value = Number(cell.dataset.value ?? (cell.matches(".number") && text ? text : NaN));
    return Number.isNaN(value) ? text : value;
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

  // Filtering: a field above every longer table; "=word" finds rows with a cell of just this word.
  const filter = (table, text) => {
    const wanted = text.trim().toLowerCase();
    const has = wanted.startsWith("=")
      ? (row) => [...row.cells].some((cell) => cell.textContent.trim().toLowerCase() === wanted.slice(1))
      : (row) => row.textContent.toLowerCase().includes(wanted);
    for (const body of table.tBodies) for (const row of body.rows) row.hidden = !has(row);
  };
  for (const table of document.querySelectorAll("table.sortable")) {
    const rows = [...table.tBodies].flatMap((body) => [...body.rows]);
    if (rows.length < 8) continue;
    const field = document.createElement("input"), label = document.createElement("label"), count = document.createElement("span");
    field.type = "search";
    field.placeholder = "filter rows";
    field.setAttribute("aria-label", "Filter rows");
    label.className = "filter";
    label.append(field, count);
    table.closest(".wide").before(label);
    field.addEventListener("input", () => {
      filter(table, field.value);
      count.textContent = field.value ? `${rows.filter((row) => !row.hidden).length} of ${rows.length}` : "";
    });
  }
  // A verdict leads to the claims that have it.
  for (const link of document.querySelectorAll(".verdicts a")) {
    link.addEventListener("click", () => {
      const field = document.querySelector(`${link.getAttribute("href")} .filter input`);
      if (field) { field.value = `=${link.dataset.word}`; field.dispatchEvent(new Event("input")); }
    });
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
    open(cell.getBoundingClientRect());
    cell.setAttribute("aria-describedby", "errors");
    cell.setAttribute("aria-expanded", "true");
    shown = cell;
  };
  const open = (at) => {
    box.hidden = false;
    const left = Math.min(Math.max(6, at.left), document.documentElement.clientWidth - box.offsetWidth - 6);
    const below = at.bottom + 6 + box.offsetHeight < innerHeight || at.top < box.offsetHeight + 6;
    box.style.left = `${left + scrollX}px`;
    box.style.top = `${(below ? at.bottom + 6 : at.top - box.offsetHeight - 6) + scrollY}px`;
  };
  // The numbers behind the point that is nearest to the pointer.
  let near = null;
  const leave = () => { if (near) { near.classList.remove("near"); near = null; hide(); } };
  document.addEventListener("pointerdown", (event) => { if (!event.target.closest(".plot svg")) leave(); });
  for (const plot of document.querySelectorAll(".plot svg")) {
    const points = [...plot.querySelectorAll("g")];
    const enter = (event) => {
      const away = (point) => {
        const at = point.querySelector("circle").getBoundingClientRect();
        return Math.hypot(event.clientX - at.x - at.width / 2, event.clientY - at.y - at.height / 2);
      };
      const found = points.reduce((best, point) => (away(point) < away(best) ? point : best));
      if (found === near) return;
      leave();
      near = found;
      near.classList.add("near");
      plot.append(near);
      box.replaceChildren(make("strong", {}, near.dataset.label), ...near.dataset.numbers.split("|").map((line) => make("div", {}, line)));
      open(near.querySelector("circle").getBoundingClientRect());
    };
    plot.addEventListener("pointermove", enter);
    plot.addEventListener("pointerdown", enter);
    plot.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") leave(); });
  }
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

  // The sidebar says where on the page one is.
  const links = new Map([...document.querySelectorAll("nav li a")].map((link) => [link.hash.slice(1), link]));
  const here = () => {
    const passed = [...links.keys()].filter((name) => document.getElementById(name).getBoundingClientRect().top < innerHeight / 3);
    const end = innerHeight + scrollY > document.documentElement.scrollHeight - 3;
    const current = (end ? [...links.keys()] : passed).at(-1) || "overview";
    for (const [name, link] of links) {
      if (name !== current) link.removeAttribute("aria-current");
      else if (!link.hasAttribute("aria-current")) {
        link.setAttribute("aria-current", "true");
        const bar = link.closest("nav");
        bar.scrollTo({ left: link.offsetLeft - bar.clientWidth / 3, top: link.offsetTop - bar.clientHeight / 2 });
      }
    }
  };
  addEventListener("scroll", here, { passive: true });
  here();

  document.getElementById("theme").addEventListener("click", () => {
    const theme = document.documentElement.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
    document.documentElement.dataset.theme = theme === "dark" ? "light" : "dark";
  });

  // Printed pages show what is folded, except tables of many pages.
  let closed = [];
  addEventListener("beforeprint", () => {
    hide();
    closed = [...document.querySelectorAll("details:not([open])")].filter((d) => !d.closest("#provenance, figure, .long"));
    closed.forEach((d) => { d.open = true; });
  });
  addEventListener("afterprint", () => { closed.forEach((d) => { d.open = false; }); });
})();
