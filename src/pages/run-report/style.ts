/** The style sheet of a report: light, dark, small screens, and print. */
export const reportStyle = `
:root {
  --text: #1b1b1f; --muted: #55555e; --page: #f3f4f7; --card: #fff; --line: #d5d5dc; --bar: #0b4fb3;
  --good: #17652b; --warn: #7a4a00; --bad: #a3161c; --mark: #7a1fa2;
  background: var(--page); color: var(--text); color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif;
  overflow-wrap: anywhere; -webkit-text-size-adjust: 100%; text-size-adjust: 100%;
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #ececf1; --muted: #b6b6c2; --page: #101114; --card: #1b1d22; --line: #3b3d46; --bar: #8ab8ff;
    --good: #7ddc94; --warn: #f0b341; --bad: #ff9d97; --mark: #d9a6f0;
  }
}
*, ::before, ::after { box-sizing: border-box; }
body { margin: 0; }
main { background: var(--card); margin: 0 auto; max-width: 56rem; min-height: 100vh; padding: 1.25rem 1rem 2.5rem; }
@media (min-width: 58rem) {
  main { border: 1px solid var(--line); border-radius: 0.75rem; margin: 2rem auto; min-height: 0; padding: 1.5rem 2rem 2rem; }
}
h1, h2, h3 { line-height: 1.25; }
h1 { font-size: 1.6rem; margin: 0; }
h2 { border-top: 1px solid var(--line); font-size: 1.25rem; margin: 2rem 0 0.75rem; padding-top: 1.25rem; }
h3 { font-size: 1.05rem; margin: 1.25rem 0 0.25rem; }
p { margin: 0.5rem 0; }
code { font: 0.9em ui-monospace, monospace; }
.state { font-size: 1.1rem; font-weight: 600; }
.finished, .good dd { color: var(--good); }
.interrupted, .stopped, .running, .warn dd { color: var(--warn); }
.failed, .bad dd { color: var(--bad); }
.tiles { display: grid; gap: 0.75rem; grid-template-columns: repeat(auto-fill, minmax(9rem, 1fr)); margin: 1rem 0; }
.tile { border: 1px solid var(--line); border-radius: 0.5rem; display: flex; flex-direction: column-reverse; justify-content: flex-end; padding: 0.6rem 0.8rem; }
.tile dt { color: var(--muted); font-size: 0.9rem; }
.tile dd { font-size: 1.4rem; font-variant-numeric: tabular-nums; font-weight: 600; margin: 0; }
.facts { margin: 0; }
.facts div { display: grid; gap: 0 1rem; grid-template-columns: 9rem 1fr; padding: 0.2rem 0; }
.facts dt { color: var(--muted); }
.facts dd { margin: 0; }
.wide { overflow-x: auto; }
.wide:focus-visible, summary:focus-visible { outline: 3px solid var(--bar); outline-offset: 2px; }
table { border-collapse: collapse; font-size: 0.95rem; min-width: 100%; }
th, td { border-bottom: 1px solid var(--line); padding: 0.35rem 0.75rem 0.35rem 0; text-align: start; vertical-align: top; }
td { min-width: 5rem; }
.time { white-space: nowrap; }
td code { display: block; min-width: 20rem; }
thead th { color: var(--muted); font-weight: 600; white-space: nowrap; }
tbody th { font-weight: 400; min-width: 8rem; }
td bdi { display: block; max-width: 36rem; min-width: min(12rem, 60vw); }
.number { font-variant-numeric: tabular-nums; text-align: end; white-space: nowrap; }
figure { margin: 1.25rem 0; }
figcaption { color: var(--muted); font-size: 0.9rem; }
svg { display: block; height: auto; width: 100%; }
svg text { fill: var(--muted); font: 12px system-ui, sans-serif; }
svg .level, svg .last { text-anchor: end; }
svg .grid { stroke: var(--line); }
svg .mark { stroke: var(--mark); stroke-dasharray: 4 3; stroke-width: 1.5; }
svg .bars { fill: var(--bar); }
@media (max-width: 34rem) {
  svg text { font-size: 20px; }
  .facts div { grid-template-columns: 1fr; }
}
summary { cursor: pointer; padding: 0.25rem 0; }
@media print {
  :root {
    --text: #000; --muted: #333; --page: #fff; --card: #fff; --line: #999; --bar: #333; --good: #000; --warn: #000;
    --bad: #000; --mark: #000; font-size: 10pt;
  }
  main { border: 0; margin: 0; max-width: none; min-height: 0; padding: 0; }
  .wide { overflow: visible; }
  figure, .reason, tr { break-inside: avoid; }
  h2, h3 { break-after: avoid; }
  svg .bars { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
`;
