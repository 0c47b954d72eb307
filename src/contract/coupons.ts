import * as z from "zod";
import { endpoint, extensionPrefix, route } from "./endpoint.ts";
import { outcomesInput, outcomesOutput } from "./outcomes.ts";
import { detailsQuery, shape, timestamp } from "./shapes.ts";
import { lazily } from "./lazily.ts";
import { lazyObject } from "./lazy-object.ts";
import { nextPage, partOfText, searchListing, searchPages } from "./lists/filters.ts";

/** Source: spec "Coupon". */
export const couponActions = ["map_review", "map_share", "map_review_share"] as const;
export type CouponAction = (typeof couponActions)[number];

/** Length of a coupon code, in characters. Assumed: the specification states neither limit. */
export const couponCodeLength = { min: 3, max: 64 } as const;

/** Error categories of an upload, with their texts. Source: spec "Coupons". Assumed: of its two names, the sample's `empty_cell` applies. */
export const couponErrorTexts = {
  empty_cell: "Empty cells",
  code_length: "Max/Min code digit requirements",
  duplicate_code: "Duplicated content",
} as const;

const coupon_action = lazily(() => z.enum(couponActions, { error: `must be one of ${couponActions.join(", ")}` }));

/** A code that was issued to a customer. */
const issuedCoupon = lazyObject(() => ({
  code: z.string(),
  coupon_action: z.enum(couponActions),
  email: z.string(),
  issued_at: timestamp(),
}));

const category = lazyObject(() => ({ error_text: z.string(), error_count: z.number().int() }));

const listedCoupon = lazyObject(() => ({
  code: z.string(),
  coupon_action: z.string().optional(),
  issued_to: z.string().nullish(),
  issued_at: timestamp().nullish(),
}));

export const coupons = {
  upload: endpoint({
    summary: "Upload unique coupon codes",
    ...route("POST", "/apps/{app_key}/coupons/unique"),
    effect: "once",
    roles: ["importer"],
    input: () => ({
      coupon_action: coupon_action(),
      codes: z.array(shape.text.nullable(), { error: "must be a list of strings" }),
      ...outcomesInput(),
    }),
    output: () => ({
      total_codes: z.number().int(),
      errors: z.object({ empty_cell: category(), code_length: category(), duplicate_code: category() }),
      "new-codes": z.number().int(),
      ...outcomesOutput(),
    }),
    batch: { field: "codes", recommended: 1_000, max: 1_000 },
  }),
  list: endpoint({
    summary: "List unique coupon codes",
    listing: { items: "coupons" },
    ...route("GET", "/apps/{app_key}/coupons/unique"),
    effect: "read",
    input: () => ({ ...detailsQuery() }),
    output: () => ({
      /** The fields after `code` are present only with `details`. `issued_to` is null for issued codes of erased customers. */
      coupons: z.array(listedCoupon()),
    }),
  }),
  search: endpoint({
    summary: "List the unique coupon codes that contain a text, newest first",
    listing: { items: "coupons", ...searchListing },
    ...route("GET", `${extensionPrefix}/apps/{app_key}/coupons`),
    effect: "read",
    input: () => ({ search: partOfText(), ...searchPages() }),
    output: () => ({
      coupons: z.array(listedCoupon()),
      pagination: nextPage(),
    }),
  }),
  stats: endpoint({
    summary: "Count unique coupon codes by action",
    ...route("GET", "/apps/{app_key}/coupons/unique/stats"),
    effect: "read",
    input: () => ({ ...detailsQuery() }),
    /** `left`, the codes that have not been issued, is present only with `details`. */
    output: () => ({
      stats: z.record(z.string(), z.number().int()),
      left: z.record(z.string(), z.number().int()).optional(),
    }),
  }),
  issue: endpoint({
    summary: "Issue a unique coupon code to a customer",
    ...route("POST", `${extensionPrefix}/apps/{app_key}/coupons/issue`),
    effect: "once",
    roles: ["support"],
    input: () => ({ coupon_action: coupon_action(), email: shape.email }),
    output: () => ({ coupon: issuedCoupon() }),
  }),
  delete: endpoint({
    summary: "Delete all unique coupon codes for an action",
    destroys: { question: "Delete all unique coupon codes for {coupon_action}", typed: "coupon_action" },
    ...route("POST", "/apps/{app_key}/coupons/unique/delete"),
    effect: "repeatable",
    roles: ["importer"],
    input: () => ({ coupon_action: coupon_action() }),
  }),
};
