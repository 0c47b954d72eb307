// Draws the photos of `starpost demo`: illustrations of its products in different rooms, as WebP in src/demo/assets.
// Run it after a change, and commit the files: `node .ci/demo-photos.js`. They are released under CC0.
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import sharp from "sharp";

const assets = join(import.meta.dirname, "../src/demo/assets");

/** A pseudo-random sequence from 0 to 1 that is the same in each run (mulberry32). */
function createRandom(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Mixes a color (`#rrggbb`) with white (above 0) or black (below 0). */
function shade(color, amount) {
  const target = amount > 0 ? 255 : 0;
  const channels = [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));
  const mixed = channels.map((value) => Math.round(value + (target - value) * Math.abs(amount)));
  return `#${mixed.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
}

let gradients = 0;
/** Returns a definition and a reference of a linear gradient. */
function gradient(from, to, { x = 0, y = 1 } = {}) {
  gradients += 1;
  const id = `g${gradients}`;
  return {
    def: `<linearGradient id="${id}" x1="0" y1="0" x2="${x}" y2="${y}"><stop offset="0" stop-color="${from}"/><stop offset="1" stop-color="${to}"/></linearGradient>`,
    fill: `url(#${id})`,
  };
}

/** Products: drawings whose base is at 0, 0, about 400 units high. */
const products = {
  teapot: (color, random) => {
    const body = gradient(shade(color, 0.22), shade(color, -0.28), { x: 0.9, y: 0.8 });
    const speckles = Array.from({ length: 60 }, () => {
      const [angle, distance] = [random() * 6.28, Math.sqrt(random()) * 0.92];
      const [x, y] = [Math.cos(angle) * 150 * distance, -140 + Math.sin(angle) * 115 * distance];
      return `<circle cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="${(1 + random() * 2.2).toFixed(1)}"/>`;
    }).join("");
    return `<defs>${body.def}</defs>
<path d="M130,-190 C235,-235 250,-60 130,-70" fill="none" stroke="${shade(color, -0.32)}" stroke-width="26" stroke-linecap="round"/>
<path d="M-120,-120 C-190,-120 -190,-205 -232,-232 L-262,-212 C-226,-168 -222,-72 -120,-62Z" fill="${shade(color, -0.1)}"/>
<path d="M-84,-30 H84 L66,0 H-66Z" fill="${shade(color, -0.4)}"/>
<ellipse cx="0" cy="-140" rx="158" ry="132" fill="${body.fill}"/>
<g fill="${shade(color, -0.45)}" opacity=".45">${speckles}</g>
<ellipse cx="-62" cy="-190" rx="36" ry="52" fill="#fff" opacity=".22" transform="rotate(28 -62 -190)"/>
<ellipse cx="0" cy="-256" rx="80" ry="20" fill="${shade(color, -0.35)}"/>
<path d="M-78,-260 C-70,-306 70,-306 78,-260 Z" fill="${shade(color, 0.08)}"/>
<circle cx="0" cy="-306" r="20" fill="#b98a5a"/><circle cx="-5" cy="-312" r="7" fill="#fff" opacity=".35"/>`;
  },
  mug: (color) => {
    const body = gradient(shade(color, 0.25), shade(color, -0.22), { x: 1, y: 0.2 });
    return `<defs>${body.def}</defs>
<path d="M95,-205 C205,-215 200,-60 92,-72" fill="none" stroke="${shade(color, -0.2)}" stroke-width="24"/>
<path d="M-110,-240 L-98,-28 Q-94,0 -60,0 H60 Q94,0 98,-28 L110,-240Z" fill="${body.fill}"/>
<path d="M-106,-110 L-98,-28 Q-94,0 -60,0 H60 Q94,0 98,-28 L106,-110 C40,-84 -50,-140 -106,-110Z" fill="#f3ead9" opacity=".85"/>
<ellipse cx="0" cy="-240" rx="110" ry="26" fill="${shade(color, 0.32)}"/>
<ellipse cx="0" cy="-238" rx="97" ry="20" fill="#4d3021"/><ellipse cx="-14" cy="-241" rx="60" ry="10" fill="#7a5136"/>
<g fill="none" stroke="#fff" stroke-width="9" stroke-linecap="round" opacity=".4" filter="url(#soft)"><path d="M-34,-285 C-60,-325 -8,-345 -32,-392"/><path d="M26,-285 C0,-325 52,-345 28,-400"/></g>`;
  },
  lamp: (color) => {
    const head = gradient(shade(color, 0.25), shade(color, -0.3), { x: 1, y: 1 });
    return `<defs>${head.def}<radialGradient id="glow"><stop offset="0" stop-color="#ffe9b0" stop-opacity=".95"/><stop offset="1" stop-color="#ffd98a" stop-opacity="0"/></radialGradient></defs>
<path d="M-175,-262 L-330,0 H40 L-60,-222Z" fill="#ffe7a8" opacity=".34" filter="url(#soft)"/>
<path d="M110,-16 L120,-250 L-40,-392" fill="none" stroke="#3a3a3c" stroke-width="13" stroke-linejoin="round" stroke-linecap="round"/>
<circle cx="120" cy="-250" r="15" fill="#c79a56"/><circle cx="-40" cy="-392" r="13" fill="#c79a56"/>
<ellipse cx="110" cy="-8" rx="104" ry="20" fill="#2f2f31"/><ellipse cx="110" cy="-17" rx="104" ry="20" fill="${shade(color, -0.1)}"/>
<ellipse cx="-118" cy="-240" rx="64" ry="32" fill="url(#glow)" transform="rotate(18 -118 -240)"/>
<g transform="rotate(18 -60 -350)"><path d="M-92,-392 H-28 L42,-262 H-162Z" fill="${head.fill}"/><ellipse cx="-60" cy="-262" rx="102" ry="18" fill="#fff3cf"/><path d="M-92,-392 Q-60,-424 -28,-392Z" fill="${shade(color, -0.35)}"/></g>`;
  },
  cushion: (color, random) => {
    const body = gradient(shade(color, 0.2), shade(color, -0.2), { x: 0.7, y: 1 });
    const pattern = random() < 0.5 ? [-90, -45, 0, 45, 90] : [-60, 60];
    const lines = pattern
      .map((x) => `<path d="M${x * 1.5},-318 C${x * 1.2},-220 ${x * 1.2},-110 ${x * 1.5},-14"/>`)
      .join("");
    return `<defs>${body.def}<clipPath id="pillow"><path d="M-190,-330 C-90,-300 90,-300 190,-330 C165,-230 165,-110 192,-6 C90,-30 -90,-30 -192,-6 C-165,-110 -165,-230 -190,-330Z"/></clipPath></defs>
<g transform="rotate(${(random() * 14 - 7).toFixed(1)})"><path d="M-190,-330 C-90,-300 90,-300 190,-330 C165,-230 165,-110 192,-6 C90,-30 -90,-30 -192,-6 C-165,-110 -165,-230 -190,-330Z" fill="${body.fill}" stroke="${shade(color, -0.35)}" stroke-width="3"/>
<g clip-path="url(#pillow)"><g fill="none" stroke="#f6efe2" stroke-width="${pattern.length > 2 ? 13 : 30}" opacity=".6">${lines}</g>
<path d="M-60,-190 C-20,-160 30,-160 66,-196" fill="none" stroke="${shade(color, -0.4)}" stroke-width="7" opacity=".25" filter="url(#soft)"/>
<ellipse cx="-80" cy="-250" rx="90" ry="50" fill="#fff" opacity=".16" filter="url(#soft)"/></g></g>`;
  },
  planter: (color, random) => {
    const pot = gradient(shade(color, 0.22), shade(color, -0.28), { x: 1, y: 0.3 });
    const leaf = (angle, length, green) =>
      `<g transform="translate(0,-178) rotate(${angle})"><path d="M0,0 C-44,${-length * 0.45} -40,${-length * 0.8} 0,${-length} C40,${-length * 0.8} 44,${-length * 0.45} 0,0Z" fill="${green}"/><path d="M0,-10 V${-length * 0.92}" stroke="#fff" stroke-width="3" opacity=".25"/></g>`;
    const greens = ["#2f6b4a", "#3f8259", "#5a9a68", "#285a40"];
    const count = 7 + Math.floor(random() * 4);
    const leaves = Array.from({ length: count }, (_, at) => {
      const angle = -78 + (156 / (count - 1)) * at + random() * 10 - 5;
      return leaf(angle.toFixed(0), 170 + random() * 95, greens[at % greens.length]);
    });
    return `<defs>${pot.def}</defs>${leaves.join("")}
<ellipse cx="0" cy="-4" rx="132" ry="17" fill="${shade(color, -0.38)}"/><ellipse cx="0" cy="-12" rx="132" ry="16" fill="${shade(color, 0.02)}"/>
<path d="M-118,-190 L-92,-22 Q-88,-8 -70,-8 H70 Q88,-8 92,-22 L118,-190Z" fill="${pot.fill}"/>
<rect x="-130" y="-208" width="260" height="46" rx="9" fill="${shade(color, 0.1)}"/><rect x="-130" y="-170" width="260" height="8" fill="${shade(color, -0.4)}" opacity=".3"/>`;
  },
  stool: (color) => {
    const seat = gradient(shade(color, 0.22), shade(color, -0.15), { x: 1, y: 0.4 });
    const leg = (x1, x2, dark) =>
      `<path d="M${x1 - 15},-310 L${x2 - 11},0 H${x2 + 11} L${x1 + 15},-310Z" fill="${shade(color, dark)}"/>`;
    return `<defs>${seat.def}</defs>${leg(0, 8, -0.42)}${leg(-92, -150, -0.12)}${leg(92, 150, -0.26)}
<path d="M-132,-108 L132,-108" stroke="${shade(color, -0.3)}" stroke-width="13"/>
<path d="M-168,-330 V-304 C-168,-268 168,-268 168,-304 V-330Z" fill="${shade(color, -0.28)}"/>
<ellipse cx="0" cy="-330" rx="168" ry="42" fill="${seat.fill}"/>
<g fill="none" stroke="${shade(color, -0.3)}" stroke-width="3" opacity=".45"><ellipse cx="-10" cy="-330" rx="130" ry="29"/><ellipse cx="-16" cy="-330" rx="92" ry="19"/><ellipse cx="-22" cy="-330" rx="54" ry="10"/></g>`;
  },
  clock: (color, random) => {
    const rim = gradient(shade(color, 0.28), shade(color, -0.35), { x: 1, y: 1 });
    const [hour, minute] = [random() * 360, random() * 360];
    const ticks = Array.from(
      { length: 12 },
      (_, at) =>
        `<path d="M0,-126 V-${at % 3 === 0 ? 100 : 112}" transform="rotate(${at * 30})" stroke-width="${at % 3 === 0 ? 9 : 5}"/>`,
    ).join("");
    return `<defs>${rim.def}</defs><g transform="translate(0,-190)"><circle r="176" fill="${rim.fill}"/><circle r="150" fill="#fbf6ec"/><circle r="150" fill="none" stroke="#000" stroke-width="10" opacity=".08"/>
<g stroke="#3b342c" stroke-linecap="round">${ticks}</g>
<path d="M0,18 V-74" stroke="#2e2a26" stroke-width="12" stroke-linecap="round" transform="rotate(${hour.toFixed(0)})"/><path d="M0,22 V-108" stroke="#2e2a26" stroke-width="8" stroke-linecap="round" transform="rotate(${minute.toFixed(0)})"/>
<path d="M0,30 V-112" stroke="#b9472f" stroke-width="3.5" stroke-linecap="round" transform="rotate(${(minute * 3).toFixed(0)})"/><circle r="9" fill="#b9472f"/>
<path d="M-118,-80 A142,142 0 0 1 20,-140" fill="none" stroke="#fff" stroke-width="16" opacity=".5" stroke-linecap="round"/></g>`;
  },
  blanket: (color, random) => {
    const stripes = random() < 0.6;
    const layer = (y, width, tone) => {
      const fill = gradient(shade(color, tone + 0.14), shade(color, tone - 0.12), { x: 1, y: 0 });
      const x = -width / 2;
      return `<defs>${fill.def}</defs><rect x="${x}" y="${y}" width="${width}" height="64" rx="30" fill="${fill.fill}"/>${
        stripes
          ? `<path d="M${x + width * 0.62},${y} h38 v64 h-38Z M${x + width * 0.78},${y} h16 v64 h-16Z" fill="#f6efe2" opacity=".65"/>`
          : `<path d="M${x + 26},${y + 32} H${x + width - 30}" stroke="${shade(color, -0.35)}" stroke-width="3" opacity=".35"/>`
      }`;
    };
    const fringe = Array.from(
      { length: 13 },
      (_, at) =>
        `<path d="M${-176 + at * 9},-58 q${(random() * 8 - 4).toFixed(0)},34 ${(random() * 10 - 5).toFixed(0)},58"/>`,
    ).join("");
    return `${layer(-64, 400, -0.08)}${layer(-124, 388, 0.02)}${layer(-184, 396, -0.04)}${layer(-244, 380, 0.08)}
<path d="M-190,-236 C-206,-150 -186,-90 -182,-52 H-66 C-72,-120 -66,-180 -74,-242Z" fill="${shade(color, 0.16)}"/>
<g stroke="${shade(color, 0.2)}" stroke-width="5" fill="none" stroke-linecap="round">${fringe}</g>`;
  },
};

