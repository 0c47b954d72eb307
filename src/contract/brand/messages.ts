import * as z from "zod";
import { endpoint, extensionPrefix, route } from "../endpoint.ts";
import { lazily } from "../lazily.ts";
import { required } from "../shapes.ts";
import { languages } from "./brand.ts";

/** Maximum length of a message, in characters. Assumed: far more than the longest built-in one. */
const maxMessage = 1_000;

const language = lazily(() => z.enum(languages, { error: `must be one of ${languages.join(", ")}` }));

/** A key of the catalogs, such as `email.map.subject`. */
const key = lazily(() => z.string({ error: "must be the key of a message" }).max(100));

const output = () => ({
  messages: z.array(
    z.object({
      language: z.enum(languages),
      key: z.string(),
      /** What emails and pages show, in ICU MessageFormat. */
      text: z.string(),
      /** The text without a change of the account. */
      built_in: z.string(),
      is_own: z.boolean(),
    }),
  ),
});

const path = `${extensionPrefix}/apps/{app_key}/messages`;

export const messages = {
  list: endpoint({
    summary: "List the texts of emails and pages in a language",
    ...route("GET", path),
    effect: "read",
    input: () => ({
      /** Default: the account's. */
      language: language().optional(),
    }),
    output,
  }),
  set: endpoint({
    summary: "Replace a text of emails and pages",
    ...route("PUT", path),
    effect: "repeatable",
    roles: [],
    overwrites: { question: "Replace a text of emails and pages" },
    input: () => ({ language: language(), key: key(), text: required(maxMessage) }),
    output,
  }),
  reset: endpoint({
    summary: "Restore built-in texts of emails and pages",
    ...route("DELETE", path),
    effect: "repeatable",
    roles: [],
    destroys: { question: "Restore built-in texts of emails and pages" },
    input: () => ({
      /** Default: all. */
      language: language().optional(),
      /** Default: all. */
      key: key().optional(),
    }),
    output,
  }),
};
