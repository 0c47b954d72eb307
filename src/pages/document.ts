import { createHash } from "node:crypto";
import { type Brand, brandSurfaces, defaultBrand } from "../contract/brand/brand.ts";
import { mixColors } from "../contract/brand/color-contrast.ts";
import { directionOf } from "../messages/messages.ts";
import { type Html, markup, render, trusted } from "./markup.ts";
import { defaultContext, type PageContext } from "./page-context.ts";

const light = ({ accent_color, accent_text_color, star_color }: Brand) => `
  --text: #1b1b1f; --muted: #55555e; --page: #f3f4f7; --card: ${brandSurfaces.light}; --line: #d5d5dc; --edge: #6f6f7a;
  --accent: ${accent_color}; --on-accent: ${accent_text_color}; --star: ${star_color}; --fault: #a3161c;
  --note: ${mixColors(accent_color, brandSurfaces.light, 0.07)};`;

const dark = ({ dark_accent_color, dark_accent_text_color, dark_star_color }: Brand) => `
  --text: #ececf1; --muted: #b6b6c2; --page: #101114; --card: ${brandSurfaces.dark}; --line: #3b3d46; --edge: #8d8f9b;
  --accent: ${dark_accent_color}; --on-accent: ${dark_accent_text_color}; --star: ${dark_star_color}; --fault: #ff9d97;
  --note: ${mixColors(dark_accent_color, brandSurfaces.dark, 0.12)};`;

const schemes: Readonly<Record<Brand["color_scheme"], (brand: Brand) => string>> = {
  auto: (brand) => `
:root {${light(brand)} color-scheme: light dark; }
@media (prefers-color-scheme: dark) { :root {${dark(brand)} } }`,
  light: (brand) => `
:root {${light(brand)} color-scheme: light; }`,
  dark: (brand) => `
:root {${dark(brand)} color-scheme: dark; }`,
};

