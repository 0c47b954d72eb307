import { usageError } from "../../../config/user-error.ts";
import { bottomLinesDelay } from "../../../contract/reviews/bottom-lines-delay.ts";
import type { OperationHooks } from "../operations/run.ts";

const maxDelay = bottomLinesDelay.maxMs / 1_000;

/** How `account set` validates the settings. */
export const setHooks: OperationHooks = {
  /** @throws UserError `usage` */
  adjustInput: (input) => {
    const { bottom_lines_delay: delay } = input;
    if (Object.values(input).every((value) => value === undefined)) {
      throw usageError(
        "no setting given",
        "Set --name, --bottom-lines-delay, --published-reviews, --retain-emails, or --retain-webhooks.",
      );
    }
    if (typeof delay === "number" && (delay < 0 || delay > maxDelay)) {
      throw usageError(`invalid value ${delay} for --bottom-lines-delay: must be from 0 to ${maxDelay} seconds`);
    }
    return input;
  },
};
