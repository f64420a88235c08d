// Steps through games on record: the views come with the page, a change for each action.
(() => {
  const { element, rows, Table } = bideuchre;
  const DATA = JSON.parse(document.getElementById("data").textContent);
  const by = (id) => document.getElementById(id);
  const KEYS = {
    ArrowLeft: "card-back", ArrowRight: "card-on", ArrowUp: "trick-back", ArrowDown: "trick-on",
    PageUp: "hand-back", PageDown: "hand-on", Home: "first", End: "last",
    p: "mistake-back", n: "mistake-on",
  };

  // A value with a change made: of lists of one length only what differs is told.
  function changed(value, change) {
    if (!Array.isArray(value) || Array.isArray(change) || change === null
      || typeof change !== "object") return change;
    return value.map((each, at) => (at in change ? changed(each, change[at]) : each));
  }

  function merged(view, change) {
    const made = { ...view };
    for (const [name, value] of Object.entries(change)) made[name] = changed(view[name], value);
    return made;
  }

  // The open views of a hand, one before the first action and one after each; kept.
  function viewsOf(hand) {
    if (!hand.views) {
      hand.views = [hand.first];
      for (const change of hand.changes) hand.views.push(merged(hand.views.at(-1), change));
    }
    return hand.views;
  }

  // What a seat sees of an open view: no cards of the others, and what differs beside.
  function covered(view, hand, card, seat) {
    const hands = view.hands.map((cards, who) => (who === seat ? cards : cards.length));
    const legal = view.turn === seat ? view.legal : [];
    return { ...view, seat, hands, legal, ...hand.seen[card][seat] };
  }

  class Replay {
    constructor() {
      this.at = { game: 0, hand: 0, card: 0 };
      this.bottom = 0;
      this.open = true;
      this.listen();
      this.read();
    }

    get game() { return DATA.games[this.at.game]; }

    get hand() { return this.game.hands[this.at.hand]; }

    get length() { return this.hand ? this.hand.plies.length : 0; }

    listen() {
      for (const button of document.querySelectorAll("[data-step]")) {
        button.addEventListener("click", () => this.step(button.dataset.step));
      }
      new bideuchre.Keys(by("keys"), (event) => {
        if (event.shiftKey || !(event.key in KEYS)) return false;
        this.step(KEYS[event.key]);
        return true;
      });
      by("slider").addEventListener("input", () => this.go({ card: +by("slider").value }));
      by("hand").addEventListener("change", () => this.go({ hand: +by("hand").value, card: 0 }));
      by("game").addEventListener("change", () => {
        this.go({ game: +by("game").value, hand: 0, card: 0 });
      });
      by("bottom").addEventListener("change", () => {
        this.bottom = +by("bottom").value;
        this.list();
        this.draw();
      });
      by("open").addEventListener("click", () => {
        this.open = !this.open;
        this.list();
        this.draw();
      });
      by("theme").addEventListener("click", () => {
        const root = document.documentElement;
        const dark = root.dataset.theme
          ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
        root.dataset.theme = dark ? "light" : "dark";
      });
      window.addEventListener("hashchange", () => this.read());
    }

    // Go to the place in the address, as near as there is one: #game=1&hand=3&card=12.
    read() {
      clearTimeout(this.writing);
      const asked = new URLSearchParams(location.hash.slice(1));
      const number = (name) => Math.max(0, parseInt(asked.get(name) ?? "1", 10) - 1 || 0);
      const card = Math.max(0, parseInt(asked.get("card") ?? "0", 10) || 0);
      this.go({ game: number("game"), hand: number("hand"), card });
    }

    go(place) {
      const at = { ...this.at, ...place };
      at.game = Math.min(at.game, DATA.games.length - 1);
      const hands = DATA.games[at.game].hands;
      at.hand = Math.max(0, Math.min(at.hand, hands.length - 1));
      at.card = Math.min(at.card, hands.length ? hands[at.hand].plies.length : 0);
      const otherGame = at.game !== this.at.game || !this.drawn;
      this.at = at;
      if (otherGame) this.begin();
      this.draw();
      if (this.drawn) this.write();
      this.drawn = true;
    }

    // Write the place to the address, once one stands still: browsers limit how often.
    write() {
      const game = DATA.games.length > 1 ? `game=${this.at.game + 1}&` : "";
      const place = `#${game}hand=${this.at.hand + 1}&card=${this.at.card}`;
      clearTimeout(this.writing);
      this.writing = setTimeout(() => {
        try {
          history.replaceState(null, "", place);
        } catch { /* a frame without an address */ }
      }, 120);
    }

    step(how) {
      const { hand, card } = this.at;
      const stops = this.hand ? this.hand.stops : [0];
      const hands = this.game.hands;
      const before = hand > 0 ? { hand: hand - 1, card: hands[hand - 1].plies.length } : {};
      const after = hand + 1 < hands.length ? { hand: hand + 1, card: 0 } : { card: this.length };
      const end = { hand: hands.length - 1, card: hands.at(-1)?.plies.length ?? 0 };
      const on = stops.find((stop) => stop > card);
      const back = stops.findLast((stop) => stop < card);
      const order = (place) => place.hand - hand || place.card - card;
      this.go({
        "card-on": () => (card < this.length ? { card: card + 1 } : after),
        "card-back": () => (card > 0 ? { card: card - 1 } : before),
        "trick-on": () => (on === undefined ? after : { card: on }),
        "trick-back": () => (back === undefined ? before : { card: back }),
        "hand-on": () => after,
        "hand-back": () => (card > 0 || hand === 0 ? { card: 0 } : { hand: hand - 1, card: 0 }),
        "mistake-on": () => this.mistakes.find((place) => order(place) > 0),
        "mistake-back": () => this.mistakes.findLast((place) => order(place) < 0),
        first: () => ({ hand: 0, card: 0 }),
        last: () => end,
      }[how]());
    }

    // What stays as it is within a game.
    begin() {
      const { game } = this;
      this.table = new Table(by("table"), game.view);
      by("title").textContent = game.title;
      by("legend").textContent = game.legend;
      by("game").replaceChildren(...DATA.games.map((one, at) => (
        element("option", { value: at }, one.name))));
      by("game").parentNode.hidden = DATA.games.length < 2;
      by("bottom").replaceChildren(...[0, 1, 2, 3].map((seat) => (
        element("option", { value: seat }, `seat ${this.seat(seat)}`))));
      by("bottom").value = this.bottom;
      for (const part of document.querySelectorAll("#mistakes, #letters, [data-step^=mistake]")) {
        part.hidden = !game.mistakes;
      }
      this.list();
    }

    // The mistakes of the seats that are seen, in a list and as marks in the menu of hands.
    list() {
      const { hands, mistakes } = this.game;
      const seen = (mistakes ?? []).filter(({ seat }) => this.sees(seat));
      const counted = (many) => `${many || "no"} mistake${many === 1 ? "" : "s"}`;
      this.mistakes = seen.map(({ hand, card }) => ({ hand, card }));
      by("count").textContent = `${this.open ? "All seats" : this.name(this.bottom)}: `
        + counted(seen.length);
      by("mistakes").lastElementChild.replaceChildren(
        ...seen.map(({ hand, card, cells: [place, who, action, better, cost] }) => element(
          "li", {},
          element("button", { type: "button", onclick: () => this.go({ hand, card }) },
            element("span", { class: "who" }, `${place}: ${who}, ${action}`),
            element("span", { class: "lost bad" }, cost),
            better && element("span", { class: "chance" }, `better: ${better}`)),
        )),
      );
      by("hand").replaceChildren(...hands.map((_, at) => {
        const many = seen.filter(({ hand }) => hand === at).length;
        const mark = many ? ` · ${counted(many)}` : "";
        return element("option", { value: at }, `Hand ${at + 1} of ${hands.length}${mark}`);
      }));
      by("hand").value = this.at.hand;
    }

    seat(number) {
      return this.game.agents ? `${number} · ${this.game.agents[number]}` : `${number}`;
    }

    // Whether the cards of a seat are seen, and with them what is noted of its actions.
    sees(seat) {
      return this.open || seat === this.bottom;
    }

    note(ply) {
      const notes = this.hand.notes;
      return notes && ply >= 0 && this.sees(this.hand.plies[ply].seat) ? notes[ply] : null;
    }

    draw() {
      const { hand, card } = this.at;
      by("open").setAttribute("aria-pressed", this.open);
      if (!this.hand) {
        by("words").textContent = this.game.ending;
        return;
      }
      const all = viewsOf(this.hand)[card];
      const view = this.open ? all : covered(all, this.hand, card, this.bottom);
      const shown = this.trickShown(view);
      const markOf = (seat) => shown && this.note(shown.plies[seat] ?? -1);
      this.table.draw({ ...view, seat: null }, { bottom: this.bottom, markOf });
      const note = this.note(card - 1);
      by("words").textContent = view.words;
      by("note").textContent = note ? note.words : "";
      by("note").className = note && note.mistake ? "note bad" : "note";
      by("remark").textContent = view.remark ?? "";
      by("slider").max = this.length;
      by("slider").value = card;
      by("slider").setAttribute("aria-valuetext", `${card} of ${this.length}`);
      by("place").textContent = `${card} / ${this.length}`;
      by("hand").value = hand;
      [...by("mistakes").lastElementChild.children].forEach((line, index) => {
        const place = this.mistakes[index];
        const now = place.hand === hand && place.card === card;
        line.classList.toggle("now", now);
        line.firstElementChild.setAttribute("aria-current", now);
      });
      this.score(view);
      this.auction(view);
      this.tricks();
      this.end();
    }

    // The trick on the table: the one begun, or the last.
    trickShown(view) {
      if (view.trick.some((name) => name)) return this.hand.tricks[view.number - 1];
      return view.last_trick ? this.hand.tricks[view.last_number - 1] : null;
    }

    score(view) {
      const heads = ["side", "score", "tricks", view.points ? "points" : "needs"];
      const sides = this.game.sides.map((side, at) => {
        const declares = view.side === at;
        const needs = declares && view.need ? `${view.need}` : "";
        const last = view.points ? view.points[at] : needs;
        return [side, view.score[at], view.tricks_won[at], last];
      });
      by("score").replaceChildren(...rows(heads, sides));
      by("goal").textContent = `Game ${this.game.view.goal}`;
    }

    // The calls so far, and the exchange.
    auction(view) {
      const lines = [];
      this.hand.plies.forEach((ply, at) => {
        if (at >= this.at.card || !["auction", "naming"].includes(ply.phase)) return;
        const note = this.note(at);
        const text = ply.action.replace(/^(bid|trump) /, "");
        const call = ply.action.startsWith("trump ")
          ? [this.table.strain(text), ` ${this.game.view.strains[text]}`] : [this.table.call(text)];
        lines.push(element(
          "li", { class: at === this.at.card - 1 ? "now" : "" },
          element("button", { type: "button", onclick: () => this.go({ card: at + 1 }) },
            element("span", { class: "who" }, this.name(ply.seat)),
            element("span", { class: "what" }, ...call),
            note && note.chance && element("span", { class: "chance" }, note.chance),
            note && note.mark && element("span", { class: note.mistake ? "lost bad" : "lost" },
              note.mark)),
        ));
      });
      const taken = !["auction", "naming"].includes(view.phase) && view.declarer !== null;
      const exchanged = [
        ["takes up", taken ? view.declarer : null, view.kitty],
        ["lays away", view.declarer, view.laid],
        ["gives up", view.declarer, view.given], ["passes", view.partner, view.passed],
      ];
      for (const [words, seat, cards] of exchanged) {
        const count = Array.isArray(cards) ? cards.length : cards;
        if (!count) continue;
        const said = Array.isArray(cards)
          ? cards.map((name) => this.game.view.words[name]).join(", ") : `${count} hidden`;
        const who = seat === null ? "kitty" : `${this.name(seat)} ${words}`;
        lines.push(element("li", { class: "exchange" }, `${who}: ${said}`));
      }
      by("auction").replaceChildren(...lines);
    }

    name(seat) {
      return this.game.agents ? `${this.game.agents[seat]} (${seat})` : `seat ${seat}`;
    }

    // The tricks so far, a column a seat, the one at the bottom first.
    tricks() {
      const seats = [0, 1, 2, 3].map((turn) => (this.bottom + turn) % 4);
      const lines = this.hand.tricks
        .filter((trick) => trick.first < this.at.card)
        .map((trick, at) => [at + 1, ...seats.map((seat) => this.played(trick, seat))]);
      const heads = ["", ...seats.map((seat) => `seat ${seat}`)];
      by("tricks").replaceChildren(...(lines.length ? rows(heads, lines) : []));
      by("tricks").parentNode.hidden = !lines.length;
    }

    // A card of a trick as a button that leads to where it was played.
    played(trick, seat) {
      const ply = trick.plies[seat];
      if (ply === null || ply >= this.at.card) return element("span", {});
      const { action } = this.hand.plies[ply];
      const note = this.note(ply);
      const led = trick.leader === seat;
      const won = trick.winner === seat && trick.end <= this.at.card;
      const said = [this.game.view.words[action], led && "led", won && "won", note && note.label];
      const classes = [led && "led", won && "won", ply === this.at.card - 1 && "now"];
      return element(
        "button",
        {
          type: "button", class: `played ${classes.filter(Boolean).join(" ")}`,
          onclick: () => this.go({ card: ply + 1 }),
        },
        element("span", { class: "heard" }, said.filter(Boolean).join(", ")),
        element("span", { class: "name", "aria-hidden": "true" },
          action[0] === "T" ? "10" : action[0], this.table.sign(action[1])),
        note && note.mark && element(
          "span", { class: note.mistake ? "lost bad" : "lost", "aria-hidden": "true" }, note.mark),
      );
    }

    // At the end of a hand its par; at the end of the game how that has ended, and who lost what.
    end() {
      const over = this.at.card === this.length;
      const last = over && this.at.hand === this.game.hands.length - 1;
      by("par").textContent = over && this.hand.par ? this.hand.par : "";
      by("summary").hidden = !last;
      by("ending").textContent = this.game.ending;
      const { players } = this.game;
      by("players").replaceChildren(...(players ? rows(
        ["player", "decisions", "mistakes", "points given away", ""],
        players.map((one) => [one.name, one.decisions, one.mistakes, one.lost, one.words]),
      ) : []));
    }
  }

  document.documentElement.classList.add("scripted");
  by("app").hidden = false;
  new Replay();
})();
