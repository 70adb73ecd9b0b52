// The script of the dashboard. Pages work without it; it adds live updates, keys,
// dialogs in the place of pages, and loading on demand. It shows only what the server
// has rendered and escaped.
"use strict";
(() => {
  const base = document.body.dataset.base;
  const one = (sel, root = document) => root.querySelector(sel);
  const all = (sel, root = document) => [...root.querySelectorAll(sel)];
  const words = document.body.dataset;

  // part fetches the main part of a page; it returns a fragment of it.
  async function part(href, init) {
    const url = new URL(href, location.href);
    url.searchParams.set("part", "1");
    url.searchParams.set("lang", document.documentElement.lang); // which the address of the page may name
    const res = await fetch(url, init);
    const t = document.createElement("template");
    t.innerHTML = await res.text();
    if (res.status === 401) location.reload();
    return { ok: res.ok, content: t.content, res };
  }

  // ---- dialogs: pages that are small are shown in the place
  const dialog = one("#dialog");
  async function openDialog(href) {
    const p = await part(href);
    dialog.replaceChildren(p.content);
    if (!dialog.open) dialog.showModal();
    (one("[autofocus]", dialog) || dialog).focus();
  }
  document.addEventListener("click", (e) => {
    const plain = !(e.metaKey || e.ctrlKey || e.shiftKey || e.button);
    const link = e.target.closest("a[data-dialog]");
    if (link && plain) { e.preventDefault(); openDialog(link.href); return; }
    const close = e.target.closest("[data-close]");
    if (close && close.closest("dialog")) { e.preventDefault(); dialog.close(); return; }
    const more = e.target.closest("a[data-more]");
    if (more && plain) { e.preventDefault(); loadMore(more); return; }
    if (e.target.closest("[data-help]")) one("#keys").showModal();
    if (e.target.matches("dialog")) e.target.close();
  });

  // ---- loading on demand
  async function loadMore(link) {
    const pager = link.closest(".pager");
    const list = pager.previousElementSibling;
    const p = await part(link.href);
    const from = one(list.matches("ul") ? "ul.list" : "ol.units", p.content);
    if (!from) { location.href = link.href; return; }
    const next = all("a[data-more]", p.content).pop();
    list.append(...from.children);
    if (next) pager.replaceChildren(next); else pager.remove();
    watchRows();
  }
  document.addEventListener("toggle", async (e) => {
    const d = e.target;
    if (!d.open || !d.dataset || !d.dataset.src) return;
    const src = d.dataset.src;
    delete d.dataset.src;
    const p = await part(src);
    one(".load", d).replaceChildren(p.content);
  }, true);

  // Rows of the list ask for their bars when they are seen.
  const seen = new IntersectionObserver((entries) => {
    for (const e of entries) if (e.isIntersecting) { seen.unobserve(e.target); queue.push(e.target); drain(); }
  }, { rootMargin: "200px" });
  const queue = [];
  let busy = 0;
  function drain() {
    while (busy < 2 && queue.length) {
      const row = queue.shift();
      busy++;
      refreshRow(row).finally(() => { busy--; drain(); });
    }
  }
  async function refreshRow(row) {
    const p = await part(base + "c/" + encodeURIComponent(row.dataset.id) + "/row");
    const now = one("li", p.content);
    if (!p.ok || !now) return;
    for (const name of row.classList) now.classList.add(name); // marked, and how deep it stands
    row.replaceWith(now);
  }
  function watchRows() { all(".row[data-src]").forEach((r) => { if (!r.dataset.seen) { r.dataset.seen = "1"; seen.observe(r); } }); }
  watchRows();

  // ---- the filter, as one types
  const filter = one("[data-filter]");
  if (filter) {
    let timer, turn = 0;
    filter.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(async () => {
        const mine = ++turn;
        const url = new URL(base, location.href);
        if (filter.value) url.searchParams.set("text", filter.value);
        const p = await part(url);
        if (mine !== turn) return;
        one("#list").replaceChildren(...one("#list", p.content).childNodes);
        history.replaceState(null, "", url);
        watchRows();
      }, 120);
    });
  }

  // ---- the time machine
  const scrub = one("[data-scrub]");
  if (scrub) {
    const out = one("output", scrub.form);
    scrub.addEventListener("input", () => { out.value = scrub.value; });
    scrub.addEventListener("change", () => scrub.form.submit());
    const chart = one(".chart");
    chart.addEventListener("click", (e) => {
      if (e.target.closest("a")) return;
      const box = chart.getBoundingClientRect();
      const n = Math.round((e.clientX - box.left) / box.width * Number(chart.dataset.messages));
      location.href = chart.dataset.href + "?at=" + Math.max(n, 1);
    });
  }

  // ---- settings: the picture shows where a threshold would act
  all(".set input[type=number]").forEach((field) => field.addEventListener("input", () => {
    const at = Math.min(Math.max(Number(field.value) || 0, 0), 100) + "%";
    for (const e of all(`[data-at="${field.name}"]`)) {
      if (e.matches("line")) { e.setAttribute("x1", at); e.setAttribute("x2", at); }
      else e.setAttribute(e.matches("text") ? "x" : "width", at);
    }
  }));

  // ---- forms that take long say so, and can be given up
  document.addEventListener("submit", async (e) => {
    const form = e.target;
    if (!form.matches("form[data-slow]")) return;
    e.preventDefault();
    const stop = new AbortController();
    const started = Date.now();
    const text = document.createElement("p");
    const cancel = document.createElement("button");
    cancel.textContent = words.cancel;
    cancel.addEventListener("click", () => { stop.abort(); dialog.close(); });
    dialog.replaceChildren(text, cancel);
    dialog.showModal();
    const say = () => { text.textContent = words.running + " " + Math.round((Date.now() - started) / 1000) + " s"; };
    say();
    const timer = setInterval(say, 500);
    try {
      const to = e.submitter && e.submitter.hasAttribute("formaction") ? e.submitter.formAction : form.action;
      const res = await fetch(to, { method: "POST", body: new URLSearchParams(new FormData(form, e.submitter)), signal: stop.signal });
      if (res.ok) { location.href = res.url; return; }
      const t = document.createElement("template");
      t.innerHTML = await res.text();
      dialog.replaceChildren(one("#main", t.content) || t.content);
    } catch (err) {
      if (err.name !== "AbortError") text.textContent = words.failed;
    } finally {
      clearInterval(timer);
    }
  });

  // ---- a request that waits: how long it does
  setInterval(() => {
    for (const e of all("[data-until]")) {
      const left = Math.round((Number(e.dataset.until) - Date.now()) / 1000);
      e.textContent = left > 0 ? words.sentin + " " + left + " s" : words.sent;
    }
  }, 1000);

  // ---- live updates
  if ("live" in words) {
    const live = new EventSource(base + "live");
    live.addEventListener("open", () => { document.documentElement.dataset.live = "on"; });
    live.addEventListener("change", (e) => changed(JSON.parse(e.data)));
  }
  // ---- views that are being reduced while their client waits, and since when
  const reducing = new Map();
  setInterval(sayReducing, 1000);
  function sayReducing() {
    for (const [id, since] of reducing) {
      const text = words.running + " " + Math.round((Date.now() - since) / 1000) + " s";
      const row = all(".row").find((r) => r.dataset.id === id);
      const head = one("[data-head]");
      if (row) {
        let note = one(".reducing", row);
        if (!note) { note = document.createElement("span"); note.className = "reducing"; row.append(note); }
        note.textContent = text;
      } else if (head && head.dataset.head === id) {
        one(".live").textContent = text;
        one(".live").hidden = false;
      }
    }
  }
  function changed(n) {
    if (n.kind === "settings") return;
    if (n.kind === "reducing") { reducing.set(n.conversation, Date.now()); sayReducing(); return; }
    reducing.delete(n.conversation);
    const find = () => all(".row").find((r) => r.dataset.id === n.conversation);
    const row = find();
    const listed = filter && !filter.value && !new URL(location.href).searchParams.has("cursor");
    if (row) {
      refreshRow(row).then(() => { // what was used last stands first
        const now = find();
        if (listed && now && now.parentNode.firstElementChild !== now) now.parentNode.prepend(now);
      });
      return;
    }
    if (listed) { reloadList(); return; }
    const head = one("[data-head]");
    if (head && head.dataset.head === n.conversation) refreshHead(head);
  }
  async function reloadList() {
    const p = await part(base);
    const list = one("#list", p.content);
    if (list) { one("#list").replaceChildren(...list.childNodes); watchRows(); }
  }
  async function refreshHead(head) {
    const p = await part(base + "c/" + encodeURIComponent(head.dataset.head) + "/head");
    const now = one("[data-head]", p.content);
    if (p.ok && now) head.replaceWith(now);
    const box = one(".live");
    const show = document.createElement("a");
    show.href = location.href;
    show.textContent = words.reload;
    show.addEventListener("click", (e) => { e.preventDefault(); location.reload(); });
    box.replaceChildren(words.changed + " ", show);
    box.hidden = false;
  }

  // ---- a link to a message that another page has
  function toMessage() {
    const m = /^#m(\d+)$/.exec(location.hash);
    if (!m || one(location.hash)) { const u = m && one(location.hash); if (u) mark(u); return; }
    const n = Number(m[1]);
    const fold = all(".fold").find((f) => Number(f.dataset.from) <= n && n < Number(f.dataset.to));
    if (fold) { mark(fold); one("details", fold).open = true; fold.scrollIntoView(); return; }
    const url = new URL(location.href);
    if (!one(".units") || url.searchParams.get("from") === m[1]) return;
    url.searchParams.set("from", m[1]);
    location.replace(url);
  }
  addEventListener("hashchange", toMessage);

  // ---- keys
  const rows = () => all("[data-row]").filter((r) => r.offsetParent !== null);
  function mark(row) {
    all("[data-row].on").forEach((r) => r.classList.remove("on"));
    if (!row.matches("[data-row]")) return;
    row.classList.add("on");
    row.scrollIntoView({ block: "nearest" });
    (one("[data-open]", row) || row).focus({ preventScroll: true });
  }
  function move(by) {
    const list = rows();
    const at = list.findIndex((r) => r.classList.contains("on"));
    const next = list[Math.min(Math.max(at + by, 0), list.length - 1)];
    if (next) mark(next);
  }
  const jump = one("#jump");
  const jumpField = one("input", jump);
  let jumpTurn = 0;
  async function findJump() {
    const mine = ++jumpTurn;
    const p = await part(base + "jump?q=" + encodeURIComponent(jumpField.value));
    if (mine === jumpTurn) one(".found", jump).replaceChildren(p.content);
  }
  jumpField.addEventListener("input", findJump);
  one("form", jump).addEventListener("submit", (e) => {
    e.preventDefault();
    const first = one("a", jump);
    if (first) location.href = first.href;
  });
  one("[data-help]").hidden = false;
  document.addEventListener("keydown", (e) => {
    if ((e.metaKey || e.ctrlKey) && e.key.toLowerCase() === "k") { e.preventDefault(); jump.showModal(); findJump(); return; }
    if (e.metaKey || e.ctrlKey || e.altKey || e.target.matches("input, select, textarea") || one("dialog[open]")) return;
    const row = one("[data-row].on");
    switch (e.key) {
      case "j": move(1); break;
      case "k": move(-1); break;
      case "?": one("#keys").showModal(); break;
      case "Enter": {
        const target = row && e.target === row && one("[data-open]", row);
        if (!target) return;
        target.click();
        break;
      }
      default: {
        if (e.key.length !== 1 || !/[a-z/]/.test(e.key)) return;
        const act = (row && one(`[data-key="${e.key}"]`, row)) || all(`[data-key="${e.key}"]`).find((a) => !a.closest("[data-row]"));
        if (!act) return;
        if (e.key === "/") (filter || act).focus(); else act.click();
      }
    }
    e.preventDefault();
  });
  toMessage();
})();
