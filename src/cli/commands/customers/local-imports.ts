import type { PersonRun } from "../../../import/people/person-rows.ts";
import type { Context } from "../../program/context.ts";

/** Finds the imports of this machine into the profile's account whose files contain an address. */
export async function findLocalImports(context: Context, email: string): Promise<readonly PersonRun[]> {
  const { findPersonRuns } = await import("../../../import/people/person-rows.ts");
  const { identifyAccount } = await import("../records/import-format.ts");
  const { paths } = await context.host();
  return findPersonRuns(email, { runsFolder: paths.runsFolder, target: identifyAccount(await context.profile()) });
}
