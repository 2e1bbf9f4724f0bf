// A table that can be searched, filtered by group, sorted and paged; `source()` gives its rows at the point on screen.
function table(place, columns, source, options) {
  const view = { search: "", filter: "", sort: options.sort === undefined ? null : options.sort, down: Boolean(options.down), page: 0 };
  const body = make("tbody"), count = make("span", { role: "status" }), size = options.page || 25;
  const heads = columns.map((column, index) => make("th", { scope: "col", class: column.digits !== undefined ? "number" : null },
    make("button", { type: "button", text: column.title, title: column.help || "Sort by " + column.title, onclick: () => sortBy(index) })));
  const previous = make("button", { type: "button", text: "‹ previous", onclick: () => { view.page--; render(); } });
  const next = make("button", { type: "button", text: "next ›", onclick: () => { view.page++; render(); } });
  const search = make("input", { type: "search", placeholder: "search", "aria-label": "Search " + options.what,
    oninput: (event) => { view.search = event.target.value.toLowerCase(); view.page = 0; render(); } });
  const tools = make("div", { class: "tools" }, search);
  const filter = options.filter ? make("select", { "aria-label": "Filter " + options.what + " by group",
    onchange: (event) => { view.filter = event.target.value; view.page = 0; render(); } }) : null;
  if (filter) tools.append(filter);
  tools.append(count, previous, next);
  const caption = make("caption", { class: "hidden", text: options.caption || options.what });
  place.replaceChildren(tools, make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Table of " + options.what },
    make("table", {}, caption, make("thead", {}, make("tr", {}, ...heads)), body)));
  let point = -1, rows = [];

  function sortBy(index) {
    view.down = view.sort === index ? !view.down : columns[index].digits !== undefined;
    view.sort = index; view.page = 0;
    render();
  }
  function choices() {
    const groups = [...Array(Math.min(here().groups, here().sizes.length)).keys()].concat(here().outside ? [-1] : []);
    if (!groups.map(String).includes(view.filter)) view.filter = "";
    filter.replaceChildren(make("option", { value: "", text: "all groups" }), ...groups.map((group) => make("option", { value: String(group), text: groupName(group) })));
    filter.value = view.filter;
  }
  function chosen() {
    let found = rows;
    if (view.filter !== "") found = found.filter((row) => String(options.groupOf(row)) === view.filter);
    if (options.follow && state.group !== null) found = found.filter((row) => options.groupOf(row) === state.group);
    if (view.search) found = found.filter((row) => columns.some((column) => String(column.text(row)).toLowerCase().includes(view.search)));
    if (view.sort !== null) {
      const key = columns[view.sort].key || columns[view.sort].text, sign = view.down ? -1 : 1;
      const value = (row) => { const k = key(row); return k === null || k === undefined ? -Infinity : k; };
      const keyed = found.map((row) => [value(row), row]);
      found = keyed.sort((a, b) => (a[0] < b[0] ? -sign : a[0] > b[0] ? sign : 0)).map((pair) => pair[1]);
    }
    return found;
  }
  function render() {
    if (point !== state.point) {
      rows = source();
      if (filter) choices();
      point = state.point;
    }
    const found = chosen(), pages = Math.max(1, Math.ceil(found.length / size));
    view.page = Math.min(Math.max(0, view.page), pages - 1);
    body.replaceChildren(...found.slice(view.page * size, (view.page + 1) * size).map(line));
    count.textContent = number(found.length) + (found.length === rows.length ? "" : " of " + number(rows.length)) + " " + (found.length === 1 && rows.length === 1 ? options.what.replace(/s$/, "") : options.what)
      + (pages > 1 ? ", page " + (view.page + 1) + " of " + number(pages) : "");
    previous.disabled = view.page === 0; next.disabled = view.page === pages - 1;
    previous.hidden = next.hidden = pages === 1;
    heads.forEach((head, index) => head.setAttribute("aria-sort", view.sort !== index ? "none" : view.down ? "descending" : "ascending"));
  }
  function line(row) {
    const group = options.groupOf ? options.groupOf(row) : null;
    const cells = columns.map((column) => {
      const cell = make("td", { class: column.digits !== undefined ? "number" : column.wide ? "wide" : null });
      const press = (act, pressed, ...inside) => make("button", { type: "button", "aria-pressed": pressed, onclick: (event) => { event.stopPropagation(); act(); } }, ...inside);
      if (column.open) cell.append(press(() => column.open(row), null, String(column.text(row))));
      else if (column.group && options.pick) cell.append(press(() => select(group), String(state.group === group), swatch(group), " " + column.text(row)));
      else if (column.group) cell.append(swatch(group), " " + column.text(row));
      else cell.textContent = column.text(row);
      return cell;
    });
    const linked = group !== null;
    return make("tr", { class: (linked ? "link" : "") + (linked && !options.follow && state.group === group ? " on" : ""), onclick: linked ? () => select(group) : () => {} }, ...cells);
  }
  shows(() => { if (options.follow) view.page = 0; render(); }, place);
}
