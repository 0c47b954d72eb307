import { usageError } from "../../../config/user-error.ts";
import { bottomLinesDelay } from "../../../contract/reviews/bottom-lines-delay.ts";
import type { OperationHooks } from "../operations/run.ts";

const maxDelay = bottomLinesDelay.maxMs / 1_000;

/** How `account set` validates the settings. */
export const setHooks: OperationHooks = {
  /** @throws UserError `usage` */
  adjustInput: (input) => {
    const { name, bottom_lines_delay: delay, published_reviews: published } = input;
    if (name === undefined && delay === undefined && published === undefined) {
      throw usageError("no setting given", "Set --name, --bottom-lines-delay, or --published-reviews.");
    }
    if (typeof delay === "number" && (delay < 0 || delay > maxDelay)) {
      throw usageError(`invalid value ${delay} for --bottom-lines-delay: must be from 0 to ${maxDelay} seconds`);
    }
    return input;
  },
};
