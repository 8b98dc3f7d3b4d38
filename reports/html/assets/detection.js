"use strict";
/* Adds the search to the detection table, and nothing else; the page reads and filters by state without it. */
(() => {
  const $ = (id) => document.getElementById(id);
  const field = $("q");
  const topics = [...document.querySelectorAll("section.topic")].map((section) => ({
    section,
    rows: [...section.querySelectorAll(".fault, .promise-row")].map((row) => ({ row, text: null })),
  }));
  const count = topics.reduce((sum, topic) => sum + topic.rows.length, 0);

  const search = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const { section, rows } of topics) {
      let any = false;
      for (const entry of rows) {
        entry.text ??= entry.row.textContent.toLowerCase();
        const fits = words.every((word) => entry.text.includes(word));
        entry.row.hidden = !fits;
        any ||= fits;
        shown += fits;
      }
      section.hidden = !any;
    }
    $("shown").textContent = words.length ? `${shown} of ${count} rows have these words` : "";
  };

  $("search").hidden = false;
  field.addEventListener("input", search);
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("input, select, textarea")) return;
    event.preventDefault();
    field.focus();
  });

  /* A link leads to a row whatever is searched for, and opens it. */
  const follow = () => {
    let id = location.hash.slice(1);
    try { id = decodeURIComponent(id); } catch { /* not ours */ }
    const row = $(id)?.closest("details");
    if (!row) return;
    if (row.hidden) {
      field.value = "";
      search();
    }
    row.open = true;
    row.scrollIntoView({ block: "start" });
    row.querySelector("summary").focus({ preventScroll: true });
  };
  addEventListener("hashchange", follow);
  if (location.hash) addEventListener("load", () => setTimeout(follow));
})();