/** Colors in which each product is sold. */
const colors = {
  teapot: ["#54796d", "#c8754f", "#3f5a77"],
  mug: ["#c26a4a", "#4b7a85", "#7d8f5a"],
  lamp: ["#d9a441", "#4d6b58", "#b9533d"],
  cushion: ["#7c8f6b", "#c98a5b", "#5d7491"],
  planter: ["#c4714a", "#b5835a", "#8a9aa0"],
  stool: ["#c79a66", "#a9784a", "#d8b98a"],
  clock: ["#8a5a38", "#6b4a34", "#b48a5a"],
  blanket: ["#8c6f8f", "#5f7f8c", "#c08a4e"],
};

const shadowAt = (x, y, rx, ry = rx * 0.16) =>
  `<ellipse cx="${x}" cy="${y}" rx="${rx}" ry="${ry}" fill="#1d1410" opacity=".38" filter="url(#blur)"/>`;

/** What stands beside a product. */
const props = {
  books: (x, y) =>
    `<g transform="translate(${x},${y})"><rect x="-90" y="-34" width="180" height="34" rx="4" fill="#35506b"/><rect x="-78" y="-66" width="160" height="32" rx="4" fill="#c9653f"/><rect x="-84" y="-92" width="150" height="26" rx="4" fill="#e3c46f"/><path d="M-60,-50 h90 M-66,-17 h110" stroke="#fff" stroke-width="3" opacity=".5"/></g>`,
  twig: (x, y) =>
    `<g transform="translate(${x},${y})"><path d="M0,-120 C-10,-200 -30,-260 -66,-330 M0,-120 C10,-210 30,-250 56,-310 M-14,-210 L-54,-236 M18,-200 L52,-222" fill="none" stroke="#6b4d36" stroke-width="6" stroke-linecap="round"/><g fill="#e8dcc6">${[
      [-66, -330],
      [56, -310],
      [-54, -236],
      [52, -222],
      [-38, -280],
      [36, -268],
    ]
      .map(([cx, cy]) => `<ellipse cx="${cx}" cy="${cy}" rx="15" ry="21"/>`)
      .join(
        "",
      )}</g><path d="M-34,-130 C-62,-80 -58,-8 -34,0 H34 C58,-8 62,-80 34,-130Z" fill="#dfe5e3"/><path d="M-34,-130 C-52,-96 -56,-40 -44,-12" fill="none" stroke="#fff" stroke-width="10" opacity=".6"/></g>`,
  cat: (x, y) =>
    `<g transform="translate(${x},${y})" fill="#3c3531"><path d="M-60,0 C-92,-96 -58,-176 -24,-190 L-32,-238 L-2,-214 H30 L58,-238 L52,-188 C86,-150 92,-60 74,0Z"/><path d="M70,-14 C150,-6 142,-96 118,-120" fill="none" stroke="#3c3531" stroke-width="22" stroke-linecap="round"/><circle cx="0" cy="-186" r="5" fill="#e7c15a"/><circle cx="30" cy="-186" r="5" fill="#e7c15a"/></g>`,
  bowl: (x, y) =>
    `<g transform="translate(${x},${y})"><circle cx="-34" cy="-76" r="34" fill="#d98b3a"/><circle cx="24" cy="-84" r="36" fill="#c9632f"/><circle cx="66" cy="-66" r="28" fill="#e0a84a"/><path d="M-104,-66 H104 C96,-6 52,0 0,0 C-52,0 -96,-6 -104,-66Z" fill="#efe6d6"/></g>`,
  candle: (x, y) =>
    `<g transform="translate(${x},${y})"><ellipse cx="0" cy="-176" rx="70" ry="70" fill="#ffd98a" opacity=".35" filter="url(#blur)"/><rect x="-30" y="-130" width="60" height="130" rx="6" fill="#f2e6d0"/><path d="M0,-134 C-18,-160 -6,-176 0,-196 C8,-176 18,-160 0,-134Z" fill="#f6a93b"/></g>`,
  frame: (x, y) =>
    `<g transform="translate(${x},${y})"><rect x="-80" y="-200" width="160" height="200" fill="#b48a5a"/><rect x="-66" y="-186" width="132" height="172" fill="#f4eee2"/><circle cx="20" cy="-130" r="26" fill="#d9784a"/><path d="M-66,-60 C-30,-110 10,-40 66,-86 V-14 H-66Z" fill="#6f8f7a"/></g>`,
};

