(() => {
  "use strict";
  const $ = (id) => document.getElementById(id);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const payload = JSON.parse($("payload").textContent);
  const NO_GROUP = -1;
  const STEP = 50;

  // ---- data: columns, with texts kept once for all charts ----
  const rowsOf = ({ names, columns, texts }) =>
    Array.from({ length: columns.length ? columns[0].length : 0 }, (_, at) =>
      Object.fromEntries(
        names.map((name, i) => [name, texts[i] ? payload.texts[columns[i][at]] : columns[i][at]])
      )
    );
  const withData = (chart) => ({
    ...payload.specs[chart.spec],
    datasets: Object.fromEntries(
      Object.entries(chart.data).map(([name, packed]) => [name, rowsOf(packed)])
    ),
  });

  // ---- look: fonts of the page, and its colours by name, so that they follow it into dark and print ----
  const font = getComputedStyle(document.documentElement).getPropertyValue("--font").trim();
  const [ink, soft, line] = ["var(--ink)", "var(--soft)", "var(--line)"];
  const look = {
    background: "transparent",
    font,
    view: { stroke: null },
    text: { color: ink },
    legend: {
      labelColor: soft, titleColor: soft, labelFontSize: 12, titleFontSize: 12,
      titleFontWeight: "normal", labelFont: font, symbolFillColor: ink,
    },
    style: { ink: { color: ink } },
    axis: {
      labelColor: soft, titleColor: soft, gridColor: line, domainColor: line, tickColor: line,
      labelFontSize: 11.5, titleFontSize: 12, titleFontWeight: "normal", gridOpacity: 0.7,
    },
  };

  // ---- tooltip: text only ----
  const tip = $("tip");
  const showTip = (_handler, event, _item, value) => {
    if (value == null || value === "") { tip.hidden = true; return; }
    const list = document.createElement("dl");
    for (const [name, text] of Object.entries(value)) {
      if (text === "" || text === "null" || text === "NaN" || text === "undefined") continue;
      const term = document.createElement("dt");
      const words = document.createElement("dd");
      term.textContent = name === "difference to others" && payload.adjusted ? payload.adjusted : name;
      words.textContent = String(text);
      words.dir = "auto";
      list.append(term, words);
    }
    tip.replaceChildren(list);
    tip.hidden = false;
    const { width, height } = tip.getBoundingClientRect();
    const left = Math.min(event.clientX + 14, innerWidth - width - 8);
    const top = event.clientY + 18 + height > innerHeight ? event.clientY - height - 12 : event.clientY + 18;
    tip.style.left = `${Math.max(8, left)}px`;
    tip.style.top = `${Math.max(8, top)}px`;
  };
  addEventListener("scroll", () => { tip.hidden = true; }, { passive: true });

  // ---- drawing: one chart after the other, when it comes into sight ----
  const views = new Map();
  let chosen = NO_GROUP;
  const hasChosen = (spec) => (spec.params || []).some((param) => param.name === "chosen");
  const drawNow = async (place, chart) => {
    const spec = withData(chart);
    if (views.has(place)) views.get(place).finalize();
    const drawn = await window.vegaEmbed(place, spec, {
      actions: false, renderer: "svg", ast: true, config: look, tooltip: showTip,
      loader: { load: () => Promise.reject(new Error("no network")) },
    });
    views.set(place, drawn);
    place.dataset.drawn = "yes";
    drawn.view.addEventListener("click", (_event, item) => {
      const group = item && item.datum && item.datum.group;
      if (typeof group === "number") choose(group === chosen ? NO_GROUP : group);
    });
    if (hasChosen(spec)) drawn.view.signal("chosen", chosen).run();
  };
  const waiting = new Set();
  let last = Promise.resolve();
  const draw = (place, chart) => {
    watcher.unobserve(place);
    waiting.add(place);
    last = last.then(() => new Promise((go) => requestAnimationFrame(() => setTimeout(go)))).then(() => drawNow(place, chart))
      .catch((error) => console.error(error.message)); // the next ones are drawn all the same
  };
  const drawPlace = (place) => {
    if (place.id === "pair-plot") drawPair(); else draw(place, payload.charts[place.dataset.chart]);
  };
  const watcher = new IntersectionObserver(
    (seen) => { for (const { isIntersecting, target } of seen) if (isIntersecting) drawPlace(target); },
    { rootMargin: "300px" }
  );
  const drawAll = () => all(".plot").filter((place) => !waiting.has(place)).forEach(drawPlace);

  // ---- map of two attributes ----
  const drawPair = () => {
    const place = $("pair-plot");
    const found = payload.pairs.find(
      (one) => one.pair === +$("pair").value && one.metric === +$("pair-metric").value
    );
    $("pair-words").textContent = found ? found.words : "No groups of these two attributes for this metric.";
    if (found) { draw(place, payload.charts[found.chart]); return; }
    if (views.has(place)) views.get(place).finalize();
    views.delete(place);
    place.replaceChildren();
  };
  if ($("pair")) for (const id of ["pair", "pair-metric"]) $(id).addEventListener("change", drawPair);

  // ---- one chosen group, everywhere ----
  const known = new Map();
  for (const [metric, id] of payload.metrics || []) {
    if (!payload.charts[id]) continue; // no group has enough users for this metric
    const { names, columns, texts } = payload.charts[id].data.points;
    const at = Object.fromEntries(names.map((name, i) => [name, i]));
    columns[at.group].forEach((group, i) => {
      if (!known.has(group)) {
        const label = columns[at.label][i];
        known.set(group, { label: texts[at.label] ? payload.texts[label] : label, size: columns[at.size][i], values: [] });
      }
      known.get(group).values.push([metric, columns[at.value][i], columns[at.difference][i]]);
    });
  }
  // numbers as report/words.py writes them: three digits, an exponent for tiny and huge ones, a true minus
  const short = (value) => {
    const size = Math.abs(value);
    if (size === 0) return "0";
    if (size < 1e-4 || size >= 1e12) return value.toExponential(2).replace("e+", "e").replaceAll("-", "\u2212");
    const decimals = Math.max(0, 2 - Math.floor(Math.log10(size)));
    return value.toLocaleString("en", { minimumFractionDigits: decimals, maximumFractionDigits: decimals }).replace("-", "\u2212");
  };
  const choose = (group) => {
    chosen = group;
    for (const { view, spec } of views.values()) if (hasChosen(spec)) view.signal("chosen", group).run();
    for (const part of all("tr[data-g]")) part.classList.toggle("chosen-row", +part.dataset.g === group);
    for (const card of all(".finding")) card.classList.toggle("is-chosen", +card.dataset.group === group);
    for (const button of all(".choose")) button.setAttribute("aria-pressed", String(+button.dataset.group === group));
    const about = known.get(group);
    $("chosen").hidden = !about;
    if (!about) return;
    $("chosen-label").textContent = about.label;
    $("chosen-users").textContent = `${about.size.toLocaleString("en")} ${payload.unit}`;
    $("chosen-values").replaceChildren(
      ...about.values.map(([metric, value, difference]) => {
        const item = document.createElement("li");
        const number = document.createElement("b");
        number.textContent = short(value);
        const sign = difference == null ? "" : ` (${payload.adjusted ? `${payload.adjusted} ` : ""}${difference > 0 ? "+" : ""}${short(difference)})`;
        item.append(`${metric} `, number, sign);
        return item;
      })
    );
  };

  // ---- the metric of the rows, folded rows and cards ----
  if ($("dots-metric")) {
    $("dots-metric").addEventListener("change", () => {
      all("#dots .dot-table").forEach((table, at) => { table.hidden = at !== +$("dots-metric").value; });
    });
  }
  for (const button of all(".unfold")) {
    const words = button.textContent;
    button.addEventListener("click", () => {
      const isOpen = button.getAttribute("aria-expanded") === "true";
      for (const part of all(".beyond-ten", button.closest("section"))) part.classList.toggle("is-shown", !isOpen);
      button.setAttribute("aria-expanded", String(!isOpen));
      button.textContent = isOpen ? words : words.replace(/all [\d,]+/, "fewer");
    });
  }

  // ---- the table of all groups ----
  const makeTable = (table) => {
    const body = table.tBodies[0];
    // the numbers behind the rows, with all their digits
    const numbers = payload.table.columns;
    const [SIZES] = numbers;
    const rows = [...body.rows].map((row, place) => ({
      row, place, attributes: row.dataset.a.split(" "), metric: row.cells[0].textContent,
      find: row.cells[1].textContent.toLowerCase(), isFinding: Boolean(row.querySelector(".finding-role")),
    }));
    const keyOf = (entry, { sort, number }) =>
      number ? numbers[number][entry.place] : +sort ? entry.find : entry.metric.toLowerCase();
    let order = rows;
    let nShown = STEP;
    const matching = () => {
      const words = $("find").value.trim().toLowerCase().split(/\s+/).filter(Boolean);
      const metric = $("filter-metric").value;
      const attribute = $("filter-attribute").value;
      const least = +$("filter-users").value || 0;
      const onlyFindings = $("filter-findings").checked;
      return order.filter((one) =>
        (!metric || one.metric === metric) && (!attribute || one.attributes.includes(attribute)) &&
        SIZES[one.place] >= least && (!onlyFindings || one.isFinding) && words.every((word) => one.find.includes(word))
      );
    };
    const fill = (most = nShown) => {
      const kept = matching();
      const shown = kept.slice(0, most);
      for (const { row } of shown) row.classList.remove("more");
      body.replaceChildren(...shown.map((one) => one.row));
      $("more").hidden = kept.length <= most;
      $("more").textContent = `Show ${Math.min(STEP * 4, kept.length - most).toLocaleString("en")} more`;
      $("count").textContent = `${kept.length.toLocaleString("en")} of ${payload.table.n_all.toLocaleString("en")} rows` +
        (kept.length > most ? `, the first ${most.toLocaleString("en")} shown` : "");
      all("tr", body).forEach((row) => row.classList.toggle("chosen-row", +row.dataset.g === chosen));
    };
    const sortBy = (column, direction) => {
      const sign = direction === "ascending" ? 1 : -1;
      order = [...rows].sort((one, other) => {
        const [a, b] = [keyOf(one, column), keyOf(other, column)];
        if (a === b) return one.place - other.place;
        if (a === null) return 1;
        if (b === null) return -1;
        return sign * (typeof a === "string" ? a.localeCompare(b, "en", { numeric: true }) : a - b);
      });
      all("th", table.tHead).forEach((head, at) => at === +column.sort ? head.setAttribute("aria-sort", direction) : head.removeAttribute("aria-sort"));
      nShown = STEP;
      fill();
    };

    // the rows that match as CSV: plain numbers, and no text that a spreadsheet would run
    const quoted = (text) => {
      const inert = /^\s*[=+\-@\uff1d\uff0b\uff0d\uff20]/.test(text) ? `'${text}` : text;
      return `"${inert.replace(/"/g, '""')}"`;
    };
    const csv = () => {
      const heads = ["metric", "group", ...payload.table.names, "marked as"].map(quoted);
      const lines = matching().map(({ row, place, metric, isFinding }) => {
        const own = numbers.map((column) => column[place] ?? "");
        return [quoted(metric), quoted(row.querySelector("button").textContent), ...own, quoted(isFinding ? "finding" : "")];
      });
      // the mark in front tells spreadsheets that it is UTF-8
      return "\ufeff" + [heads, ...lines].map((line) => line.join(",") + "\r\n").join("");
    };
    const download = () => {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([csv()], { type: "text/csv;charset=utf-8" }));
      link.download = "fairrec-groups.csv";
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 60000);
    };

    for (const button of all("[data-do=csv]")) button.addEventListener("click", download);
    for (const button of all("[data-sort]", table)) {
      button.addEventListener("click", () => {
        const isUp = button.parentElement.getAttribute("aria-sort") === "ascending";
        sortBy(button.dataset, isUp ? "descending" : "ascending");
      });
    }
    const form = document.querySelector(".filters");
    form.addEventListener("input", () => { nShown = STEP; fill(); });
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", () => setTimeout(() => { nShown = STEP; fill(); }));
    $("more").addEventListener("click", () => { nShown += STEP * 4; fill(); });
    addEventListener("beforeprint", () => { if ($("print-all").checked) fill(Infinity); });
    addEventListener("afterprint", () => fill());
    fill();
  };

  // ---- events ----
  document.documentElement.classList.add("js");
  document.addEventListener("click", (event) => {
    const target = event.target.closest("a, button, summary, tr[data-g], article.finding");
    if (!target || target.matches("a, summary")) return;
    if (target.dataset.do === "print") print();
    else if (target.matches(".choose, article.finding")) {
      const group = +target.dataset.group;
      choose(group === chosen ? NO_GROUP : group);
      if (chosen === group && target.dataset.shows) $(target.dataset.shows).scrollIntoView();
    } else if (target.closest("tr[data-g]")) {
      const group = +target.closest("tr[data-g]").dataset.g;
      choose(group === chosen ? NO_GROUP : group);
    }
  });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") { choose(NO_GROUP); tip.hidden = true; } });
  $("unchoose").addEventListener("click", () => choose(NO_GROUP));
  addEventListener("beforeprint", drawAll);
  if ($("all")) makeTable($("all"));
  for (const place of all(".plot")) watcher.observe(place);
  document.documentElement.dataset.ready = "yes";
})();
