// Bars and histograms as SVG, matrices and dots on canvases.
const WIDE = 900;

function histogram(place, edges, layers, options) {
  const H = 220, left = 56, bottom = 34, width = WIDE - left - 12, height = H - bottom - 12;
  const totals = edges.slice(1).map((_, bin) => layers.reduce((sum, layer) => sum + layer[bin], 0));
  const top = Math.max(1, ...totals), low = edges[0], span = edges[edges.length - 1] - low;
  const x = (value) => left + width * (value - low) / span, y = (value) => 12 + height * (1 - value / top);
  function render() {
    const svg = draw("svg", { viewBox: `0 0 ${WIDE} ${H}`, role: "img", "aria-label": options.label });
    edges.slice(1).forEach((right, bin) => {
      let floor = 0;
      layers.forEach((layer, group) => {
        if (!layer[bin]) return;
        const rect = draw("rect", { x: x(edges[bin]) + .5, width: Math.max(1, x(right) - x(edges[bin]) - 1), y: y(floor + layer[bin]), height: y(floor) - y(floor + layer[bin]),
          fill: options.plain ? COLORS[0] : color(group), opacity: options.plain || !faded(group) ? 1 : .15 });
        const lines = [number(layer[bin]) + " elements" + (options.plain ? "" : " of " + groupName(group)), "between " + number(edges[bin]) + " and " + number(right)];
        rect.addEventListener("mousemove", (event) => tip(event, lines));
        rect.addEventListener("mouseleave", () => tip(null, null));
        if (!options.plain) rect.addEventListener("click", () => select(group));
        svg.append(rect);
        floor += layer[bin];
      });
    });
    svg.append(draw("line", { class: "axis", x1: left, x2: left + width, y1: y(0), y2: y(0) }), draw("text", { x: left - 6, y: 20, "text-anchor": "end", text: number(top) }), draw("text", { x: left - 6, y: y(0), "text-anchor": "end", text: "0" }));
    for (let k = 0; k <= 4; k++) svg.append(draw("text", { x: x(low + span * k / 4), y: H - 14, "text-anchor": k === 4 ? "end" : "middle", text: Number((low + span * k / 4).toPrecision(3)) }));
    if (options.limit !== undefined) svg.append(draw("line", { class: "limit", x1: x(options.limit), x2: x(options.limit), y1: 8, y2: y(0) }));
    place.replaceChildren(svg);
  }
  state.redraw.push(render); render();
}

function bars(place, rows, options) {
  const step = 20, H = rows.length * step + 30, left = 260, width = WIDE - left - 70;
  const top = options.top || Math.max(1e-12, ...rows.map((row) => row.value || 0));
  const svg = draw("svg", { viewBox: `0 0 ${WIDE} ${H}`, role: "img", "aria-label": options.label });
  rows.forEach((row, k) => {
    const y = 4 + k * step, value = Math.max(0, row.value || 0), name = row.name.length > 38 ? row.name.slice(0, 37) + "…" : row.name;
    const rect = draw("rect", { x: left, y: y + 3, width: Math.max(.5, width * Math.min(1, value / top)), height: step - 6, fill: row.color });
    rect.addEventListener("mousemove", (event) => tip(event, row.lines));
    rect.addEventListener("mouseleave", () => tip(null, null));
    svg.append(draw("text", { x: left - 8, y: y + step - 6, "text-anchor": "end", text: name }), rect,
      draw("text", { x: left + width * Math.min(1, value / top) + 6, y: y + step - 6, text: row.value === null ? "–" : number(row.value, options.digits) }));
  });
  if (options.limit !== undefined && options.limit !== null) svg.append(draw("line", { class: "limit", x1: left + width * Math.min(1, options.limit / top), x2: left + width * Math.min(1, options.limit / top), y1: 0, y2: H - 24 }));
  place.append(svg);
}

