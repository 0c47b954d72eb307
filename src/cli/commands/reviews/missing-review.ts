import { failedError } from "../../../config/user-error.ts";
import { ServiceError } from "../../../contract/errors.ts";
import type { Context } from "../../program/context.ts";
import { listHints } from "../../program/errors/failure.ts";

/** Explains why a review cannot be shown. A hidden review is not found by the call, but listed for the store. */
export async function explainMissing(context: Context, text: string, error: unknown): Promise<unknown> {
  if (!(error instanceof ServiceError) || error.record !== "Review") return error;
  const id = Number(text);
  const query = { since_id: id, count: 1, deleted: true };
  try {
    const { reviews } = await context.withService((service) => service.reviews.list(query));
    if (reviews[0]?.id !== id) {
      return failedError(`review ${id} not found`, listHints.Review, error);
    }
  } catch {
    return error;
  }
  return failedError(
    `review ${id} is hidden`,
    `To show it, run \`starpost reviews list --deleted --since-id ${id - 1} --limit 1\`. To publish it, run \`starpost reviews publish ${id}\`.`,
    error,
  );
}
