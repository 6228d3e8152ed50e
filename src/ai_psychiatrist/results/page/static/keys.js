// One table of keys for a page; each does what a button does.

const TYPING = "textarea, select, [contenteditable], input:not([type=radio], [type=checkbox], [type=button])";
const STORED = "keys";

export const areOn = () => localStorage.getItem(STORED) !== "off";

// The name of what was pressed: "j", "Shift+3", "Ctrl+Enter"; digits by their place.
function nameOf(event) {
  const digit = /^(?:Digit|Numpad)(\d)$/.exec(event.code)?.[1];
  const key = digit ?? (event.key.length === 1 ? event.key.toLowerCase() : event.key);
  const ctrl = event.ctrlKey || event.metaKey ? "Ctrl+" : "";
  return ctrl + (digit && event.shiftKey ? "Shift+" : "") + key;
}

export function listen(table) {
  const sheet = document.getElementById("keys");
  const switched = sheet.querySelector("input");
  switched.checked = areOn();
  switched.addEventListener("change", () => localStorage.setItem(STORED, switched.checked ? "on" : "off"));
  document.getElementById("show-keys").addEventListener("click", () => sheet.showModal());
  const all = { "?": () => sheet.showModal(), ...table };
  document.addEventListener("keydown", (event) => {
    const name = nameOf(event);
    if (event.altKey || event.isComposing || sheet.open || !all[name]) return;
    if (!areOn() && !name.startsWith("Ctrl+")) return;
    if (event.target.closest(TYPING) && !name.startsWith("Ctrl+")) return;
    event.preventDefault();
    all[name]();
  });
}

// Moves among elements from the one that is current, and says so to everybody.
export function step(elements, by, current = "aria-current") {
  const at = elements.findIndex((one) => one.hasAttribute(current));
  const next = elements[Math.min(Math.max(at + by, 0), elements.length - 1)];
  if (next) choose(elements, next, current);
  return next;
}

export function choose(elements, chosen, current = "aria-current") {
  for (const one of elements) one.removeAttribute(current);
  chosen.setAttribute(current, "true");
  chosen.focus({ preventScroll: true });
  chosen.scrollIntoView({ block: "nearest" });
}
