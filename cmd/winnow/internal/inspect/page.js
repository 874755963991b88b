"use strict";
(function () {
  var plots = Array.from(document.querySelectorAll(".plot"));
  var strip = document.querySelector(".events");
  var readouts = Array.from(document.querySelectorAll(".readout"));
  var hints = readouts.map(function (readout) { return readout.textContent; });
  var titles = Array.from(document.querySelectorAll("[data-title]"));
  var count = titles.length;
  var pinned = 0;

  // show places the cursor of every chart at a request, from 1; 0 takes it away.
  function show(number) {
    plots.forEach(function (plot) {
      var cursor = plot.querySelector(".cursor");
      cursor.style.display = number ? "block" : "none";
      cursor.style.left = 100 * (number - 0.5) / count + "%";
    });
    readouts.forEach(function (readout, i) {
      readout.textContent = number ? titles[number - 1].dataset.title : hints[i];
    });
  }

  function under(element, event) {
    var box = element.getBoundingClientRect();
    var n = Math.floor((event.clientX - box.left) / box.width * count) + 1;
    return Math.min(count, Math.max(1, n));
  }

  // open shows the row of a request with all that was edited.
  function open(number) {
    var row = document.getElementById("r" + number);
    document.querySelectorAll(".here").forEach(function (old) { old.classList.remove("here"); });
    row.classList.add("here");
    if (row.tagName === "DETAILS") { row.open = true; }
    row.scrollIntoView({ block: "start" });
  }

  plots.forEach(function (plot) {
    plot.addEventListener("pointermove", function (event) { show(under(plot, event)); });
    plot.addEventListener("pointerleave", function () { show(pinned); });
    plot.addEventListener("click", function (event) {
      pinned = under(plot, event);
      show(pinned);
    });
  });

  // A finger is wider than a mark: the nearest one is meant.
  if (strip) {
    strip.addEventListener("click", function (event) {
      event.preventDefault();
      var marks = Array.from(strip.querySelectorAll("a"));
      var best = event.detail === 0 ? event.target.closest("a") : null;
      var distance = Infinity;
      marks.forEach(function (mark) {
        var box = mark.getBoundingClientRect();
        var d = Math.abs(event.clientX - (box.left + box.right) / 2);
        if (event.detail !== 0 && distance > d) { distance = d; best = mark; }
      });
      if (best) {
        pinned = Number(best.dataset.request);
        show(pinned);
        open(pinned);
      }
    });
  }

  readouts.forEach(function (readout) {
    readout.addEventListener("click", function () {
      if (pinned) { open(pinned); }
    });
  });

  document.addEventListener("keydown", function (event) {
    var step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step !== 0 && count > 0) {
      pinned = Math.min(count, Math.max(1, pinned + step));
      show(pinned);
    }
  });
})();
