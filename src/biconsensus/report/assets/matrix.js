// The preference matrix before and after: rows are elements, columns are candidates; cells are means where they are many.
const MOST_CELLS = 320;

function matrixRows() {
  const shown = evenElements.filter((i) => known[i]);
  return shown.length ? shown : [...known.keys()].filter((i) => known[i]);
}
function binned(order, most) {
  const bins = Math.min(order.length, most), of = new Int32Array(order.length), sizes = new Float64Array(bins);
  order.forEach((_, k) => { of[k] = Math.min(bins - 1, Math.floor(k * bins / order.length)); sizes[of[k]]++; });
  return { bins, of, sizes };
}
// Bins never reach over the border of a group, so that every cell has one colour.
function matrixImage(elements, candidates, labels, behind) {
  const rows = binned(elements, MOST_CELLS), columns = binned(candidates, MOST_CELLS);
  const cells = new Float64Array(rows.bins * columns.bins), place = new Int32Array(candidates.length);
  candidates.forEach((j, k) => { place[j] = columns.of[k]; });
  elements.forEach((i, k) => {
    const held = heldLists[rowOf[i]], values = heldValues && heldValues[rowOf[i]];
    for (let e = 0; e < held.length; e++) cells[rows.of[k] * columns.bins + place[held[e]]] += values ? values[e] / 250 : 1;
  });
  let top = 0;
  for (let a = 0; a < rows.bins; a++) for (let b = 0; b < columns.bins; b++) {
    const c = a * columns.bins + b;
    cells[c] /= rows.sizes[a] * columns.sizes[b];
    top = Math.max(top, cells[c]);
  }
  const middle = (order, bins, groups) => {
    const out = new Int32Array(bins.bins).fill(-1);
    order.forEach((item, k) => { out[bins.of[k]] = groups[item]; });
    return out;
  };
  return { rows: rows.bins, columns: columns.bins, cells, top, means: rows.bins < elements.length || columns.bins < candidates.length,
    rowGroups: middle(elements, rows, labels), columnGroups: middle(candidates, columns, behind) };
}
function matrix(canvas, ordered, name) {
  const candidates = [...candidateSource.keys()], elements = matrixRows();
  const last = (group) => (group < 0 ? 1e9 : group);
  let image = null, point = -1;
  function prepare() {
    const labels = labelsAt(), behind = behindAt(), sure = confidenceAt();
    const rows = ordered ? [...elements].sort((a, b) => last(labels[a]) - last(labels[b]) || sure[b] - sure[a] || a - b) : elements;
    const columns = ordered ? [...candidates].sort((a, b) => last(behind[a]) - last(behind[b]) || a - b) : candidates;
    image = matrixImage(rows, columns, labels, behind);
    point = state.point;
  }
  function render() {
    if (point !== state.point) prepare();
    const a = image.rows, b = image.columns;
    canvas.width = Math.max(1, b); canvas.height = Math.max(1, a);
    if (!a || !b) return;
    const context = canvas.getContext("2d"), pixels = context.createImageData(b, a), ground = rgb(variable("--bg")), grey = rgb(GREY);
    const inks = [...Array(here().groups).keys()].map((group) => rgb(color(group)));
    for (let i = 0; i < a; i++) for (let j = 0; j < b; j++) {
      const group = image.rowGroups[i], own = group >= 0 && group === image.columnGroups[j], ink = own ? inks[group] : grey;
      const out = state.group !== null && !(own && group === state.group), cell = image.cells[i * b + j];
      const share = (image.means ? Math.sqrt(cell / (image.top || 1)) : cell) * (out ? .25 : 1), k = 4 * (i * b + j);
      for (let c = 0; c < 3; c++) pixels.data[k + c] = ground[c] + share * (ink[c] - ground[c]);
      pixels.data[k + 3] = 255;
    }
    context.putImageData(pixels, 0, 0);
  }
  function cell(event) {
    const box = canvas.getBoundingClientRect(), clip = (share, size) => Math.min(size - 1, Math.max(0, Math.floor(share * size)));
    return [clip((event.clientY - box.top) / box.height, image.rows), clip((event.clientX - box.left) / box.width, image.columns)];
  }
  tipped(canvas, (event) => {
    const [i, j] = cell(event), share = image.cells[i * image.columns + j];
    const single = !ordered && image.columns === candidates.length && data.candidates.names;
    return ["elements of " + groupName(image.rowGroups[i]), single ? "candidate " + candidateName(j) : "candidates of " + groupName(image.columnGroups[j]),
      number(100 * share, share < .1 ? 1 : 0) + "% filled"];
  });
  canvas.addEventListener("click", (event) => select(image.rowGroups[cell(event)[0]]));
  shows(render, canvas);
  savable(canvas.parentElement, name, () => rasterSvg(canvas));
}
