"use strict";
(function () {
  var SVG = "http://www.w3.org/2000/svg", NONE = "n/a";
  // One picture of now and no events: for printing, and for programs that wait for a page to be complete.
  var still = location.hash === "#still";
  var latest = null, shown = null, arrived = 0, paused = false, source = null;
  var GOOD = ["VALID", "PASS", "IMPROVED"];
  var BAD = ["ACCOUNTING-BROKEN", "WRONG-OUTPUT", "SLO-MISSED", "GENERATOR-LIMITED", "SATURATED", "CONCURRENCY-LIMITED", "TARGET-ERRORS", "REGRESSION"];
  var FACT = ["CO-LOCATED", "CLOSED-LOOP", "DEBUG-BUILD", "QUICK-BUILD", "SINGLE-RUN", "EXTRAPOLATED", "STAND-IN"];

  // === Text ===
  function id(name) { return document.getElementById(name); }
  function known(v) { return typeof v === "number" && isFinite(v); }
  function three(v) {
    if (v === 0) { return "0"; }
    return Math.abs(v) >= 999.5 ? Math.round(v).toLocaleString("en-US") : v.toPrecision(3);
  }
  function time(ns) {
    if (!known(ns)) { return NONE; }
    var units = [[1e9, "s"], [1e6, "ms"], [1e3, "us"]];
    for (var k = 0; k < 3; k++) { if (ns * 1.0005 >= units[k][0]) { return three(ns / units[k][0]) + " " + units[k][1]; } }
    return Math.round(ns) + " ns";
  }
  function rate(v) { return known(v) ? three(v) + "/s" : NONE; }
  function count(n) { return known(n) ? n.toLocaleString("en-US") : NONE; }
  function percent(v) { return known(v) ? (Math.abs(v) >= 0.05 || v === 0 ? v.toFixed(1) : v.toPrecision(2)) + " %" : NONE; }
  function span(ns) {
    var s = Math.ceil(ns / 1e9), two = function (n) { return (n < 10 ? "0" : "") + n; };
    if (s < 60) { return s + " s"; }
    return s < 3600 ? Math.floor(s / 60) + " min " + two(s % 60) + " s" : Math.floor(s / 3600) + " h " + two(Math.floor(s / 60) % 60) + " min";
  }

  // === Elements: text is only ever set as text ===
  function make(name, kind, text) {
    var e = document.createElement(name);
    if (kind) { e.className = kind; }
    if (text !== undefined) { e.textContent = text; }
    return e;
  }
  function draw(parent, name, attributes, text) {
    var e = document.createElementNS(SVG, name);
    Object.keys(attributes).forEach(function (key) { e.setAttribute(key, attributes[key]); });
    if (text !== undefined) { e.textContent = text; }
    parent.appendChild(e);
    return e;
  }
  function fill(parent, children) {
    while (parent.firstChild) { parent.removeChild(parent.firstChild); }
    children.forEach(function (child) { parent.appendChild(child); });
  }
  function set(name, text) { var e = id(name); if (e.textContent !== text) { e.textContent = text; } }
  function tone(word) { return GOOD.indexOf(word) >= 0 ? "good" : BAD.indexOf(word) >= 0 ? "bad" : FACT.indexOf(word) >= 0 ? "fact" : "doubt"; }

  // === Plots ===
  function fixed(v) { return v.toFixed(1); }
  function canvas(box, labels) {
    var width = Math.max(box.clientWidth, 160), height = Math.max(box.clientHeight, 100);
    var widest = labels.reduce(function (w, l) { return Math.max(w, l.length); }, 1);
    var area = { left: widest * 6.4 + 12, top: 8, bottom: height - 22 };
    area.right = width - 12;
    var svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("viewBox", "0 0 " + width + " " + height);
    svg.setAttribute("role", "img");
    fill(box, [svg]);
    return { svg: svg, area: area, width: width };
  }
  function grid(c, ticks, y, text) {
    ticks.forEach(function (tick) {
      var at = y(tick);
      draw(c.svg, "path", { "class": "g", d: "M" + fixed(c.area.left) + "," + fixed(at) + "H" + fixed(c.area.right) });
      draw(c.svg, "text", { "class": "e", x: fixed(c.area.left - 7), y: fixed(at + 4) }, text(tick));
    });
  }
  function steps(top) {
    var raw = top / 4, unit = Math.pow(10, Math.floor(Math.log10(raw))), factor = raw / unit;
    var step = unit * (factor <= 1 ? 1 : factor <= 2 ? 2 : factor <= 5 ? 5 : 10), out = [];
    for (var v = 0; v <= top * 1.0001; v += step) { out.push(v); }
    return out;
  }
  function decades(lo, hi) {
    var out = [], every = Math.ceil((hi - lo + 1) / 6);
    for (var d = lo; d <= hi; d += every) { out.push(d); }
    return out;
  }
  // A line for each stretch of points without a gap.
  function path(points) {
    var out = "", pen = false;
    points.forEach(function (p) {
      if (p === null) { pen = false; return; }
      out += (pen ? "L" : "M") + fixed(p[0]) + "," + fixed(p[1]);
      pen = true;
    });
    return out;
  }
  function series(box, seconds, plot) {
    var labels = plot.ticks.map(plot.text), c = canvas(box, labels), area = c.area;
    var last = seconds.length ? seconds[seconds.length - 1].at_ns : 0, first = seconds.length ? seconds[0].at_ns : 0;
    var back = Math.max((last - first) / 1e9, 30);
    var x = function (s) { return area.right - (last - s.at_ns) / 1e9 / back * (area.right - area.left); };
    var y = function (v) { return area.bottom - (v - plot.lo) / (plot.hi - plot.lo) * (area.bottom - area.top); };
    c.svg.setAttribute("aria-label", plot.label);
    grid(c, plot.ticks, y, plot.text);
    var parts = Math.max(2, Math.min(6, Math.floor(c.width / 110)));
    for (var k = 0; k <= parts; k++) {
      var at = area.left + (area.right - area.left) * k / parts, ago = back * (1 - k / parts);
      draw(c.svg, "text", { "class": k === parts ? "e" : k ? "m" : "", x: fixed(at), y: fixed(area.bottom + 17) }, k === parts ? "now" : "-" + Math.round(ago) + " s");
    }
    plot.curves.forEach(function (curve) {
      var points = seconds.map(function (s) { var v = curve.of(s); return known(v) ? [x(s), y(v)] : null; });
      var kept = points.filter(Boolean);
      if (!kept.length) { return; }
      if (curve.under) {
        draw(c.svg, "path", { "class": "b " + curve.ink, d: path(kept) + "L" + fixed(kept[kept.length - 1][0]) + "," + fixed(area.bottom) + "L" + fixed(kept[0][0]) + "," + fixed(area.bottom) + "Z" });
      }
      draw(c.svg, "path", { "class": "s " + curve.ink + (curve.kind ? " " + curve.kind : ""), d: path(points) });
      if (!curve.kind) {
        var end = kept[kept.length - 1];
        draw(c.svg, "circle", { "class": "o " + curve.ink, cx: fixed(end[0]), cy: fixed(end[1]), r: 3.5 });
      }
    });
    if (plot.line !== undefined && plot.line !== null) {
      draw(c.svg, "path", { "class": "s d t4", d: "M" + fixed(area.left) + "," + fixed(y(plot.line)) + "H" + fixed(area.right) });
    }
    pointer(box, c, seconds, x, plot.told);
  }
  // What a pointer on a plot reads: the nearest second.
  function pointer(box, c, seconds, x, told) {
    if (!seconds.length) { return; }
    var old = box.parentNode.querySelector(".tip"), tip = old || make("div", "tip");
    if (!old) { tip.hidden = true; box.parentNode.appendChild(tip); }
    var cross = draw(c.svg, "path", { "class": "cross", d: "" });
    c.svg.addEventListener("pointermove", function (event) {
      var frame = c.svg.getBoundingClientRect(), at = (event.clientX - frame.left) * c.width / frame.width;
      var near = seconds.reduce(function (a, b) { return Math.abs(x(b) - at) < Math.abs(x(a) - at) ? b : a; });
      cross.setAttribute("d", "M" + fixed(x(near)) + "," + c.area.top + "V" + c.area.bottom);
      tip.textContent = told(near); tip.hidden = false;
      var left = x(near) * frame.width / c.width + 28;
      tip.style.left = Math.min(left, box.clientWidth - tip.offsetWidth) + "px"; tip.style.top = "3rem";
    });
    c.svg.addEventListener("pointerleave", function () { tip.hidden = true; cross.setAttribute("d", ""); });
  }
  function logOf(of) { return function (s) { var v = of(s); return known(v) ? Math.log10(Math.max(v, 1)) : null; }; }
  function timesPlot(current) {
    var p50 = function (s) { return s.p50_ns; }, p99 = function (s) { return s.p99_ns; }, max = function (s) { return s.max_ns; };
    var logs = [];
    current.seconds.forEach(function (s) { [p50, p99, max].forEach(function (of) { var v = logOf(of)(s); if (known(v)) { logs.push(v); } }); });
    var lo = logs.length ? Math.floor(Math.min.apply(null, logs)) : 3, hi = logs.length ? Math.max(Math.ceil(Math.max.apply(null, logs)), lo + 1) : 6;
    series(id("times"), current.seconds, {
      lo: lo, hi: hi, ticks: decades(lo, hi), text: function (v) { return time(Math.pow(10, v)); }, label: "Times of each second, p50, p99 and maximum",
      curves: [{ of: logOf(max), ink: "t5", kind: "thin" }, { of: logOf(p99), ink: "t1" }, { of: logOf(p50), ink: "t0" }],
      told: function (s) { return "p50 " + time(s.p50_ns) + "\np99 " + time(s.p99_ns) + "\nmax " + time(s.max_ns); }
    });
  }
  function ratesPlot(current) {
    var of = function (s) { return s.rate_per_s; };
    var top = current.seconds.reduce(function (m, s) { return Math.max(m, of(s) || 0); }, current.target_per_s || 0) * 1.12 || 1;
    id("target-key").hidden = !known(current.target_per_s);
    series(id("rates"), current.seconds, {
      lo: 0, hi: top, ticks: steps(top), text: three, line: current.target_per_s, label: "Achieved rate of each second",
      curves: [{ of: of, ink: "t0", under: true }],
      told: function (s) { return rate(s.rate_per_s) + (known(current.target_per_s) ? " of target " + rate(current.target_per_s) : ""); }
    });
  }
  function flightPlot(current) {
    var of = function (s) { return s.in_flight; };
    var top = Math.max(current.seconds.reduce(function (m, s) { return Math.max(m, of(s)); }, 0) * 1.12, 4);
    series(id("flight"), current.seconds, {
      lo: 0, hi: top, ticks: steps(top), text: three, label: "Operations in flight at the end of each second",
      curves: [{ of: of, ink: "t0", under: true }], told: function (s) { return count(s.in_flight) + " in flight"; }
    });
  }
  function histogramPlot(current) {
    var bins = current.histogram, most = bins.reduce(function (m, b) { return Math.max(m, b.n); }, 1);
    var ticks = steps(most * 1.08), c = canvas(id("histogram"), ticks.map(three)), area = c.area;
    var y = function (n) { return area.bottom - n / (most * 1.08) * (area.bottom - area.top); };
    c.svg.setAttribute("aria-label", "Histogram of times of this run");
    grid(c, ticks, y, three);
    if (!bins.length) { return; }
    var step = (area.right - area.left) / bins.length;
    bins.forEach(function (bin, k) {
      var bar = draw(c.svg, "rect", { "class": "f t0", x: fixed(area.left + k * step + 0.5), y: fixed(y(bin.n)), width: fixed(Math.max(step - 1, 0.6)), height: fixed(area.bottom - y(bin.n)) });
      draw(bar, "title", {}, "up to " + time(bin.to_ns) + ": " + count(bin.n));
    });
    var parts = Math.max(1, Math.min(5, Math.floor(c.width / 110), bins.length - 1));
    for (var k = 0; k <= parts; k++) {
      var place = Math.round((bins.length - 1) * k / parts);
      draw(c.svg, "text", { "class": k === parts ? "e" : k ? "m" : "", x: fixed(k === parts ? area.right : k ? area.left + (place + 0.5) * step : area.left), y: fixed(area.bottom + 17) }, time(bins[place].to_ns));
    }
  }

  // === Panels ===
  function tile(name, value, note, kind) {
    var e = make("div", kind || "");
    fill(e, [make("span", "", name), make("b", "", value), make("i", "", note || "")]);
    return e;
  }
  function tiles(current) {
    var kept = current.kept_share, has = known(kept);
    var out = [
      tile("achieved", rate(current.rate_per_s), has ? percent(kept * 100) + " of target " + rate(current.target_per_s) : known(current.target_per_s) ? "of target " + rate(current.target_per_s) : "closed loop", "first" + (has ? (kept < 0.99 ? " bad" : " good") : "")),
      tile("in flight", count(current.in_flight), count(current.done) + " done"),
      tile("errors", count(current.failed), current.failed ? percent(current.failed / (current.done + current.failed) * 100) : "none", current.failed ? "bad" : "")
    ];
    current.quantiles.filter(function (q) { return ["p50", "p95", "p99", "p99.9"].indexOf(q.name) >= 0; }).forEach(function (q) {
      out.push(tile(q.name, time(q.ns), known(current.target_per_s) ? "response time" : "service time"));
    });
    fill(id("tiles"), out);
  }
  function errors(current) {
    if (!current || !current.errors.length) { fill(id("errors"), [make("p", "good", "None in this run.")]); return; }
    var most = current.errors.reduce(function (m, e) { return Math.max(m, e.n); }, 1), list = make("div", "bars");
    current.errors.forEach(function (e) {
      var bar = document.createElementNS(SVG, "svg");
      bar.setAttribute("viewBox", "0 0 100 1"); bar.setAttribute("preserveAspectRatio", "none");
      draw(bar, "rect", { width: fixed(Math.max(e.n / most * 100, 0.5)), height: 1, rx: 0 });
      var name = make("span", "", e.code); name.title = e.code;
      [name, bar, make("b", "", count(e.n))].forEach(function (part) { list.appendChild(part); });
    });
    fill(id("errors"), [list]);
  }
  function health(current, last) {
    var rows = [], add = function (name, value, kind) { rows.push(make("dt", "", name), make("dd", kind || "", value)); };
    if (current && known(current.kept_share)) { add("rate kept, 10 s", percent(current.kept_share * 100), current.kept_share < 0.99 ? "bad" : "good"); }
    if (current && current.noise) { add("noise, now", current.noise + ", " + percent(current.noise_percent)); }
    if (last) {
      var g = last.generator;
      add("last case", last.id);
      if (known(g.ceiling_percent)) { add("of generator's ceiling", percent(g.ceiling_percent)); }
      if (known(g.lateness_p99_ns)) { add("lateness p99", time(g.lateness_p99_ns) + (known(g.pacer_p99_ns) ? " (pacer " + time(g.pacer_p99_ns) + ")" : "")); }
      if (known(g.little_percent)) { add("Little's law", percent(g.little_percent)); }
      if (last.noise) { add("noise", last.noise + ", " + percent(last.noise_percent)); }
    } else { add("checks", "after the first case", "soft"); }
    fill(id("health"), rows);
  }
  function cases(data) {
    set("done", count(data.finished_in_all) + " of " + count(Math.max(data.pace.cases, data.finished_in_all)));
    if (!data.finished.length) { fill(id("cases"), [make("p", "soft", "None yet.")]); return; }
    var table = make("table"), head = make("tr"), body = make("tbody"), top = make("thead");
    [["case"], ["target"], ["achieved", "n"], ["offered", "n"], ["p50", "n"], ["p99", "n"], ["errors", "n"], ["verdict"]].forEach(function (h) { head.appendChild(make("th", h[1], h[0])); });
    data.finished.slice().reverse().forEach(function (f) {
      var row = make("tr"), cell = function (text, kind) { row.appendChild(make("td", kind, text)); };
      cell(f.id, "wrap"); cell(f.target); cell(rate(f.achieved_per_s), "n");
      cell(known(f.target_per_s) ? "target " + rate(f.target_per_s) : "closed loop", "n soft");
      cell(time(f.p50_ns), "n"); cell(time(f.p99_ns), "n"); cell(count(f.failed), f.failed ? "n bad" : "n");
      var words = make("td", "wrap");
      (f.words.length ? f.words : [f.verdict]).forEach(function (w) { words.appendChild(make("span", "word " + tone(w), w)); });
      row.appendChild(words); body.appendChild(row);
    });
    top.appendChild(head); table.appendChild(top); table.appendChild(body);
    fill(id("cases"), [table]);
  }
  function heading(data) {
    var c = data.current, run = data.run ? "run " + data.run : "";
    if (data.stage === "finished") { set("title", "Done: " + (data.exit || "finished")); }
    else { set("title", c ? c.id : "Waiting for the first case"); }
    var parts = [];
    if (c && data.stage !== "finished") {
      parts.push("case " + (c.place + 1) + " of " + Math.max(data.pace.cases, 1));
      if (data.pace.runs > 1) { parts.push("turn " + (c.run + 1) + " of " + data.pace.runs); }
    }
    if (c && data.stage === "finished") { parts.push("last case " + c.id); }
    if (run) { parts.push(run); }
    set("subtitle", parts.join("  \u00b7  "));
    document.title = (known(data.share) ? Math.floor(data.share * 100) + " % - " : "") + "Keywright bench";
  }
  function clock() {
    var data = paused ? shown : latest;
    if (!data) { return; }
    var since = data.stage === "running" && !paused ? (performance.now() - arrived) * 1e6 : 0;
    set("elapsed", span(data.elapsed_ns + since));
    set("left", known(data.left_ns) && data.stage !== "finished" ? span(Math.max(data.left_ns - since, 0)) + " left" : "");
    set("percent", known(data.share) ? Math.floor(data.share * 100) + " %" : "");
    id("bar").firstElementChild.setAttribute("width", fixed((data.share || 0) * 100));
  }
  function render() {
    var data = shown;
    if (!data) { return; }
    id("board").hidden = false;
    heading(data); clock();
    var current = data.current, empty = { seconds: [], histogram: [], target_per_s: null };
    if (current) { tiles(current); }
    set("times-title", current && !known(current.target_per_s) ? "Service time" : "Response time");
    // The lists first: how high they are decides how high the plot beside them is.
    errors(current); health(current, data.finished[data.finished.length - 1]); cases(data);
    [timesPlot, ratesPlot, flightPlot, histogramPlot].forEach(function (plot) { plot(current || empty); });
    id("remarks-card").hidden = !data.remarks.length;
    fill(id("remarks"), data.remarks.slice().reverse().map(function (text) { return make("li", "", text); }));
  }

  // === The connection ===
  function link(text, kind) { var e = id("link"); e.textContent = text; e.className = "badge " + kind; }
  function take(data) {
    latest = data; arrived = performance.now();
    if (!paused) { shown = data; render(); }
    link(data.stage === "finished" ? "finished" : data.stage === "running" ? "live" : "waiting", data.stage === "running" ? "good" : "");
    if (data.stage === "finished" && source) { source.close(); }
  }
  function follow() {
    if (still) { link("still picture", ""); return; }
    // Nothing comes after the end.
    if (latest && latest.stage === "finished") { return; }
    if (source) { source.close(); }
    source = new EventSource("/events");
    source.addEventListener("snapshot", function (event) { take(JSON.parse(event.data)); });
    source.onerror = function () {
      link("connection lost", "bad");
      if (source.readyState === EventSource.CLOSED) { setTimeout(open, 3000); }
    };
  }
  function ask() { id("door").hidden = false; link("locked", "doubt"); id("token").focus(); }
  // The token goes into one header, never into an address or a store of the browser; what stays is a cookie
  // that no script can read.
  function unlock(token) {
    return fetch("/session", { headers: { authorization: "Bearer " + token }, credentials: "same-origin" }).then(function (answer) {
      if (!answer.ok) { id("refused").textContent = "This is not the access token."; ask(); return; }
      id("door").hidden = true; follow();
    }, function () { link("connection lost", "bad"); });
  }
  function open() {
    fetch("/snapshot.json", { credentials: "same-origin" }).then(function (answer) {
      if (answer.status === 401) { ask(); return null; }
      if (!answer.ok) { throw new Error(String(answer.status)); }
      return answer.json().then(function (data) { take(data); follow(); });
    }).catch(function () { link("connection lost", "bad"); setTimeout(open, 3000); });
  }
  id("door").addEventListener("submit", function (event) { event.preventDefault(); unlock(id("token").value); id("token").value = ""; });
  id("pause").addEventListener("click", function () {
    paused = !paused;
    id("pause").setAttribute("aria-pressed", String(paused));
    id("pause").textContent = paused ? "Paused" : "Pause display";
    if (!paused) { shown = latest; render(); }
  });
  var waiting = 0;
  window.addEventListener("resize", function () { clearTimeout(waiting); waiting = setTimeout(render, 100); });
  setInterval(clock, 250);
  var given = /^#token=(.+)$/.exec(location.hash);
  if (given) { history.replaceState(null, "", "/"); unlock(decodeURIComponent(given[1])); } else { open(); }
})();
