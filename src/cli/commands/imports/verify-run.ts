import {
  mostMissingListed,
  type VerifiedRun,
  verifyImport,
  type VerifyRequest,
} from "../../../import/verify/verify.ts";
import type { Context } from "../../program/context.ts";
import { withRunDeps } from "../records/import-run.ts";
import { describeVerification } from "../records/import-format.ts";

/** Rows on a person's screen. */
const mostShown = 20;

/** Reads back what a run said, and tells how that came out. */
export function verifyRun(
  context: Context,
  id: string,
  request: Omit<VerifyRequest, "mostListed">,
): Promise<VerifiedRun> {
  const mostListed = context.globals.format === "table" ? mostShown : mostMissingListed;
  return withRunDeps(context, async (deps, screen) => {
    const found = await verifyImport(id, { ...request, mostListed }, deps);
    screen.close();
    const words = describeVerification(found).join("\n");
    if (found.missing_count > 0 || found.state === "interrupted") context.messages.warn(words);
    else context.messages.info(words);
    return found;
  });
}
