// Pictures that can be saved: SVG charts as they are, canvases drawn once more by a context that writes SVG.
class SvgContext {
  constructor(width, height) {
    this.width = width; this.height = height; this.parts = []; this.path = ""; this.moves = [[1, 0, 0, 1, 0, 0]];
    this.fillStyle = "#000000"; this.strokeStyle = "#000000"; this.globalAlpha = 1; this.lineWidth = 1; this.font = "12px sans-serif"; this.textAlign = "left";
  }
  beginPath() { this.path = ""; }
  closePath() { this.path += "Z"; }
  moveTo(x, y) { this.path += `M${x.toFixed(2)} ${y.toFixed(2)}`; }
  lineTo(x, y) { this.path += `L${x.toFixed(2)} ${y.toFixed(2)}`; }
  rect(x, y, w, h) { this.path += `M${x.toFixed(2)} ${y.toFixed(2)}h${w.toFixed(2)}v${h.toFixed(2)}h${(-w).toFixed(2)}Z`; }
  arc(x, y, r) { this.path += `M${(x - r).toFixed(2)} ${y.toFixed(2)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`; }
  add(node) {
    const move = this.moves[this.moves.length - 1];
    if (move[0] !== 1 || move[1] !== 0 || move[4] !== 0 || move[5] !== 0) node.setAttribute("transform", `matrix(${move.join(" ")})`);
    if (this.globalAlpha !== 1) node.setAttribute("opacity", this.globalAlpha.toFixed(3));
    this.parts.push(node);
  }
  fill() { this.add(draw("path", { d: this.path, fill: this.fillStyle })); }
  stroke() { this.add(draw("path", { d: this.path, fill: "none", stroke: this.strokeStyle, "stroke-width": this.lineWidth })); }
  fillRect(x, y, w, h) { this.beginPath(); this.rect(x, y, w, h); this.fill(); }
  fillText(text, x, y) {
    const anchor = { left: "start", center: "middle", right: "end" }[this.textAlign];
    this.add(draw("text", { x, y, fill: this.fillStyle, "font-size": 12, "font-family": "sans-serif", "text-anchor": anchor, text }));
  }
  measureText(text) {
    const ruler = document.createElement("canvas").getContext("2d");
    ruler.font = this.font;
    return ruler.measureText(text);
  }
  drawImage(image, x, y, width, height) { this.add(draw("image", { x, y, width, height, href: image.src, preserveAspectRatio: "none" })); }
  clearRect() {}
  save() { this.moves.push([...this.moves[this.moves.length - 1]]); }
  restore() { this.moves.pop(); }
  translate(x, y) { const m = this.moves[this.moves.length - 1]; m[4] += m[0] * x + m[2] * y; m[5] += m[1] * x + m[3] * y; }
  rotate(angle) {
    const m = this.moves[this.moves.length - 1], c = Math.cos(angle), s = Math.sin(angle), [a, b, d, e] = m;
    m[0] = a * c + d * s; m[1] = b * c + e * s; m[2] = d * c - a * s; m[3] = e * c - b * s;
  }
  svg() { return draw("svg", { viewBox: `0 0 ${this.width} ${this.height}`, width: this.width, height: this.height }, ...this.parts); }
}

// The text of an SVG with its ground and the colours of the page, so that it looks the same elsewhere.
function svgText(svg) {
  const copy = svg.cloneNode(true), box = svg.getAttribute("viewBox").split(" ").map(Number);
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", box[2]); copy.setAttribute("height", box[3]);
  const soft = variable("--soft"), line = variable("--line"), ink = variable("--ink");
  const style = `text{fill:${soft};font:12px sans-serif}.axis{stroke:${line}}.limit{stroke:#D55E00;stroke-dasharray:5 4;stroke-width:1.5}`
    + `.line{fill:none;stroke-width:2}.current{fill:none;stroke:${ink};stroke-width:2}.strong{fill:${ink}}`;
  copy.prepend(draw("style", { text: style }), draw("rect", { width: box[2], height: box[3], fill: variable("--bg") }));
  return new XMLSerializer().serializeToString(copy);
}
function save(name, content, type) {
  const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  const link = make("a", { href: url, download: name });
  document.body.append(link); link.click(); link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}
function savePng(name, text) {
  const image = new Image();
  image.onload = () => {
    const canvas = make("canvas", { width: 2 * image.width, height: 2 * image.height });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => save(name, blob));
  };
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text);
}
// Buttons under a picture; `current` gives its SVG as it is on screen.
function savable(figure, name, current) {
  const file = (ending) => `${name}-${here().groups}-groups.${ending}`;
  const buttons = make("div", { class: "save" },
    make("button", { type: "button", text: "SVG", "aria-label": `Save the picture ${name} as SVG`, onclick: () => save(file("svg"), svgText(current()), "image/svg+xml") }),
    make("button", { type: "button", text: "PNG", "aria-label": `Save the picture ${name} as PNG`, onclick: () => savePng(file("png"), svgText(current())) }));
  figure.append(buttons);
}
// A canvas that fits its place and is drawn by `paint(context, width, height)`.
function paintable(canvas, paint, name) {
  function render() {
    const ratio = Math.min(2, devicePixelRatio || 1), width = canvas.clientWidth, height = canvas.clientHeight;
    if (!width) return;
    canvas.width = width * ratio; canvas.height = height * ratio;
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    paint(context, width, height);
  }
  addEventListener("resize", render);
  savable(canvas.parentElement, name, () => {
    const context = new SvgContext(canvas.clientWidth, canvas.clientHeight);
    paint(context, canvas.clientWidth, canvas.clientHeight);
    return context.svg();
  });
  shows(render, canvas);
}
// A canvas of pixels as an SVG with the picture in it.
function rasterSvg(canvas) {
  const width = Math.max(320, canvas.clientWidth), height = Math.max(320, canvas.clientHeight);
  const image = draw("image", { width, height, href: canvas.toDataURL("image/png"), style: "image-rendering:pixelated", preserveAspectRatio: "none" });
  return draw("svg", { viewBox: `0 0 ${width} ${height}` }, image);
}
