// Points, nodes and models by group, on axes that can be chosen.
function dots(canvas, view) {
  const axes = view.axes.map(unpackRange), chosen = [0, Math.min(1, axes.length - 1)];
  const elements = view.dots ? unpack(view.dots) : null;
  const groups = () => (view.groupsAt ? view.groupsAt[Math.min(state.point, view.groupsAt.length - 1)] : Array.from(elements, (i) => labelsAt()[i]));
  let place = null, current = [], picture = null;
  const low = (values) => values.reduce((a, b) => Math.min(a, b), Infinity), high = (values) => values.reduce((a, b) => Math.max(a, b), -Infinity);

  function paint(context, width, height) {
    const [xs, ys] = chosen.map((k) => axes[k]), pad = 30;
    // the first pixel of a picture is centred at 0, 0
    const edge = picture ? [-.5, picture.naturalWidth - .5, -.5, picture.naturalHeight - .5] : [Infinity, -Infinity, Infinity, -Infinity];
    const x0 = Math.min(low(xs), edge[0]), x1 = Math.max(high(xs), edge[1]), y0 = Math.min(low(ys), edge[2]), y1 = Math.max(high(ys), edge[3]);
    let sx = (width - 2 * pad) / (x1 - x0 || 1), sy = (height - 2 * pad) / (y1 - y0 || 1);
    if (view.equal) sx = sy = Math.min(sx, sy);
    const left = (width - sx * (x1 - x0)) / 2, down = (height - sy * (y1 - y0)) / 2;
    place = (x, y) => [left + sx * (x - x0), view.image ? down + sy * (y - y0) : height - down - sy * (y - y0)];
    current = groups();
    if (picture) {
      context.globalAlpha = .75;
      context.drawImage(picture, ...place(edge[0], edge[2]), sx * picture.naturalWidth, sy * picture.naturalHeight);
      context.globalAlpha = 1;
    }
    if (view.edges) {
      context.strokeStyle = variable("--soft");
      view.edges.forEach(([s, t], k) => {
        context.globalAlpha = state.group === null || (current[s] === state.group && current[t] === state.group) ? .4 : .08;
        context.lineWidth = view.widths[k];
        context.beginPath(); context.moveTo(...place(xs[s], ys[s])); context.lineTo(...place(xs[t], ys[t])); context.stroke();
      });
    }
    (view.bands || []).forEach((band, group) => {
      context.strokeStyle = color(group); context.lineWidth = 1.2; context.globalAlpha = faded(group) ? .12 : .8;
      context.beginPath();
      for (let k = 0; k < band.length; k += 4) { context.moveTo(...place(band[k], band[k + 1])); context.lineTo(...place(band[k + 2], band[k + 3])); }
      context.stroke();
    });
    // those in no group first, so that they lie below
    for (const inside of [false, true]) for (let k = 0; k < xs.length; k++) {
      const group = current[k];
      if (group >= 0 !== inside) continue;
      context.globalAlpha = faded(group) ? .1 : group < 0 ? .55 : .9;
      context.fillStyle = color(group);
      const [px, py] = place(xs[k], ys[k]);
      shapePath(context, group, px, py, view.sizes ? view.sizes[k] : picture ? (group < 0 ? 1.2 : 2) : group < 0 ? 2.2 : 3.4);
      context.fill();
    }
    context.globalAlpha = 1; context.fillStyle = variable("--soft"); context.font = "12px system-ui, sans-serif"; context.textAlign = "center";
    const [xName, yName] = chosen.map((k) => view.axes[k].name);
    // where the data ends, each axis says its number
    const scale = (name, from, to, a, b) => {
      context.fillText(name, (from + to) / 2, 0);
      if (context.measureText(name + roughly(a) + roughly(b)).width > to - from - 20) return;  // a long name needs the room
      context.textAlign = "left"; context.fillText(roughly(a), from, 0);
      context.textAlign = "right"; context.fillText(roughly(b), to, 0);
      context.textAlign = "center";
    };
    const [start, stop] = [place(x0, y0), place(x1, y1)];
    if (xName) { context.save(); context.translate(0, height - 7); scale(xName, start[0], stop[0], x0, x1); context.restore(); }
    if (yName) {
      const [bottom, top] = view.image ? [stop[1], start[1]] : [start[1], stop[1]];
      context.save(); context.translate(14, 0); context.rotate(-Math.PI / 2);
      scale(yName, -bottom, -top, ...(view.image ? [y1, y0] : [y0, y1]));
      context.restore();
    }
  }
  function nearest(event) {
    const frame = canvas.getBoundingClientRect(), x = event.clientX - frame.left, y = event.clientY - frame.top, [xs, ys] = chosen.map((k) => axes[k]);
    let best = -1, least = 400;
    for (let k = 0; k < xs.length; k++) {
      const [px, py] = place(xs[k], ys[k]), d = (px - x) ** 2 + (py - y) ** 2;
      if (d < least) { least = d; best = k; }
    }
    return best;
  }
  const named = (k) => (elements ? data.elements.ids[elements[k]] : view.names[k]);
  tipped(canvas, (event) => {
    const k = nearest(event);
    if (k < 0) return null;
    const sure = elements && !view.groupsAt && current[k] >= 0 && !data.overlap ? ["confidence " + number(confidenceAt()[elements[k]], 2)] : [];
    return [named(k), groupName(current[k]), ...sure];
  });
  canvas.addEventListener("click", (event) => {
    const k = nearest(event);
    if (k < 0) return;
    if (elements) openElement(elements[k], false);
    select(current[k]);
  });
  if (axes.length > 2) {
    const options = () => view.axes.map((axis, k) => make("option", { value: k, text: axis.name }));
    ["across", "up"].forEach((way, which) => {
      const choice = make("select", { "aria-label": "What is drawn " + way, onchange: (event) => { chosen[which] = Number(event.target.value); refresh(); } }, ...options());
      choice.value = chosen[which];
      at("view-axes").append(make("label", {}, way + " ", choice));
    });
    const first = Math.max(0, view.axes.findIndex((axis) => axis.name.startsWith("component 1 ")));
    const pairs = [...(first ? [["The models", [0, 1]]] : []), ["Largest variance", [first, first + 1]], ["Separating the groups", separating(view.axes)]].filter(([, pair]) => pair);
    for (const [name, pair] of pairs) at("view-axes").append(make("button", { type: "button", text: name, onclick: () => {
      chosen.splice(0, 2, ...pair);
      at("view-axes").querySelectorAll("select").forEach((choice, k) => { choice.value = chosen[k]; });
      refresh();
    } }));
  }
  if (view.image) {
    const loading = new Image();
    loading.onload = () => { picture = loading; refresh(); canvas.dataset.picture = "shown"; };
    loading.src = view.image;
  }
  paintable(canvas, paint, "elements");
}
function separating(axes) {
  const found = [...axes.keys()].filter((k) => axes[k].name.startsWith("separates the groups"));
  return found.length > 1 ? found.slice(0, 2) : found.length ? [found[0], axes.findIndex((axis) => axis.name.startsWith("component 1 "))] : null;
}