const rules = `
*, ::before, ::after { box-sizing: border-box; }
body { margin: 0; }
main { background: var(--card); margin: 0 auto; max-width: 42rem; min-height: 100vh; padding: 1.25rem 1rem 2.5rem; }
@media (min-width: 44rem) {
  main { border: 1px solid var(--line); border-radius: min(calc(2 * var(--radius)), 1.5rem); margin: 2rem auto; min-height: 0; padding: 1.5rem 2rem 2rem; }
}
h1, h2, h3 { line-height: 1.25; }
h1 { font-size: 1.6rem; margin: 0 0 1rem; }
h2 { font-size: 1.25rem; margin: 1.75rem 0 0.5rem; }
h3 { font-size: 1.05rem; margin: 0.75rem 0 0.25rem; }
p { margin: 0.5rem 0; }
img { border-radius: var(--box-radius); display: block; height: auto; max-width: 100%; }
.cover { aspect-ratio: 4 / 3; height: auto; object-fit: contain; object-position: left; width: 20rem; }
[dir="rtl"] .cover { object-position: right; }
a { color: var(--accent); text-underline-offset: 0.15em; }
blockquote { border-inline-start: 0.25rem solid var(--line); margin: 1rem 0; padding-inline-start: 1rem; }
.stars { color: var(--star); height: 1em; vertical-align: -0.1em; width: auto; }
.starpost-bottomline .stars { height: 1.25em; vertical-align: -0.2em; }
.text { white-space: pre-line; }
.by, .hint { color: var(--muted); }
.hint { display: block; font-size: 0.9rem; margin: 0.1rem 0 0.35rem; }
.comment { background: var(--note); border-radius: var(--box-radius); padding: 0.6rem 0.8rem; }
.answer { border-inline-start: 0.25rem solid var(--line); margin: 0.5rem 0; padding-inline-start: 0.8rem; }
.starpost-review, .starpost-question { border-top: 1px solid var(--line); padding: 0.75rem 0; }
.histogram { border-collapse: collapse; max-width: 26rem; width: 100%; }
.histogram td, .histogram th { font-weight: 400; padding: 0; text-align: start; white-space: nowrap; }
.histogram td:last-child { color: var(--muted); text-align: end; }
.histogram a { display: block; padding: 0.2rem 0; }
.histogram .bar { padding: 0 0.75rem; width: 100%; }
.bar svg { background: var(--line); border: 1px solid transparent; border-radius: 0.5rem; color: var(--star); display: block; height: 0.6rem; width: 100%; }
[dir="rtl"] .bar svg { transform: scaleX(-1); }
.cards { list-style: none; margin: 0; padding: 0; }
.cards li { align-items: center; border-top: 1px solid var(--line); display: flex; gap: 1rem; padding: 0.75rem 0; }
.cards h3, .cards p { margin: 0; }
.cards a { display: inline-block; padding: 0.2rem 0; }
.note { background: var(--note); border-radius: var(--box-radius); margin: 1rem 0; padding: 0.6rem 0.8rem; }
.product { align-items: center; display: flex; gap: 1rem; margin: 0 0 1rem; }
.product img, .cards img { flex: none; height: 5rem; object-fit: contain; width: 5rem; }
.field { border: 0; margin: 0 0 1.25rem; min-width: 0; padding: 0; }
summary { cursor: pointer; list-style: none; }
summary::-webkit-details-marker { display: none; }
summary .change { color: var(--accent); margin-inline-start: 0.5rem; text-decoration: underline; text-underline-offset: 0.15em; }
details > .field { margin: 1rem 0 0; }
.field > label, legend { display: block; font-weight: 600; padding: 0; }
input[type="text"], input[type="email"], input[type="file"], textarea {
  background: var(--card); border: 1px solid var(--edge); border-radius: var(--radius); color: inherit; display: block;
  font: inherit; margin-top: 0.35rem; padding: 0.6rem 0.7rem; width: 100%;
}
input[type="file"] { border-style: dashed; }
::file-selector-button {
  background: var(--note); border: 1px solid var(--edge); border-radius: var(--radius); color: inherit; cursor: pointer; font: inherit;
  margin-inline-end: 0.75rem; padding: 0.35rem 0.75rem;
}
textarea { min-height: 9rem; resize: vertical; }
[aria-invalid="true"] { border-color: var(--fault); border-width: 2px; }
.fault { color: var(--fault); display: block; font-weight: 600; margin: 0.25rem 0; }
.problems { border: 2px solid var(--fault); border-radius: var(--box-radius); margin: 1rem 0 1.5rem; padding: 0.75rem 1rem; }
.problems h2 { font-size: 1.1rem; margin: 0 0 0.5rem; }
.problems ul { margin: 0; padding-inline-start: 1.25rem; }
.problems a { color: var(--fault); }
.rating { display: flex; flex-wrap: wrap; gap: 0.25rem; margin: 0.35rem 0 0; }
.rating label {
  align-items: center; border-radius: var(--radius); cursor: pointer; display: flex; flex-direction: column; font-size: 0.9rem;
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
.photos { display: flex; flex-wrap: wrap; gap: 0.75rem; list-style: none; margin: 0.75rem 0; padding: 0; }
.photos li { width: 7rem; }
.photos img, .photos svg { border-radius: var(--box-radius); height: 7rem; object-fit: cover; width: 7rem; }
.photos li > a:has(svg), .photos li > a:has(img) { display: grid; padding: 0; }
.photos a > * { grid-area: 1 / 1; }
.actions { align-items: center; display: flex; flex-wrap: wrap; gap: 0.25rem 1.25rem; margin: 0.75rem 0 0; }
.actions a, .photos a { display: inline-block; padding: 0.35rem 0; }
.foot { border-top: 1px solid var(--line); margin: 2rem 0 0; padding-top: 0.75rem; }
.unseen { clip-path: inset(50%); height: 1px; overflow: hidden; position: absolute; white-space: nowrap; width: 1px; }
button {
  background: var(--accent); border: 1px solid transparent; border-radius: var(--radius); color: var(--on-accent); cursor: pointer;
  font: inherit; font-weight: 600; min-height: 2.75rem; padding: 0.6rem 1.5rem;
}
button.danger { background: transparent; border-color: var(--fault); color: var(--fault); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
@media (max-width: 30rem) { button { width: 100%; } }
.logo { border-radius: 0; margin: 0 0 1.25rem; }
.consent { margin-bottom: 0.75rem; }
.legal { border-top: 1px solid var(--line); display: flex; flex-wrap: wrap; font-size: 0.9rem; gap: 0.25rem 1.5rem; margin-top: 2rem; padding-top: 1rem; }
.legal a { padding: 0.25rem 0; }
`;

