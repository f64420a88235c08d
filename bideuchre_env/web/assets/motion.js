// Short motion between two drawings of the table: cards are dealt and played, and a trick goes to
// its winner. There is none if the system asks for less motion.
bideuchre.Motion = (() => {
  const PLACES = ["bottom", "left", "top", "right"];
  const WAIT = 900; // milliseconds until a complete trick is taken away
  const centre = (box) => [box.left + box.width / 2, box.top + box.height / 2];

  // From another place: a move that ends where the element is.
  function come(part, from, delay = 0) {
    const [x, y] = centre(part.getBoundingClientRect());
    const start = { transform: `translate(${from[0] - x}px, ${from[1] - y}px)` };
    part.animate([start, {}], { duration: 220, delay, easing: "ease-out", fill: "backwards" });
  }

  return class {
    constructor(root) {
      this.root = root;
      this.none = matchMedia("(prefers-reduced-motion: reduce)");
      this.view = null;
    }

    find(selector) {
      return [...this.root.querySelectorAll(selector)];
    }

    // The trick that a view shows: its number, its cards by seat, whether it is complete.
    trick(view) {
      const begun = view.trick.some((name) => name) || !view.last_trick;
      return {
        key: `${view.hand}.${begun ? view.number : view.last_number}`,
        cards: begun ? view.trick : view.last_trick, whole: !begun,
      };
    }

    // Draw by `draw()` and move what differs; `past`: an old trick is looked at.
    draw(view, past, draw) {
      clearTimeout(this.timer);
      const held = new Map(this.find(".seat.bottom .card")
        .map((card) => [card.dataset.card, centre(card.getBoundingClientRect())]));
      draw();
      const before = this.view;
      this.view = view;
      if (this.none.matches || past) return;
      const trick = this.trick(view);
      if (!before || before.hand !== view.hand) this.deal();
      else this.play(view, trick, this.trick(before), held);
      if (!trick.whole) return;
      if (trick.key === this.taken) this.find(".at").forEach((at) => { at.style.opacity = 0; });
      else this.timer = setTimeout(() => this.take(view, trick.key), WAIT);
    }

    deal() {
      const middle = centre(this.root.getBoundingClientRect());
      this.find(".hand .card, .hand .back").forEach((card, at) => come(card, middle, 12 * at));
    }

    // Cards that were not there before come from the hand of their seat.
    play(view, trick, last, held) {
      trick.cards.forEach((name, seat) => {
        if (!name || (trick.key === last.key && last.cards[seat])) return;
        const place = PLACES[(seat - view.seat + 4) % 4];
        const [card] = this.find(`.at.${place} .card`);
        const own = seat === view.seat && held.get(name);
        if (card) come(card, own || centre(this.seat(place)));
      });
    }

    seat(place) {
      return this.find(`.seat.${place} .plate`)[0].getBoundingClientRect();
    }

    // Move a complete trick to its winner.
    take(view, key) {
      this.taken = key;
      const [x, y] = centre(this.seat(PLACES[(view.last_winner - view.seat + 4) % 4]));
      for (const at of this.find(".at")) {
        const [left, top] = centre(at.getBoundingClientRect());
        const end = { transform: `translate(${x - left}px, ${y - top}px) scale(.3)`, opacity: 0 };
        at.animate([{}, end], { duration: 300, easing: "ease-in" });
        at.style.opacity = 0;
      }
    }
  };
})();
