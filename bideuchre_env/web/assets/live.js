"use strict";
// Connects the table to the server: draws its states, sends the player's choices. The rules of the
// game are on the server.
(() => {
  const GAME = JSON.parse(document.getElementById("data").textContent).game;
  const by = (id) => document.getElementById(id);
  const PAUSE = 2000; // milliseconds until the next try if the server does not answer

  // A seat's link carries its token behind the #, which no browser sends by itself.
  const token = new URLSearchParams(location.hash.slice(1)).get("seat");

  async function ask(path, body) {
    const headers = { Authorization: `Bearer ${token}` };
    if (body) headers["Content-Type"] = "application/json";
    const answer = await fetch(path, {
      method: body ? "POST" : "GET", headers, body: body && JSON.stringify(body),
      cache: "no-store", credentials: "omit",
    });
    const data = await answer.json();
    if (!answer.ok) throw Object.assign(new Error(data.error), { status: answer.status });
    return data;
  }

  const sleep = (time) => new Promise((done) => { setTimeout(done, time); });

  class Live {
    constructor() {
      this.table = new bideuchre.Table(by("table"), GAME);
      this.state = null;
      this.busy = false;
      this.past = false;
      this.listen();
      this.follow();
    }

    listen() {
      for (const name of ["next", "new", "claim", "undo", "hint"]) {
        by(name).addEventListener("click", () => this.send(name));
      }
      by("last").addEventListener("click", () => {
        this.past = !this.past;
        this.draw();
      });
      by("theme").addEventListener("click", () => {
        const dark = getComputedStyle(document.documentElement).colorScheme === "dark";
        document.documentElement.dataset.theme = dark ? "light" : "dark";
      });
      new bideuchre.Keys(by("keys"), (event) => this.press(event));
      setInterval(() => this.count(), 250);
      addEventListener("hashchange", () => location.reload());
    }

    // Poll for new states.
    async follow() {
      if (!token) {
        this.say("Open this page by the link of a seat, which the server has printed.");
        return;
      }
      for (;;) {
        try {
          this.show(await ask(`/api/table?after=${this.state ? this.state.version : 0}`));
        } catch (error) {
          if (error.status === 401) {
            this.say("This link is no longer valid: use the new one that the server has printed.");
            return;
          }
          document.body.classList.add("waiting");
          this.say(error.status ? error.message : "The server does not answer; trying again.");
          await sleep(PAUSE);
        }
      }
    }

    show(state) {
      document.body.classList.remove("waiting");
      if (this.state && state.version < this.state.version) return;
      if (!this.state || state.version !== this.state.version) {
        by("advice").hidden = true;
        this.past = false;
      }
      this.state = state;
      this.patient = performance.now() + 1000 * (state.patience ?? 0);
      this.draw();
    }

    draw() {
      const { view } = this.state;
      const visible = this.past ? { ...view, trick: [null, null, null, null], legal: [] } : view;
      this.table.draw(visible, { choose: this.past ? null : (action) => this.send("act", { action }) });
      by("title").textContent = view.title;
      by("score").textContent = this.state.score;
      this.say(view.words);
      by("remark").textContent = view.remark ?? "";
      by("fault").textContent = this.state.fault ?? "";
      by("next").hidden = !this.state.next;
      by("new").hidden = !this.state.over;
      this.count();
      by("claim").hidden = !this.state.claim;
      by("hint").disabled = !this.state.hint;
      by("undo").disabled = !this.state.undo;
      by("last").disabled = !view.last_trick;
      by("last").setAttribute("aria-pressed", String(this.past));
      by("replay").hidden = !this.state.replay;
      if (this.state.replay) by("replay").href = this.state.replay;
      by("review").hidden = !this.state.review;
      by("review").querySelector("pre").textContent = this.state.review ?? "";
      document.title = `${view.turn === view.seat ? "● " : ""}Bid Euchre`;
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
      for (const [name, plain] of [["next", "Next hand"], ["new", "New game"]]) {
        by(name).disabled = asked && left > 0;
        this.write(name, asked ? `${plain} without them` : plain);
      }
    }

    write(name, words) {
      if (by(name).textContent !== words) by(name).textContent = words;
    }

    say(words) {
      this.write("words", words);
    }

    // Send a command for the displayed version of the game, one at a time.
    async send(name, more = {}) {
      if (this.busy || !this.state) return;
      this.busy = true;
      try {
        const answer = await ask(`/api/${name}`, { version: this.state.version, ...more });
        if (name === "hint") {
          this.advise(answer);
        } else {
          this.show(answer);
        }
      } catch (error) {
        if (error.status !== 409) this.say(error.message); // 409: a newer state follows
      } finally {
        this.busy = false;
      }
    }

    advise({ why, heads, rows }) {
      const { element } = bideuchre;
      by("why").textContent = why;
      const line = ([name, ...cells]) => element(
        "tr", {}, element("th", { scope: "row" }, name.replace(/^(bid|trump) /, "")),
        ...cells.map((cell) => element("td", {}, cell)),
      );
      by("options").replaceChildren(
        element("thead", {}, element(
          "tr", {}, ...heads.map((head) => element("th", { scope: "col" }, head)))),
        element("tbody", {}, ...rows.map(line)),
      );
      by("advice").hidden = false;
    }

    // Handle a key; return whether it has a meaning.
    press(event) {
      if (!this.state) return false;
      const choices = [...by("table").querySelectorAll("button[data-action]")];
      const hand = this.state.view.hands[this.state.view.seat];
      const keys = { "?": "hint", c: "claim", u: "undo", t: "last", n: "next" };
      if (/^[1-9]$/.test(event.key)) {
        const name = hand[event.key - 1];
        choices.find((one) => one.dataset.action === name)?.click();
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
