import { createHash } from "node:crypto";
import { type Html, markup, render, trusted } from "./markup.ts";

const style = `
:root { color: #1b1b1f; background: #fff; font: 1rem/1.5 system-ui, sans-serif; }
body { margin: 0 auto; max-width: 42rem; padding: 1.5rem 1rem; }
h1, h2, h3 { line-height: 1.25; overflow-wrap: anywhere; }
p { overflow-wrap: anywhere; }
img { height: auto; max-width: 100%; }
a { color: #0b4fb3; }
.stars { color: #8a5200; letter-spacing: 0.1em; }
.text { white-space: pre-line; }
.by { color: #55555e; }
.starpost-review { border-top: 1px solid #d5d5dc; padding: 0.5rem 0; }
button { background: #0b4fb3; border: 0; border-radius: 0.25rem; color: #fff; font: inherit; padding: 0.6rem 1.2rem; }
button:focus-visible { outline: 3px solid #1b1b1f; outline-offset: 2px; }
`;

const styleHash = createHash("sha256").update(style).digest("base64");
const policy = `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'self'`;

/** What a page may load. Source: W3C "Content Security Policy". */
export const policies = {
  /** Shows a store's own images; may be shown inside a store's page. */
  public: `${policy}; img-src http: https:`,
  /** For one person; may not stand inside another's page, whose clicks it would take. */
  personal: `${policy}; frame-ancestors 'none'`,
} as const;

interface Document {
  readonly title: string;
  readonly body: Html;
  /** Elements of the head beside those of every page. */
  readonly head?: Html;
}

/** Longest title; what follows is cut off by search engines too. */
const titleLength = 70;

/** A whole page. */
export function renderDocument({ title, head, body }: Document): string {
  return render(markup`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${shorten(title)}</title>
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

function shorten(title: string): string {
  if (title.length <= titleLength) return title;
  const start = title.slice(0, titleLength - 1);
  // Not between the halves of one character.
  return `${start.isWellFormed() ? start : start.slice(0, -1)}…`;
}
