import type { FieldSpec } from "../kind.ts";
import { usageError } from "../import-error.ts";
import { listNames, maxNames, normalizeName } from "../mapping/names.ts";
import type { UrlMaker } from "./row-fields.ts";

type Source = { readonly field: string } | { readonly column: string };
/** A placeholder has the value of the first of its names that has one. */
type Part = { readonly text: string } | { readonly from: readonly Source[] };

/**
 * Compiles a URL pattern such as `https://shop.example/p/{product_id}`. Braces hold field names or columns of the file, of
 * which `{product_id|product_name}` uses the first that has a value. Values are URL-encoded except for `/`, since shops export paths.
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
  const findSource = (text: string): Source | undefined => {
    const field = names.find((name) => normalizeName(name) === normalizeName(text));
    if (field !== undefined) return { field };
    const column = header.find((name) => normalizeName(name) === normalizeName(text.trim()));
    return column === undefined || column === "" ? undefined : { column };
  };
  const parts = pattern.split(/\{([^{}]*)\}/).map((text, at): Part => {
    if (at % 2 === 0) return { text };
    const from = text.split("|").flatMap((name) => findSource(name) ?? []);
    if (from.length > 0) return { from };
    throw usageError(
      `invalid value for --product-url: ${file} has no column '${text}', and there is no such field`,
      `fields: ${listNames(names, maxNames)}; columns: ${listNames(
        header.filter((name) => name !== ""),
        maxNames,
      )}`,
    );
  });
  return (field, cell) => {
    let url = "";
    for (const part of parts) {
      if ("text" in part) {
        url += part.text;
        continue;
      }
      const values = part.from.map((source) => ("field" in source ? field(source.field) : cell(source.column)));
      const value = values.find((one) => one !== "") ?? "";
      // A URL with an empty placeholder would be wrong.
      if (value === "") return "";
      url += encodeURIComponent(value.toWellFormed()).replaceAll("%2F", "/");
    }
    return url;
  };
}

/** The names in the braces of a pattern. */
export function namesInPattern(pattern: string): string[] {
  return [...pattern.matchAll(/\{([^{}]*)\}/g)].flatMap(([, names = ""]) => names.split("|"));
}

/** A search, which finds a product by its ID in most shops. */
const searchPath = "/search?q={product_id|product_name}";

/**
 * The pattern for the products of a shop.
 * @param storePath the one of its software; by default, a search
 * @throws ImportError `usage` if the address is not a URL without a query
 */
export function toStorePattern(storeUrl: string, storePath = searchPath): string {
  if (URL.canParse(storeUrl) && /^https?:\/\/[^?#{}\s]+$/i.test(storeUrl))
    return (storeUrl.endsWith("/") ? storeUrl.slice(0, -1) : storeUrl) + storePath;
  throw usageError(
    `invalid value "${storeUrl}" for --store-url: must be the address of the shop`,
    "for example: --store-url https://shop.example",
  );
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
