import type { FieldSpec } from "../kind.ts";
import { usageError } from "../import-error.ts";
import { normalizeName } from "../mapping/names.ts";
import type { UrlMaker } from "./row-fields.ts";

type Part = { readonly text: string } | { readonly field: string } | { readonly column: string };

/** Maximum number of names in a hint. */
const maxNames = 12;

function listNames(names: readonly string[]): string {
  return [...names.slice(0, maxNames), ...(names.length > maxNames ? ["…"] : [])].join(", ");
}

/**
 * Compiles a URL pattern such as `https://shop.example/p/{product_id}`. Braces hold field names or columns of the file.
 * Values are URL-encoded except for `/`, since shops export paths.
 * Assumed: one URL is never meant for all products, so a pattern without braces is rejected.
 * @throws ImportError `usage` if the pattern is not a URL, has no placeholder, or names an unknown field or column
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
    throw usageError(
      `invalid value for --product-url: ${file} has no column '${text}', and there is no such field`,
      `fields: ${listNames(names)}; columns: ${listNames(header.filter((name) => name !== ""))}`,
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
      // A URL with an empty placeholder would be wrong.
      if (value === "") return "";
      url += encodeURIComponent(value.toWellFormed()).replaceAll("%2F", "/");
    }
    return url;
  };
}

/**
 * Checks the syntax of a pattern.
 * @throws ImportError `usage`
 */
export function checkUrlPattern(pattern: string): void {
  const names = pattern.match(/\{[^{}]*\}/g) ?? [];
  const why = !/^https?:\/\/[^\s/?#]/i.test(pattern)
    ? "must begin with http:// or https://"
    : /[{}]/.test(pattern.replaceAll(/\{[^{}]*\}/g, ""))
      ? "a brace is not closed or not opened"
      : names.length === 0
        ? "every product would have the same URL"
        : undefined;
  if (why === undefined) return;
  throw usageError(
    `invalid value "${pattern}" for --product-url: ${why}`,
    "include what identifies a product: --product-url 'https://shop.example/products/{product_id}'",
  );
}
