import { createHash } from "node:crypto";
import { type Brand, brandSurfaces, defaultBrand } from "../contract/brand/brand.ts";
import { type Html, markup, render, trusted } from "./markup.ts";

const lightColors = ({ accent_color, accent_text_color, star_color }: Brand) =>
  `--accent: ${accent_color}; --on-accent: ${accent_text_color}; --star: ${star_color};`;

const darkColors = (brand: Brand) =>
  `--accent: ${brand.dark_accent_color}; --on-accent: ${brand.dark_accent_text_color}; --star: ${brand.dark_star_color};`;

const style = `
:root {
  --text: #1b1b1f; --muted: #55555e; --page: #f3f4f7; --card: ${brandSurfaces.light}; --line: #d5d5dc; --edge: #6f6f7a;
  ${lightColors(defaultBrand)} --fault: #a3161c; --note: #eef3fb;
  background: var(--page); color: var(--text); color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif;
  overflow-wrap: anywhere; -webkit-text-size-adjust: 100%; text-size-adjust: 100%;
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #ececf1; --muted: #b6b6c2; --page: #101114; --card: ${brandSurfaces.dark}; --line: #3b3d46; --edge: #8d8f9b;
    ${darkColors(defaultBrand)} --fault: #ff9d97; --note: #1d2a40;
  }
}
*, ::before, ::after { box-sizing: border-box; }
body { margin: 0; }
main { background: var(--card); margin: 0 auto; max-width: 42rem; min-height: 100vh; padding: 1.25rem 1rem 2.5rem; }
@media (min-width: 44rem) {
  main { border: 1px solid var(--line); border-radius: 0.75rem; margin: 2rem auto; min-height: 0; padding: 1.5rem 2rem 2rem; }
}
h1, h2, h3 { line-height: 1.25; }
h1 { font-size: 1.6rem; margin: 0 0 1rem; }
h2 { font-size: 1.25rem; margin: 1.75rem 0 0.5rem; }
h3 { font-size: 1.05rem; margin: 0.75rem 0 0.25rem; }
p { margin: 0.5rem 0; }
img { border-radius: 0.5rem; display: block; height: auto; max-height: 16rem; max-width: 100%; }
a { color: var(--accent); text-underline-offset: 0.15em; }
blockquote { border-inline-start: 0.25rem solid var(--line); margin: 1rem 0; padding-inline-start: 1rem; }
.stars { color: var(--star); letter-spacing: 0.1em; }
.text { white-space: pre-line; }
.by, .hint { color: var(--muted); }
.hint { display: block; font-size: 0.9rem; margin: 0.1rem 0 0.35rem; }
.comment { background: var(--note); border-radius: 0.5rem; padding: 0.6rem 0.8rem; }
.starpost-review { border-top: 1px solid var(--line); padding: 0.75rem 0; }
.note { background: var(--note); border-radius: 0.5rem; margin: 1rem 0; padding: 0.6rem 0.8rem; }
.product { align-items: center; display: flex; gap: 1rem; margin: 0 0 1rem; }
.product img { max-height: 5rem; max-width: 5rem; }
.field { border: 0; margin: 0 0 1.25rem; min-width: 0; padding: 0; }
summary { cursor: pointer; list-style: none; }
summary::-webkit-details-marker { display: none; }
summary .change { color: var(--accent); margin-inline-start: 0.5rem; text-decoration: underline; text-underline-offset: 0.15em; }
details > .field { margin: 1rem 0 0; }
.field > label, legend { display: block; font-weight: 600; padding: 0; }
input[type="text"], textarea {
  background: var(--card); border: 1px solid var(--edge); border-radius: 0.4rem; color: inherit; display: block;
  font: inherit; margin-top: 0.35rem; padding: 0.6rem 0.7rem; width: 100%;
}
textarea { min-height: 9rem; resize: vertical; }
[aria-invalid="true"] { border-color: var(--fault); border-width: 2px; }
.fault { color: var(--fault); display: block; font-weight: 600; margin: 0.25rem 0; }
.problems { border: 2px solid var(--fault); border-radius: 0.5rem; margin: 1rem 0 1.5rem; padding: 0.75rem 1rem; }
.problems h2 { font-size: 1.1rem; margin: 0 0 0.5rem; }
.problems ul { margin: 0; padding-inline-start: 1.25rem; }
.problems a { color: var(--fault); }
.rating { display: flex; flex-wrap: wrap; gap: 0.25rem; margin: 0.35rem 0 0; }
.rating label {
  align-items: center; border-radius: 0.4rem; cursor: pointer; display: flex; flex-direction: column; font-size: 0.9rem;
  min-height: 3.75rem; min-width: 3.5rem; position: relative;
}
.rating .star { color: var(--star); font-size: 2.25rem; line-height: 1.1; }
.rating .star::before { content: "☆"; }
@supports selector(:has(*)) {
  .rating input { cursor: pointer; height: 100%; inset: 0; margin: 0; opacity: 0; position: absolute; width: 100%; }
  .rating label:has(:checked) .star::before, .rating label:has(~ label :checked) .star::before { content: "★"; }
  .rating label:has(:checked) { font-weight: 700; }
  .rating label:has(:focus-visible) { outline: 3px solid var(--accent); outline-offset: 1px; }
}
.unseen { clip-path: inset(50%); height: 1px; overflow: hidden; position: absolute; white-space: nowrap; width: 1px; }
button {
  background: var(--accent); border: 1px solid transparent; border-radius: 0.4rem; color: var(--on-accent); cursor: pointer;
  font: inherit; font-weight: 600; min-height: 2.75rem; padding: 0.6rem 1.5rem;
}
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
@media (max-width: 30rem) { button { width: 100%; } }
`;

const styleHash = createHash("sha256").update(style).digest("base64");
const policy = `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'`;
const personalPolicy = `${policy}; form-action 'self'; frame-ancestors 'none'`;
const storeImages = "img-src http: https:";

/** The values of the `Content-Security-Policy` header. Source: W3C "Content Security Policy". */
export const policies = {
  /** Allows images of the store, and embedding in pages of the store. */
  public: `${policy}; form-action 'none'; frame-ancestors *; ${storeImages}`,
  /** For one person. Embedding is forbidden, to prevent clickjacking. */
  personal: personalPolicy,
  /** Like `personal`, but allows the image of a product. */
  form: `${personalPolicy}; ${storeImages}`,
} as const;

interface Document {
  readonly title: string;
  readonly body: Html;
  /** Additional elements of the head. */
  readonly head?: Html;
}

/** Search engines truncate longer titles. */
const maxTitleLength = 70;

export function renderDocument({ title, head, body }: Document): string {
  return render(markup`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${truncateTitle(title)}</title>
<style>${trusted(style)}</style>
${head}
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`);
}

function truncateTitle(title: string): string {
  if (title.length <= maxTitleLength) return title;
  const start = title.slice(0, maxTitleLength - 1);
  // Do not split a surrogate pair.
  return `${start.isWellFormed() ? start : start.slice(0, -1)}…`;
}

/** Renders a page whose URL is meant for one person. Search engines must not index it. */
export function personalPage(title: string, body: Html, heading: Html = markup`${title}`): string {
  return renderDocument({
    title,
    head: markup`<meta name="robots" content="noindex, nofollow">`,
    body: markup`<h1>${heading}</h1>
${body}`,
  });
}