const windowOf = (x, y, width, height, sky) =>
  `<g transform="translate(${x},${y})"><rect x="-16" y="-16" width="${width + 32}" height="${height + 32}" fill="#f7f3ea"/><rect width="${width}" height="${height}" fill="${sky}"/>`;
const bars = (width, height) =>
  `<path d="M${width / 2},0 V${height} M0,${height / 2} H${width}" stroke="#f7f3ea" stroke-width="14"/></g>`;

/** Rooms: the background of a product, in an image of 1200 × 900, and the surface on which it stands. */
const rooms = {
  morning: () => ({
    back: `<rect width="1200" height="900" fill="#ece0cf"/>${windowOf(650, 70, 420, 480, "#cfe6ef")}<path d="M0,360 C90,280 210,330 420,250 V480 H0Z" fill="#8fb091"/><circle cx="320" cy="110" r="46" fill="#fff3cf"/>${bars(420, 480)}<path d="M640,900 L820,600 H1200 V900Z" fill="#fff4d9" opacity=".35"/>`,
    surface: ["#d9a877", "#b98553", 640],
  }),
  sunlight: () => ({
    back: `<rect width="1200" height="900" fill="#e5d0ba"/><g fill="#fff1d6" opacity=".75" transform="skewX(-22)"><rect x="520" y="60" width="190" height="230"/><rect x="740" y="60" width="190" height="230"/><rect x="520" y="318" width="190" height="230"/><rect x="740" y="318" width="190" height="230"/></g>`,
    surface: ["#c99a72", "#a8764e", 660],
  }),
  shelf: () => ({
    back: `<rect width="1200" height="900" fill="#cdd8d2"/><rect y="150" width="1200" height="26" fill="#9b7350"/>${[0, 1, 2, 3, 4, 5, 6, 7, 8].map((at) => `<rect x="${80 + at * 58}" y="${-20 - (at % 3) * 14}" width="50" height="170" fill="${["#b8563c", "#3d5a73", "#d9b65c", "#6c8a6a", "#8c6f8f"][at % 5]}"/>`).join("")}`,
    surface: ["#b58a60", "#8f6741", 690],
  }),
  desk: () => ({
    back: `<rect width="1200" height="900" fill="#dfe3e8"/><rect x="720" y="330" width="380" height="250" rx="14" fill="#2c3138"/><rect x="736" y="346" width="348" height="212" fill="#9fc0cf"/><path d="M736,500 C820,430 930,520 1084,450 V558 H736Z" fill="#5f8f8a"/><rect x="880" y="580" width="60" height="62" fill="#9aa1a8"/><g fill="#fdf3c4"><rect x="90" y="110" width="120" height="120" transform="rotate(-4 150 170)"/></g><rect x="240" y="140" width="110" height="110" fill="#f6c9b4" transform="rotate(5 295 195)"/>`,
    surface: ["#e4d3bd", "#c7ad8d", 640],
  }),
  kitchen: () => ({
    back: `<rect width="1200" height="900" fill="#f2efe8"/><g stroke="#d6d0c4" stroke-width="4">${Array.from({ length: 8 }, (_, at) => `<path d="M0,${at * 92} H1200"/>`).join("")}${Array.from({ length: 14 }, (_, at) => `<path d="M${at * 92 + 30},0 V660"/>`).join("")}</g><path d="M60,60 H520" stroke="#8a8f94" stroke-width="10"/>${[120, 240, 380].map((x, at) => `<path d="M${x},60 V${130 + at * 20}" stroke="#8a8f94" stroke-width="7"/><ellipse cx="${x}" cy="${170 + at * 20}" rx="${34 + at * 4}" ry="46" fill="${["#b98a5a", "#8a8f94", "#c9653f"][at]}"/>`).join("")}`,
    surface: ["#8e6a4a", "#6d4e34", 650],
  }),
  evening: () => ({
    back: `<rect width="1200" height="900" fill="#3f3a4c"/>${windowOf(120, 80, 400, 440, "#1d2740")}<circle cx="290" cy="110" r="44" fill="#f6edcf"/><g fill="#f6edcf">${[
      [60, 60],
      [120, 180],
      [350, 260],
      [90, 300],
      [210, 40],
    ]
      .map(([cx, cy]) => `<circle cx="${cx}" cy="${cy}" r="4"/>`)
      .join(
        "",
      )}</g>${bars(400, 440)}<ellipse cx="760" cy="420" rx="560" ry="420" fill="#ffcf85" opacity=".26" filter="url(#wide)"/>`,
    surface: ["#7a5540", "#4f3528", 650],
  }),
  garden: (random) => ({
    back: `<rect width="1200" height="900" fill="#9dbf93"/><g filter="url(#blur)">${Array.from({ length: 26 }, () => `<circle cx="${(random() * 1200).toFixed(0)}" cy="${(random() * 640).toFixed(0)}" r="${(40 + random() * 90).toFixed(0)}" fill="${["#6fa06c", "#bcd7a0", "#e7efc4", "#4f8259", "#f3d9d0"][Math.floor(random() * 5)]}" opacity=".6"/>`).join("")}</g>`,
    surface: ["#b79a7c", "#94785c", 640],
    isSlatted: true,
  }),
  sofa: () => ({
    back: `<rect width="1200" height="900" fill="#e9ddd0"/><rect x="140" y="90" width="230" height="290" fill="#fbf8f2" stroke="#a97f55" stroke-width="14"/><circle cx="255" cy="210" r="60" fill="#d9784a"/><path d="M160,360 C220,280 300,330 350,270 V360Z" fill="#4f7a78"/><path d="M430,430 Q430,330 540,330 H1240 V720 H430Z" fill="#6d8791"/><path d="M430,560 H1200" stroke="#55707a" stroke-width="8"/><path d="M820,335 V560" stroke="#55707a" stroke-width="8"/>`,
    surface: ["#c9b39a", "#a98f74", 690],
  }),
  studio: () => ({
    back: `<rect width="1200" height="900" fill="#efe7da"/><circle cx="600" cy="420" r="330" fill="#e2d3bd"/>`,
    surface: ["#e8dcc9", "#d5c3a8", 660],
  }),
};

