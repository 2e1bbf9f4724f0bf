// A table that can be searched, filtered by group, sorted and paged.
function table(place, columns, rows, options) {
  const view = { search: "", filter: "", sort: options.sort || null, down: Boolean(options.down), page: 0 };
  const body = make("tbody"), count = make("span", { role: "status" }), size = options.page || 25;
  const heads = columns.map((column, index) => make("th", { scope: "col", class: column.digits !== undefined ? "number" : null },
    make("button", { type: "button", text: column.title, title: column.help || "Sort by " + column.title, onclick: () => sortBy(index) })));
  const previous = make("button", { type: "button", text: "‹ previous", onclick: () => { view.page--; render(); } });
  const next = make("button", { type: "button", text: "next ›", onclick: () => { view.page++; render(); } });
  const search = make("input", { type: "search", placeholder: "search", "aria-label": "Search " + options.what,
    oninput: (event) => { view.search = event.target.value.toLowerCase(); view.page = 0; render(); } });
  const tools = make("div", { class: "tools" }, search);
  if (options.groupOf) {
    const filter = make("select", { "aria-label": "Filter " + options.what + " by group",
      onchange: (event) => { view.filter = event.target.value; view.page = 0; render(); } },
      make("option", { value: "", text: "all groups" }), ...options.groups.map((group) => make("option", { value: String(group), text: groupName(group) })));
    tools.append(filter);
  }
  tools.append(count, previous, next);
  place.replaceChildren(tools, make("div", { class: "scroll" }, make("table", {}, make("thead", {}, make("tr", {}, ...heads)), body)));

  function sortBy(index) {
    view.down = view.sort === index ? !view.down : columns[index].digits !== undefined;
    view.sort = index; view.page = 0;
    render();
  }
  function chosen() {
    let kept = rows;
    if (view.filter !== "") kept = kept.filter((row) => String(options.groupOf(row)) === view.filter);
    if (options.follow && state.group !== null) kept = kept.filter((row) => options.groupOf(row) === state.group);
    if (view.search) kept = kept.filter((row) => columns.some((column) => String(column.text(row)).toLowerCase().includes(view.search)));
    if (view.sort !== null) {
      const key = columns[view.sort].key || columns[view.sort].text, sign = view.down ? -1 : 1;
      const value = (row) => { const k = key(row); return k === null || k === undefined ? -Infinity : k; };
      kept = [...kept].sort((a, b) => { const x = value(a), y = value(b); return x < y ? -sign : x > y ? sign : 0; });
    }
    return kept;
  }
  function render() {
    const kept = chosen(), pages = Math.max(1, Math.ceil(kept.length / size));
    view.page = Math.min(Math.max(0, view.page), pages - 1);
    body.replaceChildren(...kept.slice(view.page * size, (view.page + 1) * size).map(line));
    count.textContent = number(kept.length) + (kept.length === rows.length ? "" : " of " + number(rows.length)) + " " + options.what
      + (pages > 1 ? ", page " + (view.page + 1) + " of " + number(pages) : "");
    previous.disabled = view.page === 0; next.disabled = view.page === pages - 1;
    previous.hidden = next.hidden = pages === 1;
    heads.forEach((head, index) => head.setAttribute("aria-sort", view.sort !== index ? "none" : view.down ? "descending" : "ascending"));
  }
  function line(row) {
    const group = options.groupOf ? options.groupOf(row) : null;
    const cells = columns.map((column) => {
      const cell = make("td", { class: column.digits !== undefined ? "number" : null });
      if (column.group && options.pick) cell.append(make("button", { type: "button", "aria-pressed": String(state.group === group), onclick: (event) => { event.stopPropagation(); select(group); } }, swatch(group), " " + column.text(row)));
      else if (column.group) cell.append(swatch(group), column.text(row));
      else cell.textContent = column.text(row);
      return cell;
    });
    const linked = group !== null;
    return make("tr", { class: (linked ? "link" : "") + (linked && !options.follow && state.group === group ? " on" : ""), onclick: linked ? () => select(group) : () => {} }, ...cells);
  }
  state.redraw.push(() => { if (options.follow) view.page = 0; render(); });
  render();
}
