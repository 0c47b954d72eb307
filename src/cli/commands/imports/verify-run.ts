import {
  maxMissingListed,
  type VerifiedRun,
  verifyImport,
  type VerifyRequest,
} from "../../../import/verify/verify.ts";
import type { Context } from "../../program/context.ts";
import { withRunDeps } from "../records/import-run.ts";
import { describeVerification } from "../records/import-format.ts";

/** The maximum number of rows in a table. */
const maxShown = 20;

/** Verifies a run, and prints the result. */
export function verifyRun(
  context: Context,
  id: string,
  request: Omit<VerifyRequest, "maxListed">,
): Promise<VerifiedRun> {
  const maxListed = context.globals.format === "table" ? maxShown : maxMissingListed;
  return withRunDeps(context, async (deps, screen) => {
    const found = await verifyImport(id, { ...request, maxListed }, deps);
    screen.close();
    const message = describeVerification(found).join("\n");
    if (found.missing_count > 0 || found.state === "interrupted") context.messages.warn(message);
    else context.messages.info(message);
    return found;
  });
}