const filters = `<filter id="soft" x="-50%" y="-50%" width="200%" height="200%"><feGaussianBlur stdDeviation="7"/></filter><filter id="blur" x="-50%" y="-80%" width="200%" height="260%"><feGaussianBlur stdDeviation="15"/></filter><filter id="wide" x="-50%" y="-50%" width="200%" height="200%"><feGaussianBlur stdDeviation="90"/></filter><radialGradient id="vignette" cx=".5" cy=".45" r=".8"><stop offset=".55" stop-color="#000" stop-opacity="0"/><stop offset="1" stop-color="#1b0f08" stop-opacity=".34"/></radialGradient>`;

/** The room of a photo, and its surface: a table, a shelf, or the floor. */
function drawRoom(name, random) {
  const {
    back,
    surface: [top, bottom, y],
    isSlatted,
  } = rooms[name](random);
  const wood = gradient(top, bottom);
  const slats = isSlatted
    ? [0, 1, 2, 3]
        .map(
          (at) => `<rect y="${y + 30 + at * 62}" width="1200" height="7" fill="${shade(bottom, -0.35)}" opacity=".6"/>`,
        )
        .join("")
    : `<path d="M0,${y + 70} C300,${y + 50} 700,${y + 96} 1200,${y + 64} M0,${y + 150} C400,${y + 176} 800,${y + 126} 1200,${y + 160}" fill="none" stroke="${shade(bottom, -0.2)}" stroke-width="4" opacity=".3"/>`;
  return {
    y,
    text: `${back}<defs>${wood.def}</defs><rect y="${y}" width="1200" height="${900 - y}" fill="${wood.fill}"/><rect y="${y}" width="1200" height="6" fill="#fff" opacity=".25"/>${slats}`,
  };
}

