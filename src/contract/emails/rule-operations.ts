import * as z from "zod";
import { endpoint, extensionPrefix } from "../endpoint.ts";
import { emailRuleNames, emailSettingNames } from "./rules.ts";
import { enveloped } from "../reply.ts";
import { lazily } from "../lazily.ts";

const value = lazily(() => z.union([z.boolean(), z.number(), z.string()]));

/** A setting as an account has it. */
const emailSetting = lazily(() =>
  z.object({
    name: z.enum(emailSettingNames),
    /** What it means, for a person. */
    says: z.string(),
    type: z.enum(["switch", "number", "choice"]),
    value: value(),
    default: value(),
    /** Whether the account has set it otherwise. */
    changed: z.boolean(),
    /** Bounds of a number. */
    min: z.number().nullable(),
    max: z.number().nullable(),
    choices: z.array(z.string()).nullable(),
  }),
);

/** A rule as an account has it. */
const emailRule = lazily(() =>
  z.object({
    name: z.enum(emailRuleNames),
    /** When it keeps a mail back, for a person. */
    says: z.string(),
    on: z.boolean(),
    can_be_off: z.boolean(),
    /** The settings that it goes by. */
    settings: z.array(z.enum(emailSettingNames)),
  }),
);

const path = `${extensionPrefix}/apps/{app_key}/mail_rules`;
const own = { extension: "own", auth: "utoken", reply: enveloped } as const;

export const emailRules = {
  list: endpoint({
    summary: "List the rules that keep mails back, in their order, and the settings of mails",
    method: "GET",
    paths: [path],
    ...own,
    effect: "read",
    input: () => z.object({}),
    output: () => z.object({ rules: z.array(emailRule()), settings: z.array(emailSetting()) }),
  }),
  set: endpoint({
    summary: "Change a setting of mails; null takes it back to what it is by itself",
    method: "PUT",
    paths: [path],
    ...own,
    effect: "repeatable",
    input: () =>
      z.object({
        name: z.enum(emailSettingNames, { error: `must be one of ${emailSettingNames.join(", ")}` }),
        value: value().nullable(),
      }),
    output: () => z.object({ setting: emailSetting() }),
  }),
};