function matrix(canvas, picture) {
  const cells = bytes(picture.cells), rows = picture.rowGroups, columns = picture.columnGroups, a = rows.length, b = columns.length;
  canvas.width = b; canvas.height = a;
  function render() {
    const context = canvas.getContext("2d"), image = context.createImageData(b, a), ground = rgb(variable("--bg")), grey = rgb(GREY), table = COLORS.map(rgb);
    for (let i = 0; i < a; i++) for (let j = 0; j < b; j++) {
      const own = rows[i] >= 0 && rows[i] === columns[j], ink = own ? table[rows[i] % COLORS.length] : grey;
      const out = state.group !== null && !(own && rows[i] === state.group);
      const share = cells[i * b + j] / 255 * (out ? .25 : 1), k = 4 * (i * b + j);
      for (let c = 0; c < 3; c++) image.data[k + c] = ground[c] + share * (ink[c] - ground[c]);
      image.data[k + 3] = 255;
    }
    context.putImageData(image, 0, 0);
  }
  function cell(event) {
    const box = canvas.getBoundingClientRect();
    return [Math.min(a - 1, Math.max(0, Math.floor((event.clientY - box.top) / box.height * a))), Math.min(b - 1, Math.max(0, Math.floor((event.clientX - box.left) / box.width * b)))];
  }
  canvas.addEventListener("mousemove", (event) => {
    const [i, j] = cell(event), lines = ["elements of " + groupName(rows[i]), picture.names ? "candidate " + picture.names[j] : "candidates of " + groupName(columns[j])];
    const ink = cells[i * b + j] / 255, share = picture.top === null ? ink : ink * ink * picture.top;
    tip(event, [...lines, number(100 * share, share < .1 ? 1 : 0) + "% filled"]);
  });
  canvas.addEventListener("mouseleave", () => tip(null, null));
  canvas.addEventListener("click", (event) => select(rows[cell(event)[0]]));
  state.redraw.push(render); render();
}

function dots(canvas, view) {
  const box = { x0: Math.min(...view.x), x1: Math.max(...view.x), y0: Math.min(...view.y), y1: Math.max(...view.y) };
  let place = null;
  function render() {
    const ratio = Math.min(2, devicePixelRatio || 1), width = canvas.clientWidth, height = canvas.clientHeight, pad = 26;
    canvas.width = width * ratio; canvas.height = height * ratio;
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    let sx = (width - 2 * pad) / (box.x1 - box.x0 || 1), sy = (height - 2 * pad) / (box.y1 - box.y0 || 1);
    if (view.equal) sx = sy = Math.min(sx, sy);
    const left = (width - sx * (box.x1 - box.x0)) / 2, down = (height - sy * (box.y1 - box.y0)) / 2;
    place = (x, y) => [left + sx * (x - box.x0), height - down - sy * (y - box.y0)];
    if (view.edges) {
      context.strokeStyle = variable("--line");
      view.edges.forEach(([s, t], k) => {
        context.globalAlpha = state.group === null || (view.groups[s] === state.group && view.groups[t] === state.group) ? .9 : .15;
        context.lineWidth = view.widths[k];
        context.beginPath(); context.moveTo(...place(view.x[s], view.y[s])); context.lineTo(...place(view.x[t], view.y[t])); context.stroke();
      });
    }
    (view.bands || []).forEach((band, group) => {
      context.strokeStyle = color(group); context.lineWidth = 1.2; context.globalAlpha = faded(group) ? .12 : .8;
      context.beginPath();
      for (let k = 0; k < band.length; k += 4) { context.moveTo(...place(band[k], band[k + 1])); context.lineTo(...place(band[k + 2], band[k + 3])); }
      context.stroke();
    });
    view.order.forEach((k) => {
      const group = view.groups[k];
      context.globalAlpha = faded(group) ? .1 : group < 0 ? .55 : .9;
      context.fillStyle = color(group);
      const [px, py] = place(view.x[k], view.y[k]);
      shapePath(context, group, px, py, view.sizes ? view.sizes[k] : group < 0 ? 2.2 : 3.4);
      context.fill();
    });
    context.globalAlpha = 1; context.fillStyle = variable("--soft"); context.font = "12px system-ui, sans-serif";
    if (view.axes) { context.fillText(view.axes[0], width / 2 - 60, height - 6); context.save(); context.translate(13, height / 2 + 60); context.rotate(-Math.PI / 2); context.fillText(view.axes[1], 0, 0); context.restore(); }
  }
  function nearest(event) {
    const frame = canvas.getBoundingClientRect(), x = event.clientX - frame.left, y = event.clientY - frame.top;
    let best = -1, least = 400;
    for (let k = 0; k < view.x.length; k++) {
      const [px, py] = place(view.x[k], view.y[k]), d = (px - x) ** 2 + (py - y) ** 2;
      if (d < least) { least = d; best = k; }
    }
    return best;
  }
  canvas.addEventListener("mousemove", (event) => { const k = nearest(event); tip(event, k < 0 ? null : [view.names[k], groupName(view.groups[k])].concat(view.backing && view.groups[k] >= 0 ? ["backing " + number(view.backing[k], 2)] : [])); });
  canvas.addEventListener("mouseleave", () => tip(null, null));
  canvas.addEventListener("click", (event) => { const k = nearest(event); if (k >= 0) select(view.groups[k]); });
  addEventListener("resize", render);
  state.redraw.push(render); render();
}
