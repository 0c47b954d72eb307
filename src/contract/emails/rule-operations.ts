import * as z from "zod";
import { endpoint, extensionPrefix, ownOperation, route } from "../endpoint.ts";
import { emailRuleNames, emailSettingNames } from "./rules.ts";
import { lazily } from "../lazily.ts";
import { lazyObject } from "../lazy-object.ts";

const value = lazily(() => z.union([z.boolean(), z.number(), z.string()]));

/** A setting with its value for the account. */
const emailSetting = lazyObject(() => ({
  name: z.enum(emailSettingNames),
  /** Description. */
  description: z.string(),
  type: z.enum(["switch", "number", "choice"]),
  value: value(),
  default: value(),
  /** Whether the account has set a value. */
  changed: z.boolean(),
  /** Minimum and maximum of a number. */
  min: z.number().nullable(),
  max: z.number().nullable(),
  choices: z.array(z.string()).nullable(),
}));

/** A rule with its state for the account. */
const emailRule = lazyObject(() => ({
  name: z.enum(emailRuleNames),
  /** Description of when the rule applies. */
  description: z.string(),
  on: z.boolean(),
  can_be_off: z.boolean(),
  /** Settings that the rule uses. */
  settings: z.array(z.enum(emailSettingNames)),
}));

const path = `${extensionPrefix}/apps/{app_key}/mail_rules`;
export const emailRules = {
  list: endpoint({
    summary: "List email settings and the rules that decide whether an email is sent",
    ...route("GET", path),
    ...ownOperation,
    effect: "read",
    input: () => ({}),
    output: () => ({ rules: z.array(emailRule()), settings: z.array(emailSetting()) }),
  }),
  set: endpoint({
    summary: "Change an email setting (null restores the default)",
    overwrites: { question: "Change the email setting {name}" },
    ...route("PUT", path),
    ...ownOperation,
    effect: "repeatable",
    input: () => ({
      name: z.enum(emailSettingNames, { error: `must be one of ${emailSettingNames.join(", ")}` }),
      value: value().nullable(),
    }),
    output: () => ({ setting: emailSetting() }),
  }),
};
