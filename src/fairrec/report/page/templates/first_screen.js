(() => {
  "use strict";
  const $ = (id) => document.getElementById(id);

  // ---- which metric the rows show ----
  const tables = [...document.querySelectorAll(".dot-table")];
  if ($("dots-metric")) {
    $("dots-metric").addEventListener("change", () => {
      tables.forEach((table, at) => { table.hidden = at !== +$("dots-metric").value; });
    });
  }

  // ---- all rows, all cards ----
  for (const button of document.querySelectorAll(".unfold")) {
    const words = button.textContent;
    button.addEventListener("click", () => {
      const isOpen = button.getAttribute("aria-expanded") === "true";
      for (const part of button.closest("section").querySelectorAll(".beyond-ten")) part.classList.toggle("is-shown", !isOpen);
      button.setAttribute("aria-expanded", String(!isOpen));
      button.textContent = isOpen ? words : words.replace(/all [\d,]+/, "fewer");
    });
  }

  // ---- a group in a drawer; without a dialog the link leads to its card ----
  const drawer = $("drawer");
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a.open");
    const card = link && $(`group-${link.dataset.group}`);
    if (!card || !drawer.showModal || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    // a row that is clicked elsewhere marks its group in the charts instead
    event.stopPropagation();
    const copy = card.cloneNode(true);
    copy.classList.remove("beyond-ten");
    for (const part of [copy, ...copy.querySelectorAll("[id]")]) {
      if (part.id) part.id = `drawer-${part.id}`;
    }
    for (const part of [copy, ...copy.querySelectorAll("[aria-labelledby]")]) {
      if (part.hasAttribute("aria-labelledby")) part.setAttribute("aria-labelledby", `drawer-${part.getAttribute("aria-labelledby")}`);
    }
    $("drawer-content").replaceChildren(copy);
    drawer.setAttribute("aria-label", link.textContent);
    drawer.showModal();
  }, true);
  $("drawer-close").addEventListener("click", () => drawer.close());
  drawer.addEventListener("click", (event) => {
    // the drawer itself is hit only beside its content, and a choice is seen in the charts
    if (event.target === drawer || event.target.closest(".choose")) drawer.close();
  });
})();
