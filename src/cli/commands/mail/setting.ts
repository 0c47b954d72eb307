import { UserError } from "../../../config/user-error.ts";
import {
  type EmailSettingName,
  emailSettingNames,
  emailSettings,
  type EmailSettingValue,
  parseEmailSetting,
} from "../../../contract/index.ts";

/** The word that takes a setting back; no setting has it for a value. */
const takenBack = "default";

/**
 * Reads what a person wants a setting to be.
 * @throws UserError `usage` where there is no such setting, or it cannot have the value
 */
export function readSettingChange(
  given: string,
  text: string,
): { readonly name: EmailSettingName; readonly value: EmailSettingValue | null } {
  const name = emailSettingNames.find((known) => known === given.trim().toLowerCase().replaceAll("-", "_"));
  if (!name) {
    throw new UserError(
      "usage",
      `${JSON.stringify(given)} is no setting of mails`,
      `It is one of: ${emailSettingNames.join(", ")}.`,
      undefined,
      { given, known: emailSettingNames },
    );
  }
  if (text === takenBack) return { name, value: null };
  const read = parseEmailSetting(name, text);
  if ("value" in read) return { name, value: read.value };
  const { words } = emailSettings[name];
  throw new UserError(
    "usage",
    `${name} ${read.problem}: ${words}`,
    "`default` takes it back to what it was.",
  );
}
