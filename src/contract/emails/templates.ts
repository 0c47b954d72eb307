import * as z from "zod";
import { endpoint, extensionPrefix, route } from "../endpoint.ts";
import { sentEmailCategories } from "./categories.ts";
import { timestamp } from "../shapes.ts";
import { lazily } from "../lazily.ts";
import { lazyObject } from "../lazy-object.ts";

/** Maximum length of each template part, in characters. Assumed: email clients clip HTML at about this length. */
export const maxTemplateLength = { subject: 1_000, text: 100_000, html: 100_000 } as const;

/**
 * Limits for rendering an account's template.
 * Assumed: far more than an email needs. An email for which the template fails has the built-in one.
 */
export const templateLimits = {
  /** All parts of an email, or all steps of a check, in milliseconds. */
  renderMs: 2_000,
  /** Memory of the thread, in MB. */
  memoryMb: 96,
  /** Templates of an account that may wait to be rendered. */
  waitingPerAccount: 10,
  /** Consecutive failures after which the template is disabled, until it is saved again. */
  failures: 3,
} as const;

const category = lazily(() =>
  z.enum(sentEmailCategories, { error: `must be one of ${sentEmailCategories.join(", ")}` }),
);

const part = (max: number) =>
  z
    .string({ error: (issue) => (issue.input === undefined ? "is missing" : "must be a string") })
    .max(max)
    .refine((value) => value.isWellFormed() && !/[^\P{Cc}\t\r\n]/u.test(value), {
      error: "must not contain control characters or unpaired surrogates",
    });

const parts = lazily(() => ({
  subject: part(maxTemplateLength.subject),
  text: part(maxTemplateLength.text),
  html: part(maxTemplateLength.html),
}));

const templateInfo = lazyObject(() => ({
  category: z.enum(sentEmailCategories),
  /** Whether the account has replaced the built-in template. */
  is_own: z.boolean(),
  subject: z.string(),
  updated_at: timestamp().nullable(),
  /** Only if the account's template was disabled, because it failed for several emails. Saving it enables it. */
  disabled_at: timestamp().optional(),
  /** Why the account's template failed for the last email; only if it did. */
  problem: z.string().optional(),
}));

const emailTemplate = lazily(() => templateInfo().extend({ text: z.string(), html: z.string() }));

const path = `${extensionPrefix}/apps/{app_key}/mail_templates`;
export const emailTemplates = {
  list: endpoint({
    summary: "List the email templates, one per category of emails that are sent",
    listing: { items: "templates" },
    ...route("GET", path),
    effect: "read",
    output: () => ({ templates: z.array(templateInfo()) }),
  }),
  get: endpoint({
    summary: "Get the template of an email category",
    ...route("GET", `${path}/{category}`),
    effect: "read",
    input: () => ({
      category: category(),
      /** Return the built-in template even if the account has its own. */
      built_in: z.union([z.boolean(), z.enum(["true", "false"]).transform((value) => value === "true")]).optional(),
    }),
    output: () => ({ template: emailTemplate() }),
  }),
  set: endpoint({
    summary: "Replace the template of an email category",
    overwrites: { question: "Replace the template of {category}" },
    ...route("PUT", `${path}/{category}`),
    effect: "repeatable",
    input: () => ({ category: category(), ...parts() }),
    output: () => ({ template: emailTemplate() }),
  }),
  reset: endpoint({
    summary: "Restore the built-in template of an email category",
    destroys: { question: "Delete the account's template for {category}" },
    ...route("DELETE", `${path}/{category}`),
    effect: "repeatable",
    input: () => ({ category: category() }),
    output: () => ({ template: emailTemplate() }),
  }),
  preview: endpoint({
    summary: "Render an email from sample data, using the stored template or the given parts",
    ...route("POST", `${path}/{category}/preview`),
    effect: "read",
    input: () => ({
      category: category(),
      subject: parts().subject.optional(),
      text: parts().text.optional(),
      html: parts().html.optional(),
    }),
    output: () => ({ mail: z.object({ subject: z.string(), text: z.string(), html: z.string() }) }),
  }),
};
