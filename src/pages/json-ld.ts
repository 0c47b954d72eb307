import { type Html, markup, trusted } from "./markup.ts";

/** Renders structured data for search engines. Escapes `<`, so that user text cannot end the element. */
export function jsonLd(data: Readonly<Record<string, unknown>>): Html {
  const text = JSON.stringify(data).replaceAll("<", String.raw`\u003c`);
  return markup`<script type="application/ld+json">${trusted(text)}</script>`;
}
