"use strict";
// Elements of a page, and the faces of cards as drawings in a square of 60 by 84.
const bideuchre = (() => {
  const SVG = "http://www.w3.org/2000/svg";

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

  // Head and body of a table; the first cell of a row is its header. A cell is text, an element,
  // or a list of them.
  function rows(heads, lines) {
    const cells = (tag, row) => row.map((cell, at) => element(
      cell === "" ? "td" : at === 0 ? "th" : tag,
      { scope: cell !== "" && (tag === "th" ? "col" : at === 0 && "row") },
      ...[cell].flat().map((part) => (part instanceof Node ? part : `${part}`)),
    ));
    return [
      element("thead", {}, element("tr", {}, ...cells("th", heads))),
      element("tbody", {}, ...lines.map((row) => element("tr", {}, ...cells("td", row)))),
    ];
  }

  function shape(tag, attributes, ...children) {
    const made = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  }

  // The classes of a suit's colour: of two, and of four.
  const colour = (suit) => `${suit === "D" || suit === "H" ? "red" : "black"} suit-${suit}`;

  // The upper half of a court figure: [class, path]; "~" marks a path that is mirrored as well.
  const ROBE = [
    ["robe", "M16 42V38C17 32 22 30 26 29H34C38 30 43 32 44 38V42Z"],
    ["trim ~", "M20 42C20 36 22 32.5 25 30L27 29.6C24 33 23 37 23 42Z"],
    ["linen", "M25.5 29L30 38L34.5 29Z"],
  ];
  const FACE = [
    ["skin", "M25.4 18V23.6C25.4 27.4 27.6 30 30 30S34.6 27.4 34.6 23.6V18Z"],
    ["line ~", "M27.1 22.1H28.9M27.4 20.5Q28.2 20 29 20.6"],
    ["line", "M30.2 22L29.6 25H30.4M28.9 26.9Q30 27.6 31.1 26.9"],
  ];
  const FIGURES = {
    K: [
      ["hair ~", "M25.4 17C22.8 22 23.2 28 25.8 30L27 24L26.2 18Z"], ...ROBE, ...FACE,
      ["hair", "M25.2 23.5C25.4 31 28 34.5 30 34.5S34.6 31 34.8 23.5C34 26 32 25.4 30 25.4"
        + "S26 26 25.2 23.5Z"],
      ["line", "M28.9 28Q30 28.6 31.1 28"],
      ["trim", "M24.4 18.6L23 11.6L27 15L30 10.6L33 15L37 11.6L35.6 18.6Q30 17 24.4 18.6Z"],
      ["robe", "M30 14.6L31.3 16L30 17.4L28.7 16Z"],
      ["blade ~", "M40.4 42V19L41.2 16.6L42 19V42Z"],
    ],
    Q: [
      ["hair ~", "M26.5 16C20.4 19 20.6 29 22.4 35C25.5 34.5 27 32 27 28L26 22Z"], ...ROBE, ...FACE,
      ["hair", "M25.2 21.5C25.6 18.5 28 17.6 30 18.8C32 17.6 34.4 18.5 34.8 21.5V16.6H25.2Z"],
      ["trim", "M24.6 18C24.6 13 27.2 14 27.7 15.6C28.2 11.4 31.8 11.4 32.3 15.6C32.8 14 35.4 13"
        + " 35.4 18Q30 15.8 24.6 18Z"],
      ["trim", "M26.8 30.4Q30 34.4 33.2 30.4L32.8 32Q30 35.6 27.2 32Z"],
      ["bloom", "M40 27.5C42.4 26.3 43.6 29 41.6 30.2C43 32.2 40.4 33.4 39.4 31.6C37.6 32.8 36.2"
        + " 30.4 38.2 29.4C36.9 27.3 39.3 26 40 27.5Z"],
      ["stem", "M39.9 32L40.6 42"],
    ],
    J: [
      ["hair ~", "M25.8 17.5C23.4 21 23.4 26.5 24.4 29.4L27 28L26 22Z"], ...ROBE, ...FACE,
      ["robe", "M24 19C22.4 13.2 28 11.4 36.2 15L35.9 18.8Q30 16.6 24 19Z"],
      ["trim", "M34.2 15.6C36 10.6 40.6 10 43.4 11.6C40.6 12.4 38.6 15 35.8 17.4Z"],
      ["trim", "M28.6 34.4H31.4V42H28.6Z"],
      ["blade", "M18.2 42V19L16.8 20.2C16.4 17.6 17.2 15.2 18.8 13.4C20.4 15.2 21.2 17.6 20.8 20.2"
        + "L19.4 19V42Z"],
    ],
  };

  // The ranks as strokes around a centre: no font is needed, and a reader hears only the card's name.
  const RANKS = {
    A: "M-5 7L0-7L5 7M-3.3 2.4H3.3",
    K: "M-4.4-7V7M4.8-7L-4.4 1.6M-1.2-1.2L5 7",
    Q: "M0-7C-3.6-7-5.2-4-5.2 0S-3.6 7 0 7S5.2 4 5.2 0S3.6-7 0-7M1.4 2.8L5.4 7.4",
    J: "M3.2-7V3.2C3.2 5.8 1.8 7-.4 7S-4 5.8-4 3.4M.2-7H5.6",
    T: "M-6.4-4.6L-4.2-7V7M2.9-7C.4-7-.5-4-.5 0S.4 7 2.9 7S6.2 4 6.2 0S5.3-7 2.9-7",
    9: "M4.4-2.5C4.4.2 2.6 2 0 2S-4.4.2-4.4-2.5S-2.6-7 0-7S4.4-5.2 4.4-2.5C4.4 3 2.6 6.4-2.4 7",
  };

  const figure = (rank) => FIGURES[rank].flatMap(([name, d]) => {
    const drawn = shape("path", { class: name.replace(" ~", ""), d });
    if (!name.endsWith("~")) return [drawn];
    const other = drawn.cloneNode();
    other.setAttribute("transform", "matrix(-1 0 0 1 60 0)");
    return [drawn, other];
  });

  // The face of a card; `shapes` has the path of each suit, in a square of 20 by 20.
  function face(name, shapes) {
    const [letter, suit] = name;
    const pip = (x, y, scale) => shape("path", {
      class: "pip", d: shapes[suit],
      transform: `translate(${x - 10 * scale} ${y - 10 * scale}) scale(${scale})`,
    });
    const index = () => shape(
      "g", { class: "index" }, 
      shape("path", { class: "rank", d: RANKS[letter], transform: "translate(9 12)" }),
      pip(9, 26.5, .5),
    );
    const pips = (...places) => places.map(([x, y]) => pip(x, y, .52));
    const art = () => {
      if (letter in FIGURES) return [...figure(letter), pip(20, 13.4, .26)];
      if (letter === "A") return [];
      const four = pips([23.5, 15], [36.5, 15], [23.5, 33], [36.5, 33]);
      return letter === "T" ? [...four, ...pips([30, 24])] : four;
    };
    const centre = [
      ...(letter in FIGURES ? [shape("rect", {
        class: "frame", x: 16.5, y: 9.5, width: 27, height: 65, rx: 1.5 })] : []),
      ...(letter === "A" ? [pip(30, 42, 1.35)] : letter === "9" ? [pip(30, 42, .52)] : []),
    ];
    const half = { transform: "rotate(180 30 42)" };
    return shape(
      "svg", { viewBox: "0 0 60 84", "aria-hidden": "true", class: colour(suit) },
      shape("rect", { class: "face", x: .75, y: .75, width: 58.5, height: 82.5, rx: 5 }),
      shape("g", { class: "art" }, ...centre, ...art(), shape("g", half, ...art())),
      index(), shape("g", { class: "turned", ...half }, index()),
    );
  }

  return { element, rows, shape, colour, face };
})();
