"use strict";
/* Everything here is a convenience: the page reads without it. Text is only ever set as text. */
(() => {
  const $ = (id) => document.getElementById(id);
  const requirements = [...document.querySelectorAll("details.requirement")];
  const make = (tag, text, name) => {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    if (name) element.className = name;
    return element;
  };

  /* Theme: the system's until someone chooses. */
  const themes = ["system", "light", "dark"];
  let theme = 0;
  const button = $("theme");
  button.closest("[hidden]").hidden = false;
  button.addEventListener("click", () => {
    theme = (theme + 1) % themes.length;
    document.documentElement.dataset.theme = themes[theme];
    button.textContent = `Theme: ${themes[theme]}`;
  });

  /* Copy buttons. */
  for (const block of document.querySelectorAll(".code")) {
    const copy = make("button", "Copy");
    copy.type = "button";
    copy.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(block.querySelector("code").textContent);
        copy.textContent = "Copied";
      } catch {
        const range = document.createRange();
        range.selectNodeContents(block.querySelector("code"));
        getSelection().removeAllRanges();
        getSelection().addRange(range);
        copy.textContent = "Selected";
      }
      setTimeout(() => { copy.textContent = "Copy"; }, 1500);
    });
    block.append(copy);
  }

  /* The address: #anchor?verdict=fail,warn&level=must&topic=tools&q=text, each part optional. */
  const form = $("filters");
  const read = () => {
    const hash = location.hash.slice(1);
    const cut = hash.indexOf("?");
    let anchor = cut < 0 ? hash : hash.slice(0, cut);
    try { anchor = decodeURIComponent(anchor); } catch { /* not ours */ }
    return [anchor, new URLSearchParams(cut < 0 ? "" : hash.slice(cut + 1))];
  };
  const chosen = (name) => [...form.querySelectorAll(`input[name=${name}]:checked`)].map((box) => box.value);
  const haystacks = new Map();
  const haystack = (row) => {
    if (!haystacks.has(row)) haystacks.set(row, row.textContent.toLowerCase());
    return haystacks.get(row);
  };

  const apply = () => {
    const verdicts = chosen("verdict");
    const levels = chosen("level");
    const topic = form.elements.topic.value;
    const words = form.elements.q.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const section of document.querySelectorAll("section.topic")) {
      let any = false;
      for (const row of section.querySelectorAll("details.requirement")) {
        const fits = (!topic || section.dataset.topic === topic)
          && (!verdicts.length || verdicts.includes(row.dataset.verdict))
          && (!levels.length || levels.includes(row.dataset.level))
          && words.every((word) => haystack(row).includes(word));
        row.hidden = !fits;
        any ||= fits;
        shown += fits;
      }
      section.hidden = !any;
    }
    const active = verdicts.length || levels.length || topic || words.length;
    $("shown").textContent = active
      ? `${shown} of ${requirements.length} requirements shown`
      : `${requirements.length} requirements`;
    $("clear").hidden = !active;
  };

  const write = () => {
    const parts = new URLSearchParams();
    const verdicts = chosen("verdict");
    const levels = chosen("level");
    if (verdicts.length) parts.set("verdict", verdicts.join(","));
    if (levels.length) parts.set("level", levels.join(","));
    if (form.elements.topic.value) parts.set("topic", form.elements.topic.value);
    if (form.elements.q.value.trim()) parts.set("q", form.elements.q.value.trim());
    const query = parts.toString().replaceAll("%2C", ",");
    history.replaceState(null, "", query ? `#?${query}` : "#");
  };

  const fill = (parts) => {
    const verdicts = (parts.get("verdict") || "").split(",");
    const levels = (parts.get("level") || "").split(",");
    for (const box of form.querySelectorAll("input[name=verdict]")) box.checked = verdicts.includes(box.value);
    for (const box of form.querySelectorAll("input[name=level]")) box.checked = levels.includes(box.value);
    form.elements.topic.value = parts.get("topic") || "";
    form.elements.q.value = parts.get("q") || "";
  };

  const follow = () => {
    const [anchor, parts] = read();
    if (anchor.startsWith("exchange-")) {
      open(anchor.slice("exchange-".length));
      return;
    }
    const target = anchor && $(anchor);
    if (location.hash.includes("?") || target?.matches("details.requirement")) {
      fill(parts);
      apply();
    }
    if (target) {
      target.scrollIntoView({ block: "start" });
      if (target.matches("details")) {
        target.open = true;
        target.querySelector("summary").focus({ preventScroll: true });
      }
    } else if (location.hash.includes("?")) {
      form.scrollIntoView({ block: "start" });
    }
  };

  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => { write(); apply(); });
  $("clear").addEventListener("click", () => {
    fill(new URLSearchParams());
    write();
    apply();
    form.elements.q.focus();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("input, select, textarea")) return;
    event.preventDefault();
    form.elements.q.focus();
  });

  /* Findings print open, also where the style sheet cannot do it. */
  const closed = new Set();
  addEventListener("beforeprint", () => {
    for (const row of document.querySelectorAll("details.is-fail, details.is-fail details, details.is-warn, .names")) {
      if (!row.open) closed.add(row);
      row.open = true;
    }
  });
  addEventListener("afterprint", () => {
    for (const row of closed) row.open = false;
    closed.clear();
  });

  /* Packed evidence: base64 of gzip of JSON, opened when asked for. */
  const unpack = async (element) => {
    const bytes = Uint8Array.from(atob(element.textContent.trim()), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  };
  let index = null;
  const blocks = new Map();
  const STEP = 100;
  let limit = STEP;
  const seconds = (value) => (value === null ? "" : value < 1 ? `${(value * 1000).toFixed(0)} ms` : `${value.toFixed(2)} s`);

  const list = () => {
    const words = $("xq").value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = index.filter(([id, topic, probe, status]) => {
      const text = `${id} ${topic} ${probe} ${status}`.toLowerCase();
      return words.every((word) => text.includes(word));
    });
    const rows = $("rows");
    rows.replaceChildren();
    for (const [id, , probe, status, total, block] of found.slice(0, limit)) {
      const row = rows.insertRow();
      if (block < 0) row.insertCell().append(make("code", id));
      else {
        const opener = make("button", id);
        opener.type = "button";
        opener.addEventListener("click", () => open(id));
        row.insertCell().append(opener);
      }
      row.insertCell().textContent = probe;
      row.insertCell().textContent = status;
      const time = row.insertCell();
      time.className = "number";
      time.textContent = seconds(total);
    }
    $("xshown").textContent = `${Math.min(found.length, limit)} of ${found.length} exchanges listed`;
    $("more").hidden = found.length <= limit;
  };

  const section = (parent, title, text, cut) => {
    parent.append(make("h4", title));
    const pre = make("pre");
    pre.tabIndex = 0;
    pre.append(make("code", text || "(empty)"));
    parent.append(pre);
    if (cut > 0) parent.append(make("p", `${cut} more bytes are in exchanges.jsonl.`, "quiet"));
  };

  const open = async (id) => {
    const place = $("opened");
    if (!place) return;
    await ready;
    const row = index && index.find((entry) => entry[0] === id);
    place.replaceChildren();
    place.append(make("h3", `Exchange ${id}`));
    if (!row || row[5] < 0) {
      place.append(make("p", row ? "Not packed into this page; it is in exchanges.jsonl." : "No such exchange in this run."));
    } else {
      if (!blocks.has(row[5])) blocks.set(row[5], unpack($(`block-${row[5]}`)));
      const exchange = (await blocks.get(row[5])).find((entry) => entry.id === id);
      const again = exchange.repeat_of ? `, a repetition of ${exchange.repeat_of}` : "";
      place.append(make("p", `${exchange.at}, ${row[2]}, ended: ${exchange.end}${again}. ${exchange.problem}`, "quiet"));
      const lines = (headers) => headers.map(([name, value]) => `${name}: ${value}`).join("\n");
      section(place, "Sent", `${exchange.first}\n${lines(exchange.sent_headers)}\n\n${exchange.sent}`, exchange.sent_cut);
      section(place, "Received", `${exchange.status}\n${lines(exchange.headers)}\n\n${exchange.body}`, exchange.cut);
      if (exchange.events.length) {
        section(place, "Events arrived after", exchange.events.map((at) => seconds(at)).join("  "), 0);
      }
    }
    place.scrollIntoView({ block: "start" });
    place.focus({ preventScroll: true });
  };

  const ready = (async () => {
    if (!$("index") || typeof DecompressionStream === "undefined") return;
    const load = async () => {
      if (index) return;
      index = await unpack($("index"));
      list();
    };
    $("browser").hidden = false;
    $("xq").addEventListener("input", () => { limit = STEP; list(); });
    $("more").addEventListener("click", () => { limit += STEP * 5; list(); });
    await load();
  })();

  addEventListener("hashchange", follow);
  apply();
  /* After the browser's own jump to the anchor, which takes the focus away again. */
  if (location.hash) addEventListener("load", () => setTimeout(follow));
})();
