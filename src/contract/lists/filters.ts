import * as z from "zod";
import { lazily } from "../lazily.ts";
import { lazyObject } from "../lazy-object.ts";
import { shape } from "../shapes.ts";
import { maxSearchLength } from "../storefront/limits.ts";

/** Page sizes of lists with filters. */
export const searchPage = { default: 20, max: 1_000 } as const;

/** By creation time. */
export const searchSorts = ["newest", "oldest"] as const;
export type SearchSort = (typeof searchSorts)[number];

/** A comma-separated list of names, as an array without duplicates. */
export function nameList<const T extends string>(names: readonly T[]) {
  const known = `must be one or more of ${names.join(", ")}`;
  return z
    .string({ error: "must be a comma-separated list of names" })
    .transform((list) => [...new Set(list.split(",").map((name) => name.trim()))].filter((name) => name !== ""))
    .pipe(z.array(z.enum(names, { error: known })).min(1, { error: known }));
}

/** The range of creation times. `until_date` itself is not part of it. */
export const timeRange = lazily(() => ({ since_date: shape.time.optional(), until_date: shape.time.optional() }));

/**
 * Words that must all occur, and phrases in quotation marks. Case, accents, and punctuation are ignored.
 */
export const searchText = lazily(() =>
  z
    .string({ error: "must be a string" })
    .max(maxSearchLength, { error: `is longer than ${maxSearchLength} characters` })
    .refine((text) => /[\p{L}\p{N}]/u.test(text), { error: "has no letters or digits" }),
);

/** A part of a name, an address, or an ID. Case and accents are ignored. */
export const partOfText = lazily(() =>
  z
    .string({ error: "must be a string" })
    .max(maxSearchLength, { error: `is longer than ${maxSearchLength} characters` }),
);

/** The order and the page of a list with filters. */
export const searchPaging = lazily(() => ({
  sort: z.enum(searchSorts, { error: `must be one of ${searchSorts.join(", ")}` }).optional(),
  ...searchPages(),
}));

/** The page of a list with filters. */
export const searchPages = lazily(() => ({ limit: shape.page.optional(), page_info: z.string().optional() }));

/** How to request the next page of a list with filters: with the `page_info` of the current one. */
export const nextPage = lazyObject(() => ({ next_page_info: z.string().nullable() }));

/** The page of a list whose records have IDs: after a cursor, or from an ID on. */
export const idPaging = lazily(() => ({
  since_id: shape.rowId.optional(),
  count: shape.page.optional(),
  page_info: z.string().optional(),
}));

export const searchListing = { by: "page_info", size: { field: "limit", max: searchPage.max } } as const;
