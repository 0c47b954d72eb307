import type { FieldSpec } from "../kind.ts";
import { ImportError } from "../import-error.ts";
import { normalizeName } from "../mapping/names.ts";
import type { UrlMaker } from "./row-fields.ts";

type Part = { readonly text: string } | { readonly field: string } | { readonly column: string };

/** Names that a hint lists. */
const mostNames = 12;

function listNames(names: readonly string[]): string {
  return [...names.slice(0, mostNames), ...(names.length > mostNames ? ["…"] : [])].join(", ");
}

/**
 * What makes a product's address of a row: `https://shop.example/p/{product_id}`, with fields of ours and columns of
 * the file in braces. Their values are encoded for addresses; a `/` in them stays, since shops export paths.
 * Assumed: one address is never meant for all products, so that a pattern without braces is refused.
 * @throws ImportError `usage` when the pattern is no address, names nothing, or names what is not there
 */
export function readUrlPattern(
  file: string,
  pattern: string,
  urlField: string,
  fields: readonly FieldSpec[],
  header: readonly string[],
): UrlMaker {
  checkUrlPattern(pattern);
  const names = fields.map(({ name }) => name).filter((name) => name !== urlField);
  const parts = pattern.split(/\{([^{}]*)\}/).map((text, at): Part => {
    if (at % 2 === 0) return { text };
    const field = names.find((name) => normalizeName(name) === normalizeName(text));
    if (field !== undefined) return { field };
    const column = header.find((name) => normalizeName(name) === normalizeName(text.trim()));
    if (column !== undefined && column !== "") return { column };
    throw new ImportError(
      "usage",
      `--product-url: ${file} has no column '${text}', and there is no such field`,
      {
        hint: `there are the fields ${listNames(names)}, and the columns ${listNames(header.filter((name) => name !== ""))}`,
      },
    );
  });
  return (field, cell) => {
    let url = "";
    for (const part of parts) {
      if ("text" in part) {
        url += part.text;
        continue;
      }
      const value = "field" in part ? field(part.field) : cell(part.column);
      // An address with a hole in it leads nowhere.
      if (value === "") return "";
      url += encodeURIComponent(value.toWellFormed()).replaceAll("%2F", "/");
    }
    return url;
  };
}

/**
 * Makes sure that a pattern is one, whatever the file holds.
 * @throws ImportError `usage`
 */
export function checkUrlPattern(pattern: string): void {
  const names = pattern.match(/\{[^{}]*\}/g) ?? [];
  const why = !/^https?:\/\/[^\s/?#]/i.test(pattern)
    ? "must begin with http:// or https://"
    : /[{}]/.test(pattern.replaceAll(/\{[^{}]*\}/g, ""))
      ? "a brace is not closed, or not opened"
      : names.length === 0
        ? "would give every product the same address"
        : undefined;
  if (why === undefined) return;
  throw new ImportError("usage", `--product-url ${pattern}: ${why}`, {
    hint: "name what tells products apart: --product-url 'https://shop.example/products/{product_id}'",
  });
}
