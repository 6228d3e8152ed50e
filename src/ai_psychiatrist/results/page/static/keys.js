// One table of keys for a page; each does what a button does.

const TYPING = "textarea, select, [contenteditable], input:not([type=radio], [type=checkbox], [type=button])";
const STORED = "keys";

export const areOn = () => localStorage.getItem(STORED) !== "off";

// The name of what was pressed: "j", "Shift+3", "Ctrl+Enter"; digits by their place on the keyboard.
// In a field of scores digits and "u" are scores: "score 2".
function nameOf(event) {
  const digit = /^(?:Digit|Numpad)(\d)$/.exec(event.code)?.[1];
  const key = digit ?? (event.key.length === 1 ? event.key.toLowerCase() : event.key);
  if (event.ctrlKey || event.metaKey) return `Ctrl+${key}`;
  if (digit && event.shiftKey) return `Shift+${digit}`;
  return event.target.closest("fieldset") && /^[0-3u]$/.test(key) ? `score ${key}` : key;
}

export function listen(table) {
  const sheet = document.getElementById("keys");
  const switched = sheet.querySelector("input");
  switched.checked = areOn();
  switched.addEventListener("change", () => localStorage.setItem(STORED, switched.checked ? "on" : "off"));
  const all = { "?": () => sheet.showModal(), ...table };
  document.addEventListener("keydown", (event) => {
    const name = nameOf(event);
    const isChord = name.startsWith("Ctrl+");
    if (event.altKey || event.isComposing || document.querySelector("dialog[open]")) return;
    if (!isChord && (!areOn() || event.target.closest(TYPING))) {
      // What else listens for single keys hears of none that are switched off.
      if (!areOn()) event.stopImmediatePropagation();
      return;
    }
    if (!all[name]) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    all[name]();
  }, { capture: true });
}

// Makes one of several elements the current one, and gives its field the focus.
export function choose(elements, chosen) {
  for (const one of elements) one.removeAttribute("aria-current");
  chosen.setAttribute("aria-current", "true");
  const field = chosen.querySelector("input:checked") ?? chosen.querySelector("input") ?? chosen;
  field.focus({ preventScroll: true });
  chosen.scrollIntoView({ block: "nearest" });
}
