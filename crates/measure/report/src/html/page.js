"use strict";
// Reads values back from the drawing, so that the page carries each point once.
(function () {
  var NS = "http://www.w3.org/2000/svg";
  function three(v) {
    return v === 0 ? "0" : Math.abs(v) >= 1000 ? Math.round(v).toLocaleString("en") : String(+v.toPrecision(3));
  }
  function scaled(v, units) {
    for (var k = 0; k < units.length; k++) {
      if (Math.abs(v) >= units[k][0] || k === units.length - 1) { return three(v / units[k][0]) + " " + units[k][1]; }
    }
  }
  function text(v, unit) {
    if (unit === "time") { return v === 0 ? "0 ns" : scaled(v, [[1e9, "s"], [1e6, "ms"], [1e3, "us"], [1, "ns"], [1e-3, "ps"]]); }
    if (unit === "bytes") { return scaled(v, [[1073741824, "GiB"], [1048576, "MiB"], [1024, "KiB"], [1, "B"]]); }
    if (unit === "quantile") { return +(100 * (1 - 1 / v)).toFixed(v < 200 ? 2 : v < 2000 ? 3 : 4) + " %"; }
    return three(v) + (unit === "rate" ? "/s" : "");
  }
  function axis(words, from, length) {
    var p = words.split(" "), log = p[0] === "log", lo = +p[1], hi = +p[2];
    return function (at) {
      var s = (at - from) / length;
      return { value: log ? lo * Math.pow(hi / lo, s) : lo + s * (hi - lo), unit: p[3] };
    };
  }
  function plot(svg, number) {
    var a = svg.dataset.area.split(" ").map(Number), left = a[0], top = a[1], width = a[2], height = a[3];
    var x = axis(svg.dataset.x, left, width), y = axis(svg.dataset.y, top + height, -height);
    var lines = Array.prototype.map.call(svg.querySelectorAll("polyline[data-n]"), function (line) {
      return { name: line.dataset.n, element: line, points: line.getAttribute("points").split(" ").map(function (p) { return p.split(",").map(Number); }) };
    });
    var tip = document.createElement("div"), start = null;
    var cross = document.createElementNS(NS, "path"), pick = document.createElementNS(NS, "rect");
    tip.className = "tip"; tip.hidden = true; svg.parentNode.appendChild(tip);
    cross.setAttribute("class", "cross"); pick.setAttribute("class", "pick");
    svg.appendChild(cross); svg.appendChild(pick);
    // What zoom moves, with where it was; the stretch of the axis that is shown, in places of the whole drawing.
    var inside = Array.prototype.filter.call(svg.querySelectorAll("polyline,polygon,circle,path.f,path.r,text.r"), function (e) {
      return !e.hasAttribute("cy") || +e.getAttribute("cy") >= top;
    });
    var moved = inside.map(function (e) {
      var old = {}; ["points", "cx", "x", "d"].forEach(function (n) { if (e.hasAttribute(n)) { old[n] = e.getAttribute(n); } });
      return { element: e, old: old };
    });
    var labels = Array.prototype.filter.call(svg.querySelectorAll("text.m"), function (t) { return !t.classList.contains("l") && !t.classList.contains("r"); });
    var first = labels.map(function (t) { return t.textContent; }), shown = [left, left + width];
    var clip = document.createElementNS(NS, "clipPath"), hole = document.createElementNS(NS, "rect");
    clip.id = "clip" + number; hole.setAttribute("x", left); hole.setAttribute("y", 0);
    hole.setAttribute("width", width); hole.setAttribute("height", top + height); clip.appendChild(hole); svg.appendChild(clip);
    function back(at) { return shown[0] + (at - left) * (shown[1] - shown[0]) / width; }
    function forth(at) { return left + (at - shown[0]) * width / (shown[1] - shown[0]); }
    function level(d) { var p = d.match(/-?[\d.]+/g); return p[1] === p[3]; }
    function draw() {
      moved.forEach(function (m) {
        var e = m.element, old = m.old;
        e.setAttribute("clip-path", "url(#" + clip.id + ")");
        if (old.points) { e.setAttribute("points", old.points.split(" ").map(function (p) { var q = p.split(","); return forth(+q[0]).toFixed(1) + "," + q[1]; }).join(" ")); }
        if (old.cx) { e.setAttribute("cx", forth(+old.cx)); }
        if (old.x && !e.classList.contains("e")) { e.setAttribute("x", forth(+old.x)); }
        if (old.d && !(e.classList.contains("r") && level(old.d))) { e.setAttribute("d", old.d.replace(/([MLH])(-?[\d.]+)/g, function (_, c, v) { return c + forth(+v); })); }
      });
      var all = shown[0] === left && shown[1] === left + width;
      labels.forEach(function (t, k) { var v = x(back(+t.getAttribute("x"))); t.textContent = all ? first[k] : text(v.value, v.unit); });
      lines.forEach(function (line) {
        line.points = line.element.getAttribute("points").split(" ").map(function (p) { return p.split(",").map(Number); })
          .filter(function (p) { return p[0] >= left - 0.1 && p[0] <= left + width + 0.1; });
      });
    }
    function place(event) {
      var point = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
      return Math.min(left + width, Math.max(left, point.x));
    }
    function clear() { tip.hidden = true; cross.setAttribute("d", ""); pick.setAttribute("width", 0); }
    svg.addEventListener("pointermove", function (event) {
      var at = place(event), near = null;
      if (start !== null) {
        pick.setAttribute("x", Math.min(start, at)); pick.setAttribute("y", top);
        pick.setAttribute("width", Math.abs(at - start)); pick.setAttribute("height", height);
        return;
      }
      lines.forEach(function (line) {
        line.points.forEach(function (p) { if (near === null || Math.abs(p[0] - at) < Math.abs(near - at)) { near = p[0]; } });
      });
      if (near === null) { near = at; }
      var v = x(back(near)), said = [text(v.value, v.unit)];
      lines.forEach(function (line) {
        line.points.forEach(function (p) {
          if (Math.abs(p[0] - near) < 0.06) { var w = y(p[1]); said.push(line.name + "  " + text(w.value, w.unit)); }
        });
      });
      cross.setAttribute("d", "M" + near + " " + top + "V" + (top + height));
      var box = svg.parentNode.getBoundingClientRect();
      tip.textContent = said.slice(0, 8).join("\n"); tip.hidden = false;
      tip.style.left = Math.min(event.clientX - box.left + 14, box.width - tip.offsetWidth - 8) + "px";
      tip.style.top = event.clientY - box.top + 14 + "px";
    });
    svg.addEventListener("pointerleave", function () { start = null; clear(); });
    svg.addEventListener("pointerdown", function (event) { start = place(event); event.preventDefault(); });
    svg.addEventListener("pointerup", function (event) {
      var end = place(event), from = Math.min(start, end), to = Math.max(start, end);
      if (start !== null && to - from > 12) { shown = [back(from), back(to)]; draw(); }
      start = null; clear();
    });
    svg.addEventListener("dblclick", function () { shown = [left, left + width]; draw(); });
  }
  document.querySelectorAll("svg.plot").forEach(plot);
})();
