// Words that a person marks: places in code points of the transcript, shown as <mark>.

const turnOf = (node) => (node.nodeType === Node.TEXT_NODE ? node.parentElement : node)?.closest("[data-start]");
const length = (text) => [...text].length;

// The transcript's own characters of a range; tags of evidence stand between them.
function wordsOf(range) {
  const part = range.cloneContents();
  for (const tag of part.querySelectorAll(".tags")) tag.remove();
  return part.textContent;
}

export function textIn(said) {
  return textsOf(said).map(({ data }) => data).join("");
}

// The range of a part of a turn's text, counted in UTF-16 units.
export function rangeIn(said, from, to) {
  const range = document.createRange();
  let at = 0;
  for (const text of textsOf(said)) {
    const end = at + text.length;
    if (from >= at && from < end) range.setStart(text, from - at);
    if (to > at && to <= end) range.setEnd(text, to - at);
    at = end;
  }
  return range;
}

// Where the selected words are, or why they cannot be marked.
export function selected() {
  const selection = window.getSelection();
  if (!selection.rangeCount || selection.isCollapsed) return { why: "Select words of the transcript first." };
  const range = selection.getRangeAt(0);
  const turn = turnOf(range.startContainer);
  const last = turnOf(range.endContainer);
  // A selection of a whole line ends at the beginning of what follows it.
  const isWhole = last !== turn && range.endOffset === 0;
  if (!turn || (last !== turn && !isWhole)) return { why: "Select words of one turn of the transcript." };
  if (!turn.closest(".by-participant")) return { why: "Only the participant’s words can be evidence; select those." };
  const before = document.createRange();
  before.selectNodeContents(turn);
  const all = wordsOf(before);
  before.setEnd(range.startContainer, range.startOffset);
  const skipped = wordsOf(before);
  const words = isWhole ? all.slice(skipped.length) : wordsOf(range);
  const trimmed = words.trim();
  if (!trimmed) return { why: "Select words of the transcript first." };
  const lead = words.slice(0, words.indexOf(trimmed));
  const start = Number(turn.dataset.start) + length(skipped) + length(lead);
  return { start, end: start + length(trimmed), words: trimmed, turn };
}

const untouched = new Map();

// The words of a place; its marks and tags of danger do not count.
export function wordsAt({ start, end }) {
  for (const turn of document.querySelectorAll("[data-start]")) {
    const range = document.createRange();
    range.selectNodeContents(turn);
    const points = [...wordsOf(range)];
    const base = Number(turn.dataset.start);
    if (start >= base && end <= base + points.length) return { words: points.slice(start - base, end - base).join(""), turn };
  }
  return null;
}

// Shows the spans in their turns, beside the marks that the server made; where spans overlap, a piece has all of them.
export function show(spans) {
  for (const turn of document.querySelectorAll("[data-start]")) {
    const base = Number(turn.dataset.start);
    if (!untouched.has(turn)) untouched.set(turn, [...turn.childNodes].map((node) => node.cloneNode(true)));
    turn.replaceChildren(...untouched.get(turn).map((node) => node.cloneNode(true)));
    let at = base;
    for (const text of textsOf(turn)) {
      const points = [...text.data];
      const end = at + points.length;
      text.replaceWith(...pieces(points, at, spans.filter((one) => one.start < end && one.end > at)));
      at = end;
    }
  }
}

function textsOf(turn) {
  const walker = document.createTreeWalker(turn, NodeFilter.SHOW_TEXT);
  const found = [];
  while (walker.nextNode()) if (!walker.currentNode.parentElement.closest(".tags")) found.push(walker.currentNode);
  return found;
}

function pieces(points, base, within) {
  const last = base + points.length;
  const inside = within.flatMap(({ start, end }) => [start, end]).filter((one) => one > base && one < last);
  const places = [...new Set([base, ...inside, last])].sort((one, other) => one - other);
  return places.slice(0, -1).map((from, at) => {
    const piece = points.slice(from - base, places[at + 1] - base).join("");
    const over = within.filter(({ start, end }) => start <= from && end > from);
    if (!over.length) return piece;
    const mark = document.createElement("mark");
    mark.className = over.map(({ slug }) => `of-${slug}`).join(" ");
    mark.title = over.map(({ label }) => label).join(", ");
    mark.textContent = piece;
    return mark;
  });
}
