// The place where the keys read: a sentence of the participant, or a turn. What is chosen is the selection of the
// browser, so that whatever takes selected words takes it as well.

import { say } from "./api.js";
import { rangeIn, selected, textIn } from "./marks.js";

const SENTENCES = new Intl.Segmenter(undefined, { granularity: "sentence" });
const WORDS = new Intl.Segmenter(undefined, { granularity: "word" });
const turns = [...document.querySelectorAll(".turn")];

// `from` and `to` count UTF-16 units of the turn's text, as strings do.
const sentences = turns.filter((turn) => turn.matches(".by-participant")).flatMap((turn) =>
  [...SENTENCES.segment(textIn(turn.querySelector("[data-start]")))]
    .filter(({ segment }) => segment.trim())
    .map(({ segment, index }) => {
      const from = index + segment.length - segment.trimStart().length;
      return { turn, from, to: from + segment.trim().length };
    }));

// A sentence, or words of it, and its number `at`; or a turn (`isTurn`), with the number of the sentence after its begin.
let place = null;

const said = ({ turn }) => turn.querySelector("[data-start]");
const textOf = (one) => textIn(said(one)).slice(one.from, one.to);
const nameOf = (turn) => turn.querySelector(".number").ariaLabel;

function select(one) {
  const selection = getSelection();
  selection.removeAllRanges();
  selection.addRange(rangeIn(said(one), one.from, one.to));
}

function show(one, words) {
  place = one;
  for (const turn of turns) turn.toggleAttribute("data-current", turn === one.turn);
  one.turn.scrollIntoView({ block: "nearest" });
  say(`${nameOf(one.turn)}: ${words}`);
}

function sentence(by) {
  if (!sentences.length) return say("The participant says nothing here that could be evidence.");
  const next = !place ? 0 : place.isTurn ? place.at + Math.min(by, 0) : place.at + by;
  const at = Math.min(Math.max(next, 0), sentences.length - 1);
  const one = { ...sentences[at], at };
  select(one);
  show(one, textOf(one));
}

export function turn(by) {
  const at = place ? turns.indexOf(place.turn) + by : 0;
  const one = turns[Math.min(Math.max(at, 0), turns.length - 1)];
  if (!one) return;
  const all = textIn(one.querySelector("[data-start]"));
  const first = sentences.findIndex((of) => turns.indexOf(of.turn) >= turns.indexOf(one));
  getSelection().removeAllRanges();
  show({ turn: one, from: 0, to: all.length, at: first < 0 ? sentences.length : first, isTurn: true }, all);
}

// Makes the chosen words longer or shorter by a word: at their end, or with `isStart` at their beginning.
function words(by, isStart = false) {
  if (!place) return say("Choose a sentence first: n is the next one, p the previous one.");
  const all = [...WORDS.segment(textIn(said(place)))].filter((one) => one.isWordLike);
  const within = all.filter(({ index, segment }) => index >= place.from && index + segment.length <= place.to);
  const after = all.find(({ index }) => index >= place.to);
  if (by < 0 && within.length < 2) return say("One word is left; it can be marked.");
  if (by > 0 && !after) return say("The turn ends here.");
  const last = by > 0 ? after : within.at(isStart ? -1 : -2);
  const one = {
    ...place,
    isTurn: false,
    from: isStart ? within[1].index : place.from,
    to: isStart ? place.to : last.index + last.segment.length,
  };
  select(one);
  show(one, textOf(one));
}

// The words that were selected, by whatever means; else those of the place.
export function chosen() {
  if (getSelection().isCollapsed && place) select(place);
  return selected();
}

export const reading = {
  n: () => sentence(1),
  p: () => sentence(-1),
  "+": () => words(1),
  "=": () => words(1),
  "-": () => words(-1),
  w: () => words(-1, true),
};
