// Words that a person marks: places in code points of the transcript, shown as <mark>.

const turnOf = (node) => (node.nodeType === Node.TEXT_NODE ? node.parentElement : node)?.closest("[data-start]");
const length = (text) => [...text].length;

// The transcript's own characters of a range; tags of evidence stand between them.
function wordsOf(range) {
  const part = range.cloneContents();
  for (const tag of part.querySelectorAll(".tags")) tag.remove();
  return part.textContent;
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
  if (!turn || (last !== turn && !isWhole)) return { why: "Select words of one turn." };
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

const asServed = new Map();

// Shows each turn's words anew with the spans in it; where spans overlap, a piece has all of them.
export function show(spans) {
  for (const turn of document.querySelectorAll("[data-start]")) {
    const all = document.createRange();
    all.selectNodeContents(turn);
    let at = Number(turn.dataset.start);
    const last = at + length(wordsOf(all));
    const within = spans.filter(({ start, end }) => start < last && end > at);
    if (!asServed.has(turn)) {
      if (!within.length) continue;
      asServed.set(turn, turn.cloneNode(true));
    }
    turn.replaceChildren(...asServed.get(turn).cloneNode(true).childNodes);
    for (const node of textsOf(turn)) {
      const points = [...node.data];
      node.replaceWith(...piecesOf(points, at, within));
      at += points.length;
    }
  }
}

function textsOf(turn) {
  const walker = document.createTreeWalker(turn, NodeFilter.SHOW_TEXT);
  const found = [];
  while (walker.nextNode()) if (!walker.currentNode.parentElement.closest(".tags")) found.push(walker.currentNode);
  return found;
}

function piecesOf(points, base, spans) {
  const within = spans.filter(({ start, end }) => start < base + points.length && end > base);
  const borders = new Set([0, points.length]);
  for (const { start, end } of within) borders.add(Math.max(0, start - base)).add(Math.min(points.length, end - base));
  const places = [...borders].sort((one, other) => one - other);
  return places.slice(0, -1).map((from, at) => {
    const piece = points.slice(from, places[at + 1]).join("");
    const over = within.filter(({ start, end }) => start <= base + from && end > base + from);
    if (!over.length) return piece;
    const mark = document.createElement("mark");
    mark.className = over.map(({ slug }) => `of-${slug}`).join(" ");
    mark.title = over.map(({ label }) => label).join(", ");
    mark.textContent = piece;
    return mark;
  });
}
