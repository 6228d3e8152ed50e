// The list: one box chooses all rows of the page.

const boxes = [...document.querySelectorAll("#chosen tbody input")];
const all = document.getElementById("all");

if (all) {
  all.closest("label").hidden = false;
  all.addEventListener("change", () => boxes.forEach((box) => (box.checked = all.checked)));
}
