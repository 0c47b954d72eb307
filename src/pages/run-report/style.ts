/** The style sheet of a report: light, dark, small screens, and print. */
export const reportStyle = `
:root {
  --text: #1b1b1f; --muted: #55555e; --page: #f3f4f7; --card: #fff; --line: #d5d5dc; --bar: #0b4fb3;
  --good: #17652b; --warn: #7a4a00; --bad: #a3161c; --mark: #7a1fa2;
  --good-tint: #eaf6ec; --warn-tint: #fdf3e1; --bad-tint: #fdecec; --accepted: #2e8b47; --rejected: #e08a00; --failed: #c9252c;
  background: var(--page); color: var(--text); color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif;
  overflow-wrap: anywhere; -webkit-text-size-adjust: 100%; text-size-adjust: 100%;
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #ececf1; --muted: #b6b6c2; --page: #101114; --card: #1b1d22; --line: #3b3d46; --bar: #8ab8ff;
    --good: #7ddc94; --warn: #f0b341; --bad: #ff9d97; --mark: #d9a6f0;
    --good-tint: #16291b; --warn-tint: #2c2413; --bad-tint: #331b1c; --accepted: #3f9d59; --rejected: #d99a2b; --failed: #e0575a;
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
.verdict { border-radius: 0.5rem; border-inline-start: 0.4rem solid; margin: 1rem 0; padding: 0.75rem 1rem; }
.verdict.good { background: var(--good-tint); border-color: var(--good); }
.verdict.warn { background: var(--warn-tint); border-color: var(--warn); }
.verdict.bad { background: var(--bad-tint); border-color: var(--bad); }
.result { font-size: 1.3rem; font-weight: 650; line-height: 1.3; margin: 0; }
.good .result, .good dd { color: var(--good); }
.warn .result, .warn dd { color: var(--warn); }
.bad .result, .bad dd { color: var(--bad); }
.verdict p { margin: 0.35rem 0 0; }
svg.shares { border-radius: 0.25rem; height: 0.75rem; margin: 0.6rem 0; }
.shares .accepted { fill: var(--accepted); }
.shares .rejected { fill: var(--rejected); }
.shares .failed { fill: var(--failed); }
.tiles { display: grid; gap: 0.75rem; grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr)); margin: 1rem 0; }
.tile { border: 1px solid var(--line); border-radius: 0.5rem; display: flex; flex-direction: column-reverse; justify-content: flex-end; padding: 0.6rem 0.8rem; }
.tile dt { color: var(--muted); font-size: 0.9rem; }
.tile dd { font-size: 1.4rem; font-variant-numeric: tabular-nums; font-weight: 600; margin: 0; }
.tile small { font-size: 0.9rem; font-weight: 400; white-space: nowrap; }
.facts { margin: 0; }
.facts div { display: grid; gap: 0 1rem; grid-template-columns: 9rem 1fr; padding: 0.2rem 0; }
.facts dt { color: var(--muted); }
.facts dd { margin: 0; }
.wide { overflow-x: auto; }
.wide:focus-visible, summary:focus-visible { outline: 3px solid var(--bar); outline-offset: 2px; }
table { border-collapse: collapse; font-size: 0.95rem; min-width: 100%; }
th, td { border-bottom: 1px solid var(--line); padding: 0.35rem 0.75rem 0.35rem 0; text-align: start; vertical-align: top; }
.time { white-space: nowrap; }
thead th { color: var(--muted); font-weight: 600; white-space: nowrap; }
tbody th { font-weight: 400; }
.number { font-variant-numeric: tabular-nums; text-align: end; white-space: nowrap; }
.about, .line { color: var(--muted); font-size: 0.9rem; }
.reason p { margin: 0.1rem 0 0.4rem; }
.examples, .files { list-style: none; margin: 0.25rem 0; padding: 0; }
.examples li { border-top: 1px solid var(--line); display: grid; gap: 0 1rem; grid-template-columns: minmax(0, 1fr) minmax(0, 1.5fr) minmax(0, 1.5fr); padding: 0.3rem 0; }
.value { font-family: ui-monospace, monospace; font-size: 0.9em; }
.none { color: var(--muted); font-style: italic; font-family: inherit; }
.files li { padding: 0.3rem 0; }
.others { table-layout: fixed; width: 100%; }
.others th:first-child { width: 4.5rem; }
figure { margin: 1.25rem 0; }
figcaption { margin-bottom: 0.25rem; color: var(--muted); font-size: 0.9rem; }
svg { display: block; height: auto; width: 100%; }
svg text { fill: var(--muted); font: 12px system-ui, sans-serif; }
svg .level, svg .last { text-anchor: end; }
svg .grid { stroke: var(--line); }
svg .mark { stroke: var(--mark); stroke-dasharray: 4 3; stroke-width: 1.5; }
svg .bars { fill: var(--bar); }
@media (max-width: 34rem) {
  svg text { font-size: 20px; }
  .facts div { grid-template-columns: 1fr; padding: 0.35rem 0; }
  .tiles { gap: 0.5rem; grid-template-columns: 1fr 1fr; }
  .examples li { grid-template-columns: minmax(0, 1fr); }
}
summary { cursor: pointer; padding: 0.25rem 0; }
@media print {
  :root {
    --text: #000; --muted: #333; --page: #fff; --card: #fff; --line: #999; --bar: #333; --good: #000; --warn: #000;
    --bad: #000; --mark: #000;
    --accepted: #bbb; --rejected: #555; --failed: #000; font-size: 10pt;
  }
  @page { margin: 16mm 14mm; }
  .verdict { border: 1px solid #000; border-inline-start-width: 0.4rem; }
  .verdict.good, .verdict.warn, .verdict.bad { background: none; border-color: #000; }
  main { border: 0; margin: 0; max-width: none; min-height: 0; padding: 0; }
  .wide { overflow: visible; }
  figure, .verdict, .tiles, .examples li, .files li, .facts div, tr { break-inside: avoid; }
  h2, h3 { break-after: avoid; }
  details { display: none; }
  svg .bars, svg.shares { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
`;
