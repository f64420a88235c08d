"use strict";
// Connects the table to the server: draws its states, sends the player's choices. The rules of the
// game are on the server.
(() => {
  const GAME = JSON.parse(document.getElementById("data").textContent).game;
  const { element } = bideuchre;
  const by = (id) => document.getElementById(id);
  // The names of cards, and of actions with a strain, in a text.
  const NAMES = Object.keys(GAME.words).filter((name) => /^\S[CDHS]$| (?:[CDHS]|NT|LOW)$/.test(name));
  const SIGNED = new RegExp(`\\b(${NAMES.join("|")})\\b`);
  const VERBS = { // by the phase of a hint
    play: "Play the ", "lay away a card": "Lay away the ", "give up a card": "Give up the ",
    "pass a card": "Pass on the ",
  };
  const PAUSE = 2000; // milliseconds until the next try if the server does not answer
  // Timeouts in milliseconds: a connection that is lost without notice, by sleep or a change of
  // network, never answers. The server answers a poll after 10 s at the latest. The first hint, and
  // the first hand of an agent, may wait minutes for kernels to compile.
  const POLL = 35000, COMMAND = { hint: 600000, new: 600000, begin: 600000 }, OTHERS = 10000;
  const AGAIN = "again"; // the reason for which a poll is aborted to begin another

  // A seat's link carries its token behind the #, which no browser sends by itself; the short
  // address of the table carries a code, for a guest without a seat.
  const seated = new URLSearchParams(location.hash.slice(1)).get("seat");
  const token = seated ?? location.hash.slice(1);
  // A guest chooses the token of the new seat: without an answer the same request is sent again.
  const chosen = btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(32))))
    .replace(/\+/g, "-").replace(/\//g, "_").slice(0, 43);

  // Send a request, which `controller` can abort. An error of the server has its `status`.
  async function ask(path, time, body, controller = new AbortController()) {
    const headers = { Authorization: `Bearer ${token}` };
    if (body) headers["Content-Type"] = "application/json";
    const timer = setTimeout(() => controller.abort(), time);
    try {
      const answer = await fetch(path, {
        method: body ? "POST" : "GET", headers, body: body && JSON.stringify(body),
        cache: "no-store", credentials: "omit", signal: controller.signal,
      });
      const data = await answer.json();
      if (!answer.ok) throw Object.assign(new Error(data.error), { status: answer.status });
      return data;
    } finally {
      clearTimeout(timer);
    }
  }

  const sleep = (time, signal) => new Promise((done) => {
    setTimeout(done, time);
    signal.addEventListener("abort", done);
  });

  class Live {
    constructor() {
      this.table = new bideuchre.Table(by("table"), GAME);
      this.motion = new bideuchre.Motion(by("table"));
      this.state = null;
      this.known = 0; // the last version received; 0 without a connection, to be answered at once
      this.sent = null; // the position for which a command waits for its answer
      this.past = false;
      this.listen();
      this.follow();
    }

    listen() {
      for (const name of ["next", "claim", "undo", "hint"]) {
        by(name).addEventListener("click", () => this.send(name));
      }
      by("new").addEventListener("click", () => this.send("new", this.agents()));
      by("last").addEventListener("click", () => {
        this.past = !this.past;
        this.draw();
      });
      by("theme").addEventListener("click", () => {
        const dark = getComputedStyle(document.documentElement).colorScheme === "dark";
        document.documentElement.dataset.theme = dark ? "light" : "dark";
      });
      by("open").addEventListener("click", () => {
        by("menu").hidden = !by("menu").hidden;
        by("open").setAttribute("aria-expanded", String(!by("menu").hidden));
      });
      by("begin").addEventListener("click", () => {
        const words = "Begin a new game? The present game ends for everyone; its file is kept.";
        if (!this.state.over && !confirm(words)) return;
        this.send("begin", { variant: by("variant").value, level: by("level").value });
        by("open").click();
      });
      by("pause").addEventListener("input", () => by("pause").focus()); // a touch may not focus it
      by("pause").addEventListener("change", () => this.set("pause", { pause: +by("pause").value }));
      by("join").addEventListener("submit", (event) => {
        event.preventDefault();
        this.join(by("name").value);
      });
      new bideuchre.Switch(by("colours"), "colours", false, (on) => {
        document.documentElement.dataset.colours = on ? "four" : "two";
      });
      new bideuchre.Keys(by("keys"), (event) => this.press(event));
      setInterval(() => this.count(), 250);
      addEventListener("hashchange", () => location.reload());
      addEventListener("online", () => this.again());
      document.addEventListener("visibilitychange", () => document.hidden || this.again());
    }

    // Poll for new states.
    async follow() {
      if (!token) {
        this.say("Open this page by the link of a seat, which the server has printed.");
        return;
      }
      if (!seated) {
        this.welcome();
        return;
      }
      for (;;) {
        this.poll = new AbortController();
        try {
          this.show(await ask(`/api/table?after=${this.known}`, POLL, null, this.poll));
        } catch (error) {
          if (error === AGAIN) continue;
          if (error.status === 401) {
            this.say("This link is no longer valid: a guest has the seat, or the server has printed a new link.");
            return;
          }
          this.command?.abort(); // it has lost the same connection
          document.body.classList.add("waiting");
          this.say(error.status ? error.message : "The server does not answer; trying again.");
          this.known = 0;
          if (this.state) this.state.version = 0; // a server that is started again counts anew
          this.poll = new AbortController();
          await sleep(PAUSE, this.poll.signal);
        }
      }
    }

    // Ask a guest for a name and a free seat.
    async welcome() {
      try {
        const { seats } = await ask("/api/seats", OTHERS);
        const free = [0, 1, 2, 3].filter((seat) => seats[seat] === null);
        by("seat").replaceChildren(...free.map((seat) => element("option", { value: seat },
          `seat ${seat}, partner of ${seats[seat ^ 2] ?? "a guest to come"}`)));
        by("seats").hidden = by("join").hidden = !free.length;
        this.say(free.length ? "" : "All seats are taken.");
      } catch (error) {
        this.say(error.status ? error.message : "The server does not answer: load the page again.");
      }
    }

    async join(name) {
      try {
        this.write("refused", "");
        if (seated) this.show(await ask("/api/name", OTHERS, { name }));
        else {
          await ask("/api/join", OTHERS, { name, seat: +by("seat").value, token: chosen });
          location.replace(`#seat=${chosen}`);
        }
      } catch (error) {
        if (!seated && error.status) await this.welcome();
        this.write("refused", error.status ? error.message : "The server does not answer: try again.");
      }
    }

    // Change a setting of the table, whatever the position is.
    async set(name, fields) {
      try {
        this.show(await ask(`/api/${name}`, OTHERS, fields));
      } catch (error) {
        this.alert(error.message);
      }
    }

    // Poll at once, because the present poll may have no connection any more.
    again() {
      this.poll?.abort(AGAIN);
    }

    show(state) {
      document.body.classList.remove("waiting");
      if (this.state && state.version < this.state.version) return;
      if (state.game !== GAME.id) { // another game has begun
        location.reload();
        return;
      }
      if (state.since !== this.state?.since) {
        by("advice").hidden = true;
        this.suggested = null;
        this.past = false;
      }
      this.state = state;
      this.known = state.version;
      this.patient = performance.now() + 1000 * (state.patience ?? 0);
      this.draw();
    }

    draw() {
      const { over, replay, review, presence } = this.state;
      if (!over) by("players").replaceChildren();
      const free = (seat) => presence[seat] === "free";
      const view = {
        ...this.state.view,
        agents: this.state.view.agents.map((name, seat) => (free(seat) ? null : name)),
      };
      const several = presence.filter(Boolean).length > 1;
      const joining = several && free(view.seat);
      by("join").hidden = !joining;
      const noteOf = (seat) => (free(seat) && seat !== view.seat ? "not here yet"
        : presence[seat] === "away" ? "away"
          : view.turn === seat && seat !== view.seat ? "thinking" : null);
      const visible = this.past ? { ...view, trick: [null, null, null, null], legal: [] } : view;
      const choose = this.past ? null : (action) => this.send("act", { action });
      this.motion.draw(view, this.past, () => {
        this.table.draw(visible, { choose, noteOf, suggested: this.suggested });
      });
      this.score(view);
      this.say(view.words);
      this.write("remark", view.remark ?? "");
      this.write("review", review ? `Review of your play: ${review}` : "");
      this.write("notice", this.state.notice);
      this.alert(this.state.fault ?? "");
      by("next").hidden = !this.state.next;
      by("new").hidden = !over;
      this.count();
      by("claim").hidden = !this.state.claim;
      by("hint").hidden = over || this.state.next;
      by("undo").hidden = over || several; // the others have seen the action
      by("last").hidden = over;
      by("hint").disabled = !this.state.hint;
      by("undo").disabled = !this.state.undo;
      by("last").disabled = !view.last_trick;
      by("last").setAttribute("aria-pressed", String(this.past));
      by("replay").hidden = !replay;
      if (replay) by("replay").href = replay;
      this.write("replay", review ? "Review" : "Replay");
      by("end").hidden = this.past || !(over || this.state.next);
      by("players").hidden = !over;
      if (!by("end").hidden) this.end(view);
      this.host();
      document.title = `${view.turn === view.seat ? "● " : ""}Bid Euchre`;
    }

    score({ score, seat, hand }) {
      const words = [["You", score[seat & 1]], ["They", score[1 - (seat & 1)]]]
        .flatMap(([who, points]) => [element("span", {}, `${who} `, element("b", {}, points)), " "]);
      by("score").replaceChildren(...words, element("span", {}, `${GAME.goal}, hand ${hand}`));
    }

    // The result and the score sheet, hand by hand; after the game the players of the next one.
    end(view) {
      const { sheet, hands, agents, choices, levels } = this.state;
      this.write("result", view.result ?? "Passed out.");
      const rows = (sheet ?? []).map(({ contract, declarer, tricks, points, score }, at) => [
        at + 1,
        contract === null ? "passed out"
          : [this.table.call(contract), ` by ${this.table.name(view, declarer).toLowerCase()}`],
        contract === null ? "" : tricks.join("–"),
        ...[0, 1].map((side) => `${points[side] > 0 ? "+" : ""}${points[side]}`),
        score.join("–"),
      ]);
      by("sheet").replaceChildren(
        ...bideuchre.rows(["hand", "contract", "tricks", "you", "they", "score"], rows));
      by("hands").replaceChildren(...bideuchre.rows(["player", "hand as dealt"],
        (hands ? [0, 1, 2, 3] : []).map((turn) => (view.seat + turn) % 4).map((seat) => [
          [this.table.name(view, seat), this.table.player(view, seat)].filter(Boolean).join(" "),
          this.signed(hands[seat].join(" "))])));
      if (!choices || by("players").childElementCount) return;
      const others = [1, 2, 3].map((turn) => (view.seat + turn) % 4)
        .filter((seat) => choices[seat].length);
      const level = element("select", {}, element("option", { value: "" }, "each player's own"),
        ...Object.entries(levels).map(([name, [agent, words]]) => element("option", {
          value: agent,
          selected: others.every((seat) => agents[seat] === agent),
        }, `${name}: ${words}`)));
      level.addEventListener("change", () => {
        if (!level.value) return;
        for (const one of by("players").querySelectorAll("[data-seat]")) one.value = level.value;
      });
      const seats = others.map((seat) => element(
        "label", {}, `${this.table.name(view, seat)} (${view.agents[seat]})`,
        element("select", { "data-seat": seat }, ...choices[seat].map((name) => (
          element("option", { selected: name === agents[seat] }, name)))),
      ));
      if (seats.length) by("players").replaceChildren(element("label", {}, "Level", level), ...seats);
    }

    // The host's part of the menu: the speed, another game, and the address for guests.
    host() {
      const { host, levels, agents, presence } = this.state;
      by("host").hidden = !host;
      if (!host) return;
      if (document.activeElement !== by("pause")) {
        by("pause").max = Math.max(3, host.pause);
        by("pause").value = host.pause;
      }
      this.write("seconds", `${host.pause} s`);
      by("invitation").hidden = !host.invitation;
      if (host.invitation && by("address").textContent !== host.invitation.address) {
        const { address, code } = host.invitation;
        this.write("address", address);
        const d = code.flatMap((row, y) => [...row].map((cell, x) => (
          cell === "1" ? `M${x} ${y}h1v1h-1z` : ""))).join("");
        const box = `-4 -4 ${code.length + 8} ${code.length + 8}`;
        by("code").replaceChildren(
          bideuchre.shape("svg", { viewBox: box }, bideuchre.shape("path", { d })));
      }
      if (by("variant").childElementCount) return;
      const options = (first, names) => [["", first], ...names].map(([value, words]) => (
        element("option", { value }, words)));
      by("variant").replaceChildren(
        ...options("as now", GAME.variants.map((name) => [name, name.replace(/_v\d+$/, "")])));
      by("level").replaceChildren(...options("as now", Object.entries(levels).map(
        ([name, [, words]]) => [name, `${name}: ${words}`])));
      by("level").parentElement.hidden = presence.every(Boolean);
    }

    // The agents of the next game, by seat, if any is changed: another person may have changed one.
    agents() {
      const { agents } = this.state;
      const next = [...agents];
      for (const one of by("players").querySelectorAll("[data-seat]")) {
        next[one.dataset.seat] = one.value;
      }
      return next.join() === agents.join() ? {} : { agents: next };
    }

    // The seats that are not ready, and the seconds until the game may continue without them.
    count() {
      if (!this.state) return;
      const { asked, waits } = this.state;
      const left = Math.max(0, Math.ceil((this.patient - performance.now()) / 1000));
      const who = asked ? "you may continue without them" : "the others may continue without you";
      const words = left ? `In ${left} s ${who}.` : `Now ${who}.`;
      this.write("waits", waits ?? "");
      this.write("left", waits ? words : "");
      for (const [name, plain] of [["next", "Next hand"], ["new", "Rematch"]]) {
        by(name).disabled = asked && left > 0;
        this.write(name, asked ? `${plain} without them` : plain);
      }
    }

    write(name, words) {
      if (by(name).textContent !== words) by(name).textContent = words;
    }

    alert(words) {
      by("fault").textContent = words;
    }

    say(words) {
      this.write("words", words);
    }

    // Send a command for the displayed version of the game, one for each version; then poll again.
    async send(name, more = {}) {
      if (!this.state) return;
      const { version, since } = this.state;
      if (this.sent === since) {
        this.alert("Not sent: the server has not answered yet.");
        return;
      }
      this.sent = since;
      this.command = new AbortController();
      if (name === "hint") this.write("hint", "Thinking …");
      try {
        const time = COMMAND[name] ?? OTHERS;
        const answer = await ask(`/api/${name}`, time, { version, ...more }, this.command);
        if (name !== "hint") {
          this.show(answer);
        } else if (since === this.state.since) {
          this.advise(answer);
        }
      } catch (error) {
        if (since !== this.state.since) return; // the poll has brought another position
        if (!error.status) {
          this.known = 0;
          this.alert("No answer from the server: check the connection, then choose again.");
        } else if (error.status !== 409) { // 409: a newer state follows
          this.say(error.message);
        }
      } finally {
        if (this.sent === since) this.sent = null;
        this.write("hint", "Hint");
        this.again();
      }
    }

    // Mark the choice on the table, and say it first; the numbers are there on request.
    advise({ choice, phase, why, headline, heads, rows }) {
      this.suggested = choice;
      this.draw();
      const words = (VERBS[phase] ?? "") + GAME.words[choice];
      by("advised").textContent = `${words[0].toUpperCase()}${words.slice(1)}.`;
      const [reason, ...verdict] = why.replace(/\.$/, "").split("; "); // the verdict has the numbers
      by("why").replaceChildren(...this.signed(`${reason}.`));
      by("verdict").replaceChildren(...this.signed([headline, ...verdict].join(" · ")));
      by("options").replaceChildren(...bideuchre.rows(
        heads, rows.map(([name, ...cells]) => [this.signed(name), ...cells])));
      by("advice").hidden = false;
      by("table").querySelector(".advised")?.scrollIntoView({ block: "nearest" });
    }

    // A text whose cards and strains, in "QD", "bid 4 H" and "trump H", are the signs of their suits.
    signed(text) {
      return text.split(SIGNED).map((part, at) => {
        if (at % 2 === 0) return part; // between the names
        const last = part.slice(part.length === 2 ? 1 : part.lastIndexOf(" ") + 1);
        const first = part.slice(0, -last.length).replace("T", "10");
        return element("span", { class: "signed" },
          element("span", { class: "heard" }, GAME.words[part]),
          element("span", { "aria-hidden": "true" }, first, this.table.strain(last)));
      });
    }

    // Handle a key; return whether it has a meaning.
    press(event) {
      if (!this.state || !by("join").hidden) return false;
      const choices = this.table.buttons;
      const hand = this.state.view.hands[this.state.view.seat];
      const keys = { "?": "hint", c: "claim", u: "undo", t: "last", n: "next" };
      const place = "1234567890-=".indexOf(event.key);
      if (place >= 0) {
        const names = [hand[place], `bid ${event.key}`];
        choices.find((one) => names.includes(one.dataset.choice))?.click();
      } else if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
        const step = event.key === "ArrowRight" ? 1 : choices.length - 1;
        const at = choices.indexOf(document.activeElement);
        choices[at < 0 ? 0 : (at + step) % choices.length]?.focus();
      } else if (event.key in keys) {
        const button = by(keys[event.key]);
        if (!button.hidden && !button.disabled) button.click();
      } else {
        return false;
      }
      return true;
    }
  }

  new Live();
})();
