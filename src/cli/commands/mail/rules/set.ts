import { usageError } from "../../../../config/user-error.ts";
import type { EmailSettingName, EmailSettingValue } from "../../../../contract/index.ts";
import { readOneOf } from "../../../program/flag-values.ts";
import { command } from "../../../program/command.ts";
import { viewOfSetting } from "./view.ts";

/** Restores the default of a setting; not a valid value of any setting. */
const defaultKeyword = "default";

export default command({
  summary: "Change an email setting",
  calls: "write",
  argument: "<name> <value>",
  examples: [
    "starpost mail rules set due_after_days 7",
    "starpost mail rules set bounced_before off",
    "starpost mail rules set due_after_days default",
  ],
  notes: ["`starpost mail rules list` lists the settings. The value `default` restores the default."],
  run: async (context, { arguments: [name = "", value = ""] }) => {
    const change = await readSettingChange(name, value);
    return context.withService((service) => service.emailRules.set(change));
  },
  render: viewOfSetting,
});

/**
 * Reads the name and value of a setting; the value null restores the default.
 * @throws UserError `usage` if the setting does not exist or the value is invalid
 */
export async function readSettingChange(
  text: string,
  value: string,
): Promise<{ readonly name: EmailSettingName; readonly value: EmailSettingValue | null }> {
  const { emailSettingNames, emailSettings, parseEmailSetting } = await import("../../../../contract/index.ts");
  const typed = text.trim().toLowerCase().replaceAll("-", "_");
  const name = readOneOf(typed, emailSettingNames, "<name>");
  if (value === defaultKeyword) return { name, value: null };
  const read = parseEmailSetting(name, value);
  if ("value" in read) return { name, value: read.value };
  throw usageError(
    `invalid value ${JSON.stringify(value)} for ${name}: ${read.problem}`,
    `\`${name}\`: ${emailSettings[name].description}. To restore the default, use \`default\`.`,
  );
}
