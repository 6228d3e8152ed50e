// The list: one box chooses all rows of the page, and Enter on a box presses no button.

const boxes = [...document.querySelectorAll("#chosen tbody input")];
const all = document.getElementById("all");

if (all) {
  all.closest("label").hidden = false;
  all.addEventListener("change", () => boxes.forEach((box) => (box.checked = all.checked)));
}
for (const box of boxes) {
  box.addEventListener("keydown", (event) => event.key === "Enter" && event.preventDefault());
}
