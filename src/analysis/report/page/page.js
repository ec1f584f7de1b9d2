// Draws the plots of the page; text and tables need no script. Then <html> has the number of plots (data-drawn) and any
// errors (data-errors).
(() => {
  "use strict";
  const root = document.documentElement;
  const complain = (what) => {
    root.dataset.errors = (root.dataset.errors ? root.dataset.errors + "; " : "") + what;
  };
  addEventListener("error", (event) => complain(event.message));
  addEventListener("securitypolicyviolation", (event) => complain(event.violatedDirective));
  root.classList.add("js");

  const { plots, heat_maps: heatMaps } = JSON.parse(document.getElementById("plots").textContent);
  const kMicro = "\u00b5s";

  const unitOf = (values) => {
    const most = Math.max(0, ...values.filter((value) => value !== null));
    if (most >= 1e6) return { divisor: 1e6, name: "s" };
    return most >= 1e3 ? { divisor: 1e3, name: "ms" } : { divisor: 1, name: kMicro };
  };
  const sizeUnitOf = (values) => {
    const names = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let divisor = 1;
    const most = values.reduce((a, b) => Math.max(a, b), 0);
    for (; most >= 1024 * divisor && names.length > 1; names.shift()) divisor *= 1024;
    return { divisor, name: names[0] };
  };
  const kLocale = "en";  // as in the tables, whatever the browser's is
  const shown = (value) => value.toLocaleString(kLocale, { maximumSignificantDigits: 4 });

  const readColors = () => {
    const style = getComputedStyle(root);
    const get = (name) => style.getPropertyValue(name).trim();
    return { text: get("--text"), soft: get("--soft"), grid: get("--grid"), card: get("--card"), quiet: get("--quiet"),
             series: get("--series").split(/\s+/) };
  };

  // Lines differ in their points too, not only in color.
  const kPoints = ["circle", "rect", "triangle", "rectRot", "star", "crossRot", "cross", "dash"];

  const datasetOf = (plot, series, index, divisor, colors) => {
    const own = series.quiet ? colors.quiet : colors.series[series.color % colors.series.length];
    const dataset = { label: series.label, data: series.values.map((v) => (v === null ? null : v / divisor)),
                      borderColor: own, backgroundColor: own };
    if (plot.kind !== "lines") return Object.assign(dataset, { maxBarThickness: 26, borderWidth: 0 });
    const few = series.values.length <= 60;
    return Object.assign(dataset, { borderWidth: 2, pointRadius: few ? 3 : 0, pointHoverRadius: 5, pointHitRadius: 8,
                                    pointStyle: kPoints[index % kPoints.length], spanGaps: true });
  };

  // Curves over time: each value lasts until the next point.
  const curvesOf = (plot) => {
    const colors = readColors();
    const stacked = plot.kind === "stacked_curves";
    const time = unitOf(plot.times);
    const unit = (plot.in_bytes ? sizeUnitOf : unitOf)(plot.series.flatMap((series) => series.values));
    const axis = (text, more) => Object.assign({ title: { display: true, text, color: colors.soft },
                                                 grid: { color: colors.grid }, ticks: { color: colors.soft } }, more);
    const datasets = plot.series.map((series, i) => {
      const own = colors.series[i % colors.series.length];
      return { label: series.label, borderColor: own, backgroundColor: own, borderWidth: stacked ? 1 : 1.5, pointRadius: 0,
               pointHitRadius: 8, stepped: "before", fill: stacked ? (i === 0 ? "origin" : "-1") : false,
               data: plot.times.map((t, k) => ({ x: t / time.divisor, y: series.values[k] / unit.divisor })) };
    });
    return {
      type: "line", data: { datasets },
      options: {
        animation: false, locale: kLocale, responsive: true, maintainAspectRatio: false, parsing: false,
        interaction: { mode: "index", intersect: false, axis: "x" },
        scales: { x: axis(`${plot.label_axis} (${time.name})`, { type: "linear", beginAtZero: true }),
                  y: axis(`${plot.value_axis} (${unit.name})`, { beginAtZero: true, stacked }) },
        plugins: {
          legend: { display: true, position: "bottom", labels: { color: colors.text, boxWidth: 14, boxHeight: 8 } },
          tooltip: { callbacks: {
            title: (items) => (items.length > 0 ? `after ${shown(items[0].parsed.x)} ${time.name}` : ""),
            label: (item) => ` ${item.dataset.label}: ${shown(item.parsed.y)} ${unit.name}`,
          } },
        },
      },
    };
  };

  const configOf = (plot) => {
    if (plot.kind.endsWith("curves")) return curvesOf(plot);
    const colors = readColors();
    const unit = unitOf(plot.series.flatMap((series) => series.values));
    const lying = plot.kind === "stacked";
    const title = (text) => ({ display: true, text, color: colors.soft });
    const labels = { title: title(plot.label_axis), stacked: lying, grid: { color: colors.grid, display: !lying },
                     ticks: { color: colors.soft, autoSkip: !lying } };
    const values = { title: title(`${plot.value_axis} (${unit.name})`), stacked: lying, beginAtZero: true,
                     grid: { color: colors.grid }, ticks: { color: colors.soft } };
    return {
      type: plot.kind === "lines" ? "line" : "bar",
      data: { labels: plot.labels,
              datasets: plot.series.map((series, i) => datasetOf(plot, series, i, unit.divisor, colors)) },
      options: {
        animation: false, locale: kLocale, responsive: true, maintainAspectRatio: false, indexAxis: lying ? "y" : "x",
        interaction: { mode: "index", intersect: false, axis: lying ? "y" : "x" },
        scales: lying ? { x: values, y: labels } : { x: labels, y: values },
        plugins: {
          legend: { display: true, position: "bottom",
                    labels: { color: colors.text, usePointStyle: plot.kind === "lines",
                              boxWidth: plot.kind === "lines" ? 8 : 14, boxHeight: 8 } },
          tooltip: { callbacks: {
            title: (items) => (items.length > 0 ? `${plot.label_axis} ${items[0].label}` : ""),
            label: (item) => ` ${item.dataset.label}: ${shown(lying ? item.parsed.x : item.parsed.y)} ${unit.name}`,
          } },
        },
      },
    };
  };

  let charts = [];
  const draw = () => {
    for (const chart of charts) chart.destroy();
    charts = [];
    for (const plot of plots) {
      try {
        charts.push(new Chart(document.getElementById(plot.key), configOf(plot)));
      } catch (error) {
        complain(`${plot.key}: ${error.message}`);
      }
    }
    root.dataset.drawn = String(charts.length);
  };

  // A narrow cell shows its value as a tooltip.
  for (const map of heatMaps) {
    document.getElementById(map.key).addEventListener("mouseover", (event) => {
      const cell = event.target.closest("td");
      if (cell === null || cell.title !== "") return;
      const row = cell.parentElement.sectionRowIndex, column = cell.cellIndex - 1;
      const value = map.values[row][column];
      const unit = unitOf([value]);
      const amount = value === null ? "absent" : `waited ${shown(value / unit.divisor)} ${unit.name}`;
      cell.title = `${map.rows[row]}, ${map.columns[column]}: ${amount}`;
    });
  }

  draw();
  for (const query of ["(prefers-color-scheme: dark)", "print"]) matchMedia(query).addEventListener("change", draw);
})();
