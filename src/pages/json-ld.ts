import { type Html, markup, trusted } from "./markup.ts";

/** Data for search engines. No `<` is left in it, so that nothing written by people ends the element or begins another. */
export function jsonLd(data: Readonly<Record<string, unknown>>): Html {
  const text = JSON.stringify(data).replaceAll("<", String.raw`\u003c`);
  return markup`<script type="application/ld+json">${trusted(text)}</script>`;
}
