"use strict";
// The table. It draws a view (see view.py) and reports what is chosen; what is legal, who has won
// and every word for it come with the view, so that no rule of the game stands here.
const bideuchre = (() => {
  const SVG = "http://www.w3.org/2000/svg";
  const PLACES = ["bottom", "left", "top", "right"];

  // An element with attributes and children; text is text, whatever stands in it.
  function element(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name === "onclick") made.addEventListener("click", value);
      else if (value === true) made.setAttribute(name, "");
      else if (value !== false && value != null) made.setAttribute(name, value);
    }
    made.append(...children.filter((child) => child != null && child !== false));
    return made;
  }

  function shape(tag, attributes, ...children) {
    const made = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  }

  const isRed = (suit) => suit === "D" || suit === "H";

  class Table {
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
      return shape("svg", { ...box, class: `sign ${isRed(suit) ? "red" : "black"}` }, path);
    }

    // A strain as a sign or a word, to stand in a text.
    strain(strain) {
      return strain in this.game.shapes ? this.sign(strain) : document.createTextNode("NT");
    }

    // A call or contract, "4 H": its words for who listens, its sign for who looks.
    call(text) {
      const at = text.lastIndexOf(" ");
      const last = text.slice(at + 1);
      if (at < 0 || !(last in this.game.strains)) return element("span", {}, text);
      const level = text.slice(0, at);
      const spoken = `${level} in ${this.game.strains[last]}`;
      return element(
        "span", { class: "bid" },
        element("span", { class: "heard" }, spoken),
        element("span", { "aria-hidden": "true" }, `${level} `, this.strain(last)),
      );
    }

    // A card face; with `onclick` a button. `classes` as "won pale".
    card(name, { onclick = null, classes = "", mark = null } = {}) {
      const suit = name[1];
      const rank = name[0] === "T" ? "10" : name[0];
      const index = () => shape(
        "g", { class: "index" }, shape("text", { x: 9, y: 16.5, class: `rank-${rank}` }, rank),
        shape("path", { d: this.game.shapes[suit], class: "small" }),
      );
      const turned = shape("g", { transform: "rotate(180 25 35)", class: "turned" }, index());
      const pip = { d: this.game.shapes[suit], class: "pip" };
      const face = shape(
        "svg", { viewBox: "0 0 50 70", "aria-hidden": "true", class: isRed(suit) ? "red" : "black" },
        shape("rect", { x: .75, y: .75, width: 48.5, height: 68.5, rx: 5, class: "face" }),
        index(), turned, shape("path", pip),
      );
      const label = this.game.words[name] + (mark ? `, ${mark.label}` : "");
      const settings = { class: `card ${classes}`, "data-card": name, "aria-label": label };
      const badge = mark && element(
        "span", { class: `badge ${mark.bad ? "bad" : ""}`, "aria-hidden": "true" }, mark.text,
      );
      return onclick
        ? element("button", { ...settings, type: "button", onclick }, face, badge)
        : element("span", { ...settings, role: "img" }, face, badge);
    }

    // Draw a view. `bottom` is the seat there; `choose(action)` is called with the name of a legal
    // action (without it nothing can be chosen); `markOf(seat)` gives {text, label, bad} for the
    // card of a seat in the trick shown, or null.
    draw(view, { bottom = view.seat ?? 0, choose = null, markOf = () => null } = {}) {
      const held = this.root.contains(document.activeElement);
      const chosen = held && document.activeElement.dataset.action;
      const may = choose ? new Set(view.legal) : new Set();
      const felt = element("div", { class: `felt ${view.phase}` });
      for (let turn = 0; turn < 4; turn += 1) {
        felt.append(this.seat(view, (bottom + turn) % 4, PLACES[turn], may, choose));
      }
      felt.append(this.middle(view, bottom, markOf));
      const inHand = new Set(view.hands.flat());
      const calls = [...may].filter((name) => !inHand.has(name));
      if (calls.length) felt.append(this.choices(calls, choose));
      this.root.replaceChildren(felt);
      if (held) this.focus(chosen);
    }

    // Keep the focus in a table that is drawn anew: where it was, else on the first choice.
    focus(action) {
      const all = [...this.root.querySelectorAll("button[data-action]")];
      (all.find((one) => one.dataset.action === action) ?? all[0] ?? this.root).focus();
    }

    name(view, seat) {
      return view.agents ? view.agents[seat] : `seat ${seat}`;
    }

    seat(view, seat, place, may, choose) {
      const turn = view.turn === seat;
      const out = view.sitting_out === seat;
      const call = out ? "sits out" : view.calls[seat];
      const plate = element(
        "div", { class: `plate ${turn ? "turn" : ""}` },
        element("b", {}, this.name(view, seat)),
        view.agents && element("span", { class: "number" }, `seat ${seat}`),
        view.dealer === seat && element("span", { class: "chip" }, "dealer"),
        call && element(
          "span", { class: `call ${view.declarer === seat ? "declarer" : ""}` }, this.call(call),
        ),
      );
      const hand = view.hands[seat];
      const label = `${this.name(view, seat)}, seat ${seat}${turn ? ", to act" : ""}`;
      const settings = { class: `seat ${place} ${out ? "out" : ""}`, "data-seat": seat };
      return element(
        "section", { ...settings, "aria-label": label }, plate,
        Array.isArray(hand)
          ? this.hand(view, seat, hand, may, choose)
          : element("p", { class: "hand backs", role: "img", "aria-label": `${hand} cards` },
            ...Array.from({ length: hand }, () => element("span", { class: "back" }))),
      );
    }

    hand(view, seat, names, may, choose) {
      const turn = view.turn === seat && view.legal.some((name) => names.includes(name));
      const cards = names.map((name) => {
        const legal = turn && view.legal.includes(name);
        const classes = turn ? (legal ? "legal" : "pale") : view.sitting_out === seat ? "pale" : "";
        const onclick = legal && may.has(name) ? () => choose(name) : null;
        const card = this.card(name, { onclick, classes });
        if (onclick) card.dataset.action = name;
        return element("li", {}, card);
      });
      const label = `cards of ${this.name(view, seat)}`;
      return element("ul", { class: "hand", "aria-label": label }, ...cards);
    }

    // The trick, or the last one before the next is begun; an exchange; the trump.
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
        const card = this.card(trick[seat], { classes: won ? "won" : "", mark });
        const said = `${card.getAttribute("aria-label")}, by ${this.name(view, seat)}`;
        card.setAttribute("aria-label", said + (won ? (last ? ", won the trick" : ", winning") : ""));
        middle.append(element("div", { class: `at ${PLACES[turn]}` }, card));
      }
      if (view.phase === "giving" || view.phase === "passing") {
        middle.append(this.pile("given up", view.given), this.pile("passed", view.passed));
      }
      if (view.strain) {
        const strain = this.game.strains[view.strain];
        const said = view.strain === "NT" ? strain : `trump: ${strain}`;
        const sign = view.strain === "NT" ? "no trump" : this.sign(view.strain);
        middle.append(element("div", { class: "trump", role: "img", "aria-label": said }, sign));
      }
      return middle;
    }

    // Cards put aside in an exchange, face up to whom they are known.
    pile(words, cards) {
      const known = Array.isArray(cards);
      const count = known ? cards.length : cards;
      const faces = known
        ? cards.map((name) => this.card(name))
        : Array.from({ length: count }, () => element("span", { class: "back" }));
      return element(
        "div", { class: "pile" },
        element("span", {}, words + (known ? "" : `: ${count}`)), ...faces,
      );
    }

    // Calls and strains to choose from, a row for each bid.
    choices(names, choose) {
      const rows = new Map();
      for (const name of names) {
        const level = name.slice(0, Math.max(name.lastIndexOf(" "), 0));
        const key = name.slice(level.length + 1) in this.game.strains ? level : "";
        if (!rows.has(key)) rows.set(key, []);
        const button = element("button", {
          type: "button", class: "choice", "data-action": name, onclick: () => choose(name),
          "aria-label": this.game.words[name],
        });
        const text = name.replace(/^(bid|trump) /, "");
        const strain = this.game.strains[text];
        button.append(...(strain ? [this.strain(text), ` ${strain}`] : [this.call(text)]));
        rows.get(key).push(button);
      }
      return element(
        "div", { class: "choices", role: "group", "aria-label": "your choices" },
        ...[...rows.values()].map((row) => element("div", { class: "row" }, ...row)),
      );
    }
  }

  return { element, Table };
})();
