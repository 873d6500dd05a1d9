// A cursor along a chart: by pointer, touch or arrow keys. What it says is read from the chart's own table.

export function followCharts(within) {
  for (const chart of within.querySelectorAll("[data-chart]")) follow(chart);
}

function follow(chart) {
  const figure = chart.closest("figure");
  const table = figure.querySelector("table");
  const readout = figure.querySelector(".readout");
  const cursor = chart.querySelector(".cursor");
  if (!table || !readout || !cursor) return;
  const names = [...table.tHead.rows[0].cells].map((cell) => cell.textContent.trim());
  const rows = [...table.tBodies[0].rows].map((row) => [...row.cells].map((cell) => cell.textContent.trim()));
  if (!rows.length) return;
  let at = rows.length - 1;

  // Whoever does not see it walks it as a slider whose value is the row's sentence.
  chart.tabIndex = 0;
  chart.setAttribute("role", "slider");
  chart.setAttribute("aria-label", chart.dataset.label);
  chart.setAttribute("aria-valuemin", "1");
  chart.setAttribute("aria-valuemax", String(rows.length));
  tell();
  readout.textContent = readout.dataset.hint;

  function tell() {
    const said = rows[at].map((text, index) => (index ? `${names[index]} ${text}` : text)).join(" · ");
    chart.setAttribute("aria-valuenow", String(at + 1));
    chart.setAttribute("aria-valuetext", said);
    return said;
  }

  function show(index) {
    at = Math.max(0, Math.min(rows.length - 1, index));
    const share = `${(100 * (at + 0.5)) / rows.length}%`;
    cursor.setAttribute("x1", share);
    cursor.setAttribute("x2", share);
    chart.classList.add("has-cursor");
    readout.textContent = tell();
  }

  function hide() {
    if (document.activeElement === chart) return;
    chart.classList.remove("has-cursor");
    readout.textContent = readout.dataset.hint;
  }

  chart.addEventListener("pointermove", (event) => {
    const box = chart.getBoundingClientRect();
    show(Math.floor(((event.clientX - box.left) / box.width) * rows.length));
  });
  chart.addEventListener("pointerleave", hide);
  chart.addEventListener("focus", () => show(at));
  chart.addEventListener("blur", hide);
  chart.addEventListener("keydown", (event) => {
    const far = Math.max(1, Math.round(rows.length / 10));
    const steps = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -far, PageUp: far };
    if (event.key in steps) show(at + steps[event.key]);
    else if (event.key === "Home") show(0);
    else if (event.key === "End") show(rows.length - 1);
    else return;
    event.preventDefault();
  });
}
