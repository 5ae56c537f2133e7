// SPDX-License-Identifier: Apache-2.0
#include "core/report/html/script.h"

namespace octavo::report::html {

const std::string_view kScript = R"js(
"use strict";
(() => {
  const section = document.getElementById("values");
  const rows = section ? [...section.querySelectorAll("details.row")] : [];
  const texts = rows.map(row => (row.querySelector("summary").textContent + " " +
      (row.querySelector(".members")?.textContent ?? "")).toLowerCase());
  // Ascending where the least is the worst; an undefined figure is last in both directions.
  const first = { order: 1, share: -1, sqnr: 1, local: 1 };
  let sorted = null, way = 1;
  const buttons = section ? [...section.querySelectorAll("button[data-sort]")] : [];
  const sort = button => {
    const key = button.dataset.sort;
    way = sorted === button ? -way : first[key];
    sorted = button;
    const figure = row => key in row.dataset ? Number(row.dataset[key]) : Infinity * way;
    const order = rows.map((row, i) => [figure(row), i]);
    order.sort((a, b) => (a[0] === b[0] ? 0 : way * (a[0] - b[0])) || a[1] - b[1]);
    section.append(...order.map(pair => rows[pair[1]]));
    for (const each of buttons) {
      each.setAttribute("aria-pressed", each === button);
      each.dataset.way = each === button ? (way > 0 ? "up" : "down") : "";
    }
  };
  for (const button of buttons) {
    button.disabled = false;
    button.addEventListener("click", () => sort(button));
  }
  const filter = document.getElementById("filter");
  if (filter) {
    filter.closest(".tools").hidden = false;
    filter.addEventListener("input", () => {
      const words = filter.value.toLowerCase().split(/\s+/);
      let count = 0;
      rows.forEach((row, i) => {
        row.hidden = !words.every(word => texts[i].includes(word));
        count += row.hidden ? 0 : 1;
      });
      document.getElementById("found").textContent = `${count} of ${rows.length}`;
    });
  }
  for (const button of document.querySelectorAll("button.copy")) {
    button.hidden = false;
    button.addEventListener("click", () => {
      const code = button.parentElement.querySelector("code");
      getSelection().selectAllChildren(code);
      const done = () => { button.textContent = "Copied"; };
      if (globalThis.isSecureContext && navigator.clipboard) {
        navigator.clipboard.writeText(code.textContent).then(done, () => {});
      } else if (document.execCommand("copy")) {
        done();
      }
    });
  }
  // A link into a row opens it, and shows it if the filter hides it.
  const open = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const row = target?.closest("details.row");
    if (!row) return;
    row.hidden = false;
    row.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", open);
  open();
})();
)js";

}  // namespace octavo::report::html