const styleOf = (brand: Brand) => `${schemes[brand.color_scheme](brand)}
:root {
  --radius: ${brand.radius}px; --box-radius: min(calc(1.25 * var(--radius)), 1rem);
  background: var(--page); color: var(--text); font: 1rem/1.5 ${brand.font};
  overflow-wrap: anywhere; -webkit-text-size-adjust: 100%; text-size-adjust: 100%;
}${rules}`;

const builtInStyle = styleOf(defaultBrand);

/** Most shops have no brand. */
const findStyle = (brand: Brand) => (brand === defaultBrand ? builtInStyle : styleOf(brand));

/** Who sees a page, and where. */
export type Audience = "public" | "personal" | "form";

/**
 * The value of the `Content-Security-Policy` header. Source: W3C "Content Security Policy".
 * - `public`: allows images of the store, and embedding in pages of the store
 * - `personal`: for one person. Embedding is forbidden, to prevent clickjacking
 * - `form`: like `personal`, but allows the image of a product
 */
export function policyOf(audience: Audience, brand: Brand = defaultBrand): string {
  const styleHash = createHash("sha256").update(findStyle(brand)).digest("base64");
  const policy = `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'`;
  const storeImages = "img-src http: https:";
  if (audience === "public") return `${policy}; form-action 'none'; frame-ancestors *; ${storeImages}`;
  const personal = `${policy}; form-action 'self'; frame-ancestors 'none'`;
  if (audience === "form") return `${personal}; ${storeImages}`;
  return brand.logo_url === null ? personal : `${personal}; img-src ${new URL(brand.logo_url).origin}`;
}

/** The content of a page. */
export interface PageContent {
  readonly title: string;
  readonly body: Html;
  /** Additional elements of the head. */
  readonly head?: Html;
}

/** Search engines truncate longer titles. */
const maxTitleLength = 70;

/** Renders a page in the design of a shop. */
export function renderDocument({ title, head, body }: PageContent, context: PageContext = defaultContext): string {
  const { brand, language } = context;
  return render(markup`<!DOCTYPE html>
<html lang="${language}" dir="${directionOf(language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${truncateTitle(title)}</title>
<style>${trusted(findStyle(brand))}</style>
${head}
</head>
<body>
<main>
${logo(brand)}
${body}
${legalLinks(context)}
</main>
</body>
</html>
`);
}

function logo({ logo_url, logo_width, logo_height, sender_name }: Brand): Html | undefined {
  if (logo_url === null) return undefined;
  const size = markup`width="${logo_width}" height="${logo_height}"`;
  return markup`<img class="logo" src="${logo_url}" ${size} alt="${sender_name ?? ""}">`;
}

function legalLinks({ brand: { privacy_url, terms_url }, t }: PageContext): Html | undefined {
  if (privacy_url === null && terms_url === null) return undefined;
  return markup`<footer class="legal">
${privacy_url !== null && markup`<a href="${privacy_url}">${t("page.privacy")}</a>`}
${terms_url !== null && markup`<a href="${terms_url}">${t("page.terms")}</a>`}
</footer>`;
}

/** The text that a form must show above its button. */
export function consentText({ brand: { consent_text } }: PageContext): Html | undefined {
  return consent_text === null ? undefined : markup`<p class="text hint consent" dir="auto">${consent_text}</p>`;
}

function truncateTitle(title: string): string {
  if (title.length <= maxTitleLength) return title;
  const start = title.slice(0, maxTitleLength - 1);
  // Do not split a surrogate pair.
  return `${start.isWellFormed() ? start : start.slice(0, -1)}…`;
}

/** A page whose URL is meant for one person. Search engines must not index it. */
export function personalPage(title: string, body: Html, heading: Html = markup`${title}`): PageContent {
  return {
    title,
    head: markup`<meta name="robots" content="noindex, nofollow">`,
    body: markup`<h1>${heading}</h1>
${body}`,
  };
}
