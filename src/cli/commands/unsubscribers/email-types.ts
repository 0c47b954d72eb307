import { UserError } from "../../../config/user-error.ts";
import { emailTypes, isEmailTypeId } from "../../../contract/unsubscribers.ts";

/**
 * The email types that a command is about, by their ids.
 * Assumed: who asks for no more mails, and says no more, means mails of every type.
 * @throws UserError `usage`
 */
export function readEmailTypes(given: readonly string[] | undefined): readonly string[] {
  if (given === undefined) return Object.keys(emailTypes);
  const unknown = given.find((id) => !isEmailTypeId(id));
  if (unknown === undefined) return [...new Set(given)];
  throw new UserError(
    "usage",
    `--type: ${JSON.stringify(unknown)} is no email type`,
    `There are: ${Object.entries(emailTypes)
      .map(([id, what]) => `${id} (${what})`)
      .join(", ")}.`,
  );
}

/** What is mailed under an email type. */
export function describeEmailType(id: number): string {
  return (emailTypes as Readonly<Record<number, string>>)[id] ?? "";
}
