import { failedError, type UserError } from "../../../config/user-error.ts";
import type { PersonRun } from "../../../import/people/person-rows.ts";
import type { Context } from "../../program/context.ts";

/** Finds the imports of this machine into the profile's account whose files contain an address. Warns about moved files. */
export async function findLocalImports(context: Context, email: string): Promise<readonly PersonRun[]> {
  const { findPersonRuns } = await import("../../../import/people/person-rows.ts");
  const { identifyAccount } = await import("../records/import-format.ts");
  const { paths } = await context.host();
  const account = { runsFolder: paths.runsFolder, target: identifyAccount(await context.profile()) };
  const moved = new Set<string>();
  const runs = await findPersonRuns(email, account, (file) => moved.add(file));
  for (const file of moved) {
    context.messages.warn(`${file} was moved or deleted after its import. If it still exists, search it for ${email}.`);
  }
  return runs;
}

export function customerNotFound(email: string): UserError {
  return failedError(`customer ${email} not found`, "Neither the account nor an import contains the address.");
}
