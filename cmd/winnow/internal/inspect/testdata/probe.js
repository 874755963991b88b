"use strict";
// Measures the page in frames of two widths, light and dark, clicks in it as a reader does, and writes what it found into the document.
(function () {
  function channels(colour) { return (colour.match(/[\d.]+/g) || []).map(Number); }
  // The relative luminance and the contrast of WCAG 2.2.
  function luminance(c) {
    var l = c.slice(0, 3).map(function (v) { v /= 255; return v <= 0.04045 ? v / 12.92 : Math.pow((v + 0.055) / 1.055, 2.4); });
    return 0.2126 * l[0] + 0.7152 * l[1] + 0.0722 * l[2];
  }
  function contrast(a, b) {
    var x = luminance(channels(a)), y = luminance(channels(b));
    return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
  }
  function behind(win, e) { // the colour that is painted behind an element
    for (; e; e = e.parentElement) {
      var c = win.getComputedStyle(e).backgroundColor, parts = channels(c);
      if (parts.length === 3 || parts[3] > 0) { return c; }
    }
    return "rgb(255, 255, 255)";
  }
  function measure(frame) {
    var doc = frame.contentDocument, win = frame.contentWindow, out = { width: win.innerWidth };
    function left(e) { return Math.round(10 * e.getBoundingClientRect().left) / 10; }
    function right(e) { return Math.round(10 * e.getBoundingClientRect().right) / 10; }
    out.clientWidth = doc.documentElement.clientWidth; // without the scroll bar
    out.scrollWidth = doc.documentElement.scrollWidth;
    out.leastFont = 99;
    out.paper = behind(win, doc.body);
    out.textContrast = out.markContrast = 21;
    out.faintText = out.faintMark = "";
    var walker = doc.createTreeWalker(doc.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      var e = walker.currentNode.parentElement;
      if (walker.currentNode.data.trim() && e.tagName !== "SCRIPT") {
        var style = win.getComputedStyle(e), ratio = contrast(style.color, behind(win, e));
        out.leastFont = Math.min(out.leastFont, parseFloat(style.fontSize));
        if (ratio < out.textContrast) { out.textContrast = ratio; out.faintText = walker.currentNode.data.trim().slice(0, 60); }
      }
    }
    doc.querySelectorAll(".plot path, .legend i").forEach(function (mark) {
      var style = win.getComputedStyle(mark), paint = mark.tagName !== "path" ? style.borderTopColor : style.fill;
      if (mark.tagName !== "path" && mark.offsetHeight > 4) { paint = style.backgroundColor; }
      if (paint === "none") { paint = style.stroke; }
      var ratio = contrast(paint, out.paper);
      if (ratio < out.markContrast) { out.markContrast = ratio; out.faintMark = mark.outerHTML.slice(0, 60) + " " + paint; }
    });
    doc.getElementById("all").click();
    out.columns = {};
    out.rows = 0;
    doc.querySelectorAll(".row:not(.head), .request > summary").forEach(function (row) {
      out.rows++;
      Array.from(row.children).slice(0, 5).forEach(function (cell, i) {
        var key = i + ": " + left(cell) + " to " + right(cell);
        out.columns[key] = (out.columns[key] || 0) + 1;
      });
    });
    out.overlaps = [];
    doc.querySelectorAll(".turns").forEach(function (turns) {
      var last = -Infinity;
      Array.from(turns.children).filter(function (s) { return s.offsetWidth > 0; }).forEach(function (s) {
        if (left(s) < last) { out.overlaps.push(s.textContent); }
        last = right(s);
      });
    });
    var plots = Array.from(doc.querySelectorAll(".plot"));
    var box = plots[1].getBoundingClientRect();
    plots[1].dispatchEvent(new win.MouseEvent("click", { bubbles: true, detail: 1, clientX: box.left + box.width * 0.6, clientY: box.top + 9 }));
    out.cursors = plots.map(function (p) { return p.querySelector(".cursor").offsetHeight > 0 ? left(p.querySelector(".cursor")) : -1; });
    out.readout = doc.querySelector(".readout").textContent;
    var mark = doc.querySelectorAll(".events a")[2], at = mark.getBoundingClientRect();
    out.tapHeight = at.height;
    mark.parentElement.dispatchEvent(new win.MouseEvent("click", {
      bubbles: true, cancelable: true, detail: 1, clientX: at.left + 14, clientY: at.top + 5
    }));
    out.tapped = mark.dataset.request;
    out.opened = Array.from(doc.querySelectorAll(".request[open]")).map(function (d) { return d.id; });
    plots[1].dispatchEvent(new win.MouseEvent("click", { bubbles: true, detail: 1, clientX: box.left + 1, clientY: box.top + 9 }));
    doc.querySelector(".readout").click();
    out.here = Array.from(doc.querySelectorAll(".here")).map(function (e) { return e.id; });
    var texts = doc.querySelectorAll(".request[open] .texts pre");
    out.texts = Array.from(texts).slice(0, 2).map(function (p) { return p.offsetHeight > 0 ? p.textContent : ""; });
    return out;
  }
  window.onload = function () {
    var found = Array.from(document.querySelectorAll("iframe")).map(measure);
    document.getElementById("found").textContent = JSON.stringify(found);
  };
})();
