// The table. It draws a view (see view.py) and reports what is chosen; what is legal, who has won
// and every word for it come with the view, so that no rule of the game stands here.
bideuchre.Table = (() => {
  const { element, shape, colour, face } = bideuchre;
  const PLACES = ["bottom", "left", "top", "right"];
  const NAMES = ["You", "Left", "Partner", "Right"];

  return class {
    // `root` is filled with the table; `game` is what game_view gives.
    constructor(root, game) {
      this.root = root;
      this.game = game;
      root.classList.add("table");
      if (!root.hasAttribute("tabindex")) root.setAttribute("tabindex", "-1");
    }

    // The sign of a suit, by its letter.
    sign(suit) {
      const path = shape("path", { d: this.game.shapes[suit] });
      const box = { viewBox: "0 0 20 20", "aria-hidden": "true" };
      return shape("svg", { ...box, class: `sign ${colour(suit)}` }, path);
    }

    // A strain as a sign or a word, to stand in a text.
    strain(strain) {
      return strain in this.game.shapes ? this.sign(strain) : document.createTextNode(strain);
    }

    // A call or contract, "4 H": its words for who listens, its sign for who looks.
    call(text) {
      const [level, last] = this.parts(text);
      if (!last) return element("span", {}, text);
      const spoken = `${level} in ${this.game.strains[last]}`;
      return element(
        "span", { class: "bid" },
        element("span", { class: "heard" }, spoken),
        element("span", { "aria-hidden": "true" }, `${level} `, this.strain(last)),
      );
    }

    // Level and strain of a call, "4 H" or "bid 4 H"; without a strain only the level.
    parts(text) {
      const at = text.lastIndexOf(" ");
      const last = text.slice(at + 1);
      return at > 0 && last in this.game.strains ? [text.slice(0, at), last] : [text, null];
    }

    // A card face; with `onclick` a button. `classes` as "won pale".
    card(name, { onclick = null, classes = "", more = "" } = {}) {
      const label = this.game.words[name] + more;
      const settings = { class: `card ${classes}`, "data-card": name, "aria-label": label };
      const drawn = face(name, this.game.shapes);
      return onclick
        ? element("button", { ...settings, type: "button", onclick }, drawn)
        : element("span", { ...settings, role: "img" }, drawn);
    }

    // Draw a view. `bottom` is the seat there; `choose(action)` is called with the name of a legal
    // action (without it nothing can be chosen); `markOf(seat)` gives {badge, label, mistake} for
    // the card of a seat in the trick shown, or null; `noteOf(seat)` a word at the name of a seat,
    // or null; `suggested` is the action to mark.
    draw(view, {
      bottom = view.seat ?? 0, choose = null, markOf = () => null, noteOf = () => null,
      suggested = null,
    } = {}) {
      const held = this.root.contains(document.activeElement);
      const focused = held && document.activeElement.dataset.choice;
      const may = choose ? new Set(view.legal) : new Set();
      const calls = [...may].filter((name) => !view.hands.flat().includes(name));
      Object.assign(this, { may, choose, noteOf, suggested });
      if (!calls.length) this.level = null;
      const felt = element("div", { class: `felt ${view.phase} ${calls.length ? "calling" : ""}` });
      for (let turn = 0; turn < 4; turn += 1) {
        felt.append(this.seat(view, (bottom + turn) % 4, PLACES[turn]));
      }
      felt.append(this.middle(view, bottom, markOf));
      if (view.strain) felt.append(this.contract(view));
      if (view.declarer !== null) {
        felt.append(this.won(view, bottom & 1, "ours"), this.won(view, 1 - (bottom & 1), "theirs"));
      }
      if (calls.length) felt.append(this.choices(calls));
      this.root.replaceChildren(felt);
      if (held) this.focus(focused);
    }

    // All buttons of choices, in their order.
    get buttons() {
      return [...this.root.querySelectorAll("button[data-choice]")];
    }

    // Keep the focus in a table that is drawn anew: where it was, else on the first choice.
    focus(choice) {
      const all = this.buttons;
      (all.find((one) => one.dataset.choice === choice) ?? all[0] ?? this.root).focus();
    }

    // The name of a seat: relative to the viewer, or in an open view its player's.
    name(view, seat) {
      if (view.seat !== null) return NAMES[(seat - view.seat + 4) % 4];
      return view.agents ? view.agents[seat] : `seat ${seat}`;
    }

    // The second name of a seat: its player's, or in an open view its number.
    player(view, seat) {
      if (!view.agents || seat === view.seat) return null;
      return view.seat === null ? `seat ${seat}` : view.agents[seat];
    }

    seat(view, seat, place) {
      const turn = view.turn === seat;
      const out = view.sitting_out === seat;
      const call = out ? "sits out" : view.calls[seat];
      const player = this.player(view, seat);
      const plate = element(
        "div", { class: `plate ${turn ? "turn" : ""}` },
        element("b", {}, this.name(view, seat)),
        player && element("span", { class: "player" }, player),
        view.dealer === seat && element("span", { class: "chip" }, "dealer"),
        this.noteOf(seat) && element("span", { class: "note" }, this.noteOf(seat)),
      );
      const hand = view.hands[seat];
      const label = [this.name(view, seat), player, turn && "to act"].filter(Boolean).join(", ");
      const settings = { class: `seat ${place} ${out ? "out" : ""}`, "data-seat": seat };
      return element(
        "section", { ...settings, "aria-label": label }, plate,
        call && element(
          "p", { class: `call ${view.declarer === seat ? "declarer" : ""}` }, this.call(call),
        ),
        Array.isArray(hand)
          ? this.hand(view, seat, hand)
          : element("p", { class: "hand backs", role: "img", "aria-label": `${hand} cards` },
            ...Array.from({ length: hand }, () => element("span", { class: "back" }))),
      );
    }

    hand(view, seat, names) {
      const turn = view.turn === seat && view.legal.some((name) => names.includes(name));
      const cards = names.map((name) => {
        const legal = turn && view.legal.includes(name);
        const advised = legal && name === this.suggested;
        const classes = turn ? (legal ? "legal" : "pale") : view.sitting_out === seat ? "pale" : "";
        const card = this.card(name, {
          onclick: legal && this.may.has(name) ? () => this.choose(name) : null,
          classes: advised ? `${classes} advised` : classes, more: advised ? ", suggested" : "",
        });
        if (card.localName === "button") card.dataset.choice = card.dataset.action = name;
        return element("li", {}, card);
      });
      const label = `cards of ${this.name(view, seat)}`;
      const list = element("ul", { class: "hand", "aria-label": label }, ...cards);
      list.classList.toggle("many", names.length > 8);
      list.style.setProperty("--half", Math.ceil(names.length / 2));
      return list;
    }

    // The trick, or the last one before the next is begun, with marks beside the cards; an exchange.
    middle(view, bottom, markOf) {
      const begun = view.trick.some((name) => name);
      const last = !begun && view.last_trick;
      const trick = last ? view.last_trick : view.trick;
      const winner = last ? view.last_winner : view.winning;
      const middle = element("div", { class: `middle ${last ? "last" : ""}` });
      for (let turn = 0; turn < 4; turn += 1) {
        const seat = (bottom + turn) % 4;
        if (!trick[seat]) continue;
        const won = seat === winner;
        const mark = markOf(seat);
        const more = [
          mark && mark.label, `by ${this.name(view, seat)}`, won && (last ? "won the trick" : "winning"),
        ].filter(Boolean).map((words) => `, ${words}`).join("");
        const card = this.card(trick[seat], { classes: won ? "won" : "", more });
        middle.append(element("div", { class: `at ${PLACES[turn]}` }, card));
        if (!mark || !mark.badge) continue;
        const classes = `badge ${PLACES[turn]} ${mark.mistake ? "bad" : ""}`;
        middle.append(element("span", { class: classes, "aria-hidden": "true" }, mark.badge));
      }
      if (view.phase === "giving" || view.phase === "passing") {
        middle.append(
          this.pile("laid away", view.laid), this.pile("given up", view.given),
          this.pile("passed", view.passed),
        );
      }
      return middle;
    }

    // Trump in words and as a sign, and the contract.
    contract(view) {
      const trump = view.strain in this.game.shapes;
      const alone = view.alone ? " alone" : "";
      return element(
        "p", { class: "trump" },
        trump && element("span", {}, "trump"), trump && this.sign(view.strain),
        element("b", {}, this.game.strains[view.strain]),
        element("span", {}, `${this.parts(view.contract)[0]}${alone} by `
          + this.name(view, view.declarer).toLowerCase()),
      );
    }

    // The tricks of a side as a pile.
    won(view, side, place) {
      const count = view.tricks_won[side];
      const who = view.seat === null ? `${side} and ${side + 2}:`
        : side === (view.seat & 1) ? "You" : "They";
      return element(
        "p", { class: `tricks ${place}` },
        element("span", { class: "heard" }, "Tricks: "),
        element("b", {}, `${who} ${count}`),
        view.side === side && element("span", {}, `need ${view.need}`),
        element("span", { class: "stack", "aria-hidden": "true" },
          ...Array.from({ length: count }, () => element("i"))),
      );
    }

    // Cards put aside in an exchange, face up to whom they are known.
    pile(words, cards) {
      const known = Array.isArray(cards);
      const count = known ? cards.length : cards;
      if (!count) return "";
      const faces = known
        ? cards.map((name) => this.card(name))
        : Array.from({ length: count }, () => element("span", { class: "back" }));
      return element(
        "div", { class: "pile" },
        element("span", {}, words + (known ? "" : `: ${count}`)), ...faces,
      );
    }

    // Calls to choose from: a bid in two steps, its level, then its strain.
    choices(names) {
      const levels = new Map(names.filter((name) => name.startsWith("bid "))
        .map((name) => [this.parts(name)[0], this.parts(name)[1]]));
      const marked = this.suggested && this.parts(this.suggested)[0];
      if (levels.has(marked)) this.level = marked;
      if (!levels.get(this.level)) this.level = levels.size === 1 ? [...levels.keys()][0] : null;
      const box = element("div", { class: "choices", role: "group", "aria-label": "your choices" });
      const fill = (focused) => {
        const steps = [...levels.keys()].map((level) => (
          levels.get(level) ? this.levelButton(level, () => fill(true)) : this.choice(level)));
        const others = names.filter((name) => !name.startsWith("bid "));
        const strains = names.filter((name) => this.level && this.parts(name)[0] === this.level);
        const second = strains.length ? strains.map((name) => this.choice(name))
          : [element("p", {}, "Choose a level, then a suit.")];
        const rows = [[...others.map((name) => this.choice(name)), ...steps]];
        if ([...levels.values()].some(Boolean)) rows.push(second);
        box.replaceChildren(...rows.map((row) => element("div", { class: "row" }, ...row)));
        if (focused) this.focus(strains[0]);
      };
      fill(false);
      return box;
    }

    levelButton(level, chosen) {
      const settings = { type: "button", class: "choice", "data-choice": level };
      const onclick = () => {
        this.level = level;
        chosen();
      };
      const pressed = String(level === this.level);
      return element("button", { ...settings, "aria-pressed": pressed, onclick },
        level.replace("bid ", ""));
    }

    // A button for a whole call, or for the strain of one; of these the words are seen.
    choice(name) {
      const strain = this.parts(name)[1];
      const advised = name === this.suggested;
      const words = strain ? this.game.strains[strain] : name.replace("bid ", "");
      return element(
        "button",
        {
          type: "button", class: `choice ${advised ? "advised" : ""} ${strain ? "strain" : ""}`,
          "data-choice": name, "data-action": name, onclick: () => this.choose(name),
          "aria-label": this.game.words[name] + (advised ? ", suggested" : ""),
        },
        strain in this.game.shapes && this.sign(strain), words,
      );
    }
  };
})();