/** A product with its shadow; a clock hangs on the wall. */
function placeProduct(name, { x, y, scale, color, random }) {
  const drawn = products[name](color, random);
  if (name === "clock") {
    const up = y - 210;
    return `<ellipse cx="${x + 26}" cy="${up - 160 * scale}" rx="${180 * scale}" ry="${180 * scale}" fill="#1d1410" opacity=".3" filter="url(#blur)"/><g transform="translate(${x},${up}) scale(${scale})">${drawn}</g>`;
  }
  const wide = { lamp: 150, stool: 190, cushion: 210, blanket: 230 }[name] ?? 170;
  return `${shadowAt(x + 14, y, wide * scale)}<g transform="translate(${x},${y}) scale(${scale})">${drawn}</g>`;
}

const svg = (content, { left = 0, top = 0, width = 1_200, height = 900 } = {}) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${left} ${top} ${width} ${height}" width="${width}" height="${height}"><defs>${filters}</defs>${content}<rect x="${left}" y="${top}" width="${width}" height="${height}" fill="url(#vignette)"/></svg>`;

/** How many photos each product has: 60 in all. */
const counts = { teapot: 10, mug: 9, lamp: 7, cushion: 8, planter: 9, stool: 6, clock: 4, blanket: 7 };
const places = {
  teapot: ["morning", "kitchen", "sunlight", "garden", "evening", "shelf", "desk"],
  mug: ["desk", "kitchen", "garden", "morning", "evening", "sofa", "sunlight"],
  lamp: ["evening", "desk", "shelf", "sofa", "sunlight"],
  cushion: ["sofa", "sunlight", "garden", "shelf", "morning"],
  planter: ["morning", "sunlight", "shelf", "desk", "kitchen", "garden"],
  stool: ["sunlight", "sofa", "kitchen", "garden", "morning"],
  clock: ["sunlight", "kitchen", "desk", "studio"],
  blanket: ["sofa", "sunlight", "evening", "garden", "shelf"],
};

/** The crops of photos: as of a camera, of a phone, and square. */
const crops = [
  {},
  { left: 225, width: 750 },
  { left: 150, width: 900 },
  { left: 90, top: 110, width: 1_050, height: 790 },
];

function drawPhoto(product, at) {
  const random = createRandom(at * 7_919 + product.length * 104_729 + product.charCodeAt(0));
  const room = drawRoom(places[product][at % places[product].length], random);
  const palette = colors[product];
  const x = 560 + random() * 90;
  const y = room.y + 90 + random() * 60;
  const scale = 1.02 + random() * 0.3;
  const beside = Object.values(props);
  const others = [x - 330 - random() * 70, x + 330 + random() * 70]
    .filter(() => random() < 0.62)
    .map((place) => {
      const draw = beside[Math.floor(random() * beside.length)];
      const base = room.y + 40 + random() * 30;
      return `${shadowAt(place, base, 100)}${draw(place, base)}`;
    });
  const placed = placeProduct(product, { x, y, scale, color: palette[at % palette.length], random });
  return svg(`${room.text}${others.join("")}${placed}`, crops[at % crops.length]);
}

/** The picture of a product in the shop. */
function drawProduct(product) {
  const random = createRandom(product.length * 31);
  const room = drawRoom("studio", random);
  const y = product === "clock" ? 900 : 790;
  return svg(`${room.text}${placeProduct(product, { x: 600, y, scale: 1.3, color: colors[product][0], random })}`, {
    left: 150,
    width: 900,
  });
}

/** The picture of the home page. */
function drawHome() {
  const random = createRandom(5);
  const room = drawRoom("morning", random);
  const at = (name, x, y, scale, color = colors[name][0]) => placeProduct(name, { x, y, scale, color, random });
  const items = [
    at("clock", 360, 690, 0.75),
    at("planter", 180, 720, 0.85),
    at("lamp", 930, 740, 0.95),
    at("teapot", 520, 800, 0.8),
    at("mug", 740, 830, 0.55),
    at("blanket", 1010, 846, 0.55),
  ];
  return svg(`${room.text}${items.join("")}`, { top: 60, height: 800 });
}

const renderImage = (image) => sharp(Buffer.from(image)).png({ compressionLevel: 1 }).toBuffer();

async function write(folder, name, image, { size, quality }) {
  const resized = sharp(image).resize(size, size, { fit: "inside" });
  await resized.webp({ quality, effort: 6, smartSubsample: true }).toFile(join(folder, `${name}.webp`));
}

for (const name of ["photos", "products"]) rmSync(join(assets, name), { recursive: true, force: true });
const [photos, shop] = ["photos", "products"].map((name) => {
  mkdirSync(join(assets, name), { recursive: true });
  return join(assets, name);
});
const index = [];
for (const [product, count] of Object.entries(counts)) {
  await write(shop, product, await renderImage(drawProduct(product)), { size: 800, quality: 70 });
  for (let at = 0; at < count; at += 1) {
    const image = await renderImage(drawPhoto(product, at));
    const name = `${product}-${at + 1}`;
    for (const [size, quality] of [
      [160, 60],
      [480, 58],
      [1_200, 52],
    ]) {
      await write(photos, `${name}.${size}`, image, { size, quality });
    }
    const { width, height } = await sharp(join(photos, `${name}.1200.webp`)).metadata();
    const { channels } = await sharp(image).stats();
    const color = `#${channels
      .slice(0, 3)
      .map(({ mean }) => Math.round(mean).toString(16).padStart(2, "0"))
      .join("")}`;
    index.push({ product, name, width, height, color });
  }
}
await write(shop, "home", await renderImage(drawHome()), { size: 1_200, quality: 64 });
writeFileSync(join(assets, "photos.json"), `${JSON.stringify(index, undefined, 1)}\n`);
const bytes = [photos, shop].flatMap((folder) => readdirSync(folder).map((name) => statSync(join(folder, name)).size));
process.stdout.write(
  `${index.length} photos; all files: ${Math.round(bytes.reduce((sum, size) => sum + size) / 1_024)} KiB\n`,
);
