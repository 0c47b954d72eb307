import * as z from "zod";
import { endpoint, extensionPrefix, route } from "./endpoint.ts";
import { envelopedWhenPresent } from "./reply.ts";
import { outcomesInput, outcomesOutput } from "./outcomes.ts";
import { shape, timestamp } from "./shapes.ts";
import { lazily } from "./lazily.ts";
import { lazyObject } from "./lazy-object.ts";
import { nextPage, partOfText, searchListing, searchPaging, timeRange } from "./lists/filters.ts";

/** Email types by `email_type_id`. Source: spec "Unsubscriber". */
export const emailTypes = {
  1: "mails after purchase and other reminder emails",
  2: "targeted review requests",
  3: "mail after service (helpdesk integration follow-up)",
  4: "comment requests (to store owners after a new review)",
  5: "comment notification (to reviewers after a store owner comments)",
  6: "site reminder (slider-feature site review requests)",
  7: "mail after invoice (site review automation)",
  8: "question confirmation",
  9: "answer request the service owner",
  10: "answer request shoppers",
  11: "answer notification the service owner",
  12: "answer notification shoppers",
  13: "resend reminder (manual resend)",
  14: "anonymous testimonials request (CRM integration)",
  15: "targeted product review request",
  16: "coupon reminder",
  17: "coupon notification",
} as const;

/** Whether `key` is a valid email type ID. */
export function isEmailTypeId(key: string): boolean {
  return /^[1-9]\d?$/.test(key) && Number(key) in emailTypes;
}

/** An email type ID as a number, or as text in a query. */
export const emailTypeId = lazily(() =>
  shape.count.refine((id) => isEmailTypeId(String(id)), {
    error: `must be from 1 to ${Object.keys(emailTypes).length}`,
  }),
);

/** The error messages of a bulk call. Source: spec "Unsubscribers". */
export const unsubscriberErrorTexts = {
  emailType: "email type ID is not valid",
  email: "email is not valid",
} as const;

export const unsubscriber = lazyObject(() => ({
  id: z.number().int(),
  user_email: z.string(),
  email_type_id: z.number().int(),
  /** Misspelled on the wire. */
  unsubscirbed_by_name: z.string(),
}));

/** Maximum number of addresses in one call, of all types. Assumed: the specification states none. */
export const maxUnsubscribersPerCall = 2_500;

const bulk = {
  auth: "utoken",
  effect: "repeatable",
  roles: ["support", "importer"],
  input: () => ({
    email_list: z.record(z.string(), z.array(z.string(), { error: "must be a list of email addresses" }), {
      error: "must be an object that maps email type IDs to lists of email addresses",
    }),
    async: shape.boolean.optional(),
    validate_data: shape.boolean.optional(),
    ...outcomesInput(),
  }),
  output: () => ({
    unsubscribers: z.array(unsubscriber()).optional(),
    errors: z.array(z.object({ value: z.string(), error: z.string() })).optional(),
    ...outcomesOutput(),
  }),
  reply: envelopedWhenPresent("unsubscribers"),
  batch: { field: "email_list", recommended: 150, max: maxUnsubscribersPerCall },
} as const;

/** Number of unsubscribers returned without `count` and `page`. Source: spec "Limits". */
export const unsubscriberPageDefault = 5_000;

/** An unsubscribed address, with the time of the unsubscription. */
const foundUnsubscriber = lazily(() => unsubscriber().extend({ created_at: timestamp() }));

export const unsubscribers = {
  massCreate: endpoint({
    summary: "Unsubscribe addresses from emails of a type",
    ...route("POST", "/apps/{app_key}/unsubscribers/mass_create"),
    ...bulk,
  }),
  massDelete: endpoint({
    summary: "Remove addresses from the list of unsubscribers",
    destroys: { question: "Remove these unsubscriptions, so that emails are sent to these addresses again" },
    ...route("DELETE", "/apps/{app_key}/unsubscribers/mass_delete"),
    ...bulk,
  }),
  list: endpoint({
    summary: "List unsubscribed addresses",
    listing: { items: "unsubscribers", by: "page", size: { field: "count", max: unsubscriberPageDefault } },
    ...route("GET", "/apps/{app_key}/unsubscribers"),
    effect: "read",
    input: () => ({ count: shape.page.optional(), page: shape.page.optional() }),
    output: () => ({ unsubscribers: z.array(unsubscriber()) }),
  }),
  search: endpoint({
    summary: "List the unsubscribed addresses that match filters, newest first",
    listing: { items: "unsubscribers", ...searchListing },
    ...route("GET", `${extensionPrefix}/apps/{app_key}/unsubscribers`),
    effect: "read",
    input: () => ({
      email: shape.email.optional(),
      email_type_id: emailTypeId().optional(),
      /** Part of the address. With it, the list is sorted by ID. */
      search: partOfText().optional(),
      ...timeRange(),
      ...searchPaging(),
    }),
    output: () => ({ unsubscribers: z.array(foundUnsubscriber()), pagination: nextPage() }),
  }),
};
