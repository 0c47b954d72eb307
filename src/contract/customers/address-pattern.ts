const escaped = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);

/** Before an address: no character of a longer one, unless it belongs to an escape sequence of JSON or of a URL. */
const before = String.raw`(?:(?<![\p{L}\p{N}\p{M}._+-])|(?<=\\[b-t])|(?<=%(?!2[bde]|5f|[46][1-9a-f]|[57][0-9a]|3\d)[0-7][0-9a-f]))`;
/** After an address: no character of a longer domain. A period may end the sentence. */
const after = String.raw`(?![\p{L}\p{N}-]|\.[\p{L}\p{N}])`;

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "'": "&#39;", '"': "&quot;" };

/** The forms in which an address occurs in texts: plain, in URLs and forms, and in HTML and JSON. */
export function addressForms(address: string): readonly string[] {
  const [, field = ""] = new URLSearchParams({ "": address }).toString().split("=");
  const html = address.replaceAll(/["&']/g, (found) => entities[found] ?? found);
  return [...new Set([address, encodeURIComponent(address), field, html, JSON.stringify(address).slice(1, -1)])];
}

/**
 * Creates a pattern that finds an email address in a text, in any case and form, but not within another
 * address: `ada@mail.example` does not occur in `yamada@mail.example`.
 */
export function addressPattern(addresses: readonly string[]): RegExp {
  const forms = new Set(addresses.flatMap(addressForms));
  return new RegExp(`${before}(?:${[...forms].map(escaped).join("|")})${after}`, "giu");
}
