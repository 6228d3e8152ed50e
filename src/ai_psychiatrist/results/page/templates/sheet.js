"use strict";
{
  const root = document.documentElement;
  const cards = [...document.querySelectorAll(".card, .signs li")];
  const turns = [...document.querySelectorAll(".turn")];
  const sections = [...document.querySelectorAll("section.evidence")];
  const sheet = document.getElementById("keys");
  let marked = [];

  const show = (element, block) => element.scrollIntoView({ block, behavior: "instant" });

  function light(elements) {
    for (const old of marked) old.classList.remove("at");
    marked = elements;
    for (const one of marked) one.classList.add("at");
  }

  function marksOf(card) {
    return [...document.querySelectorAll(`mark[aria-describedby~="${CSS.escape(card.id)}-what"]`)];
  }

  function toCard(card) {
    if (!card) return;
    const marks = marksOf(card);
    light([card, ...marks]);
    if (marks.length) show(marks[0], "center");
    show(card, "nearest");
    card.focus({ preventScroll: true });
  }

  function step(list, from, by) {
    const at = list.indexOf(from);
    return list[at < 0 ? (by > 0 ? 0 : list.length - 1) : Math.min(Math.max(at + by, 0), list.length - 1)];
  }

  function toTurn(by) {
    const from = marked.find((one) => one.matches(".turn")) ?? marked.find((one) => one.matches("mark"))?.closest(".turn");
    const turn = step(turns, from, by);
    if (!turn) return;
    light([turn]);
    show(turn, "center");
    turn.querySelector("a.number").focus({ preventScroll: true });
  }

  function toItem(number) {
    const section = sections[number - 1];
    if (!section) return;
    light([]);
    show(section, "start");
    section.focus({ preventScroll: true });
  }

  function fromHash() {
    const found = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (found && cards.includes(found)) toCard(found);
    else if (found?.matches("mark")) light([found, ...cards.filter((card) => marksOf(card).includes(found))]);
  }

  const moves = {
    j: () => toCard(step(cards, marked.find((one) => cards.includes(one)), 1)),
    k: () => toCard(step(cards, marked.find((one) => cards.includes(one)), -1)),
    "]": () => toTurn(1),
    "[": () => toTurn(-1),
    "?": () => sheet?.showModal(),
  };
  for (let number = 1; number <= sections.length; number += 1) moves[number] = () => toItem(number);

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || sheet?.open) return;
    if (event.target.matches?.("input:not([type=radio]), textarea, select, [contenteditable]")) return;
    const move = Object.hasOwn(moves, event.key) ? moves[event.key] : undefined;
    if (!move) return;
    event.preventDefault();
    move();
  });
  document.getElementById("show-keys")?.addEventListener("click", () => sheet?.showModal());
  addEventListener("hashchange", fromHash);
  addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((one) => { one.open = true; }));
  root.classList.add("with-script");
  fromHash();
}
