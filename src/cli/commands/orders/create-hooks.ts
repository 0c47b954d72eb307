import { failedError, usageError } from "../../../config/user-error.ts";
import { type FieldError, invalidIdText, isLegalId } from "../../../contract/shapes.ts";
import { dayMs } from "../../../contract/time.ts";
import type { ItemOutcome } from "../../../contract/outcomes.ts";
import type { OperationHooks } from "../operations/run.ts";

/** How `orders create` validates an order, and reports what was stored of it. */
export const createHooks: OperationHooks = {
  /**
   * Requests validation, which the service skips by default, and checks product IDs, which the service never reports.
   * Assumed: an order without a date is of today, as without validation.
   */
  adjustInput: (input, { clock, flags }) => {
    checkHasProducts(input["products"]);
    const isValidating = flags["no-validate"] === true ? false : (input["validate_data"] ?? true);
    if (isValidating !== true) return { ...input, validate_data: isValidating };
    checkProductIds(input["products"]);
    checkDate(input["order_date"], clock());
    const today = new Date(clock()).toISOString().slice(0, "YYYY-MM-DD".length);
    return { ...input, validate_data: true, order_date: input["order_date"] ?? today };
  },

  /** @throws UserError `failed` if nothing was stored */
  readResponse: ({ messages }, input, response) => {
    const order_id = String(input["order_id"]);
    const [outcome] = (response["outcomes"] ?? []) as readonly ItemOutcome[];
    const errors = (response["errors"] ?? []) as readonly FieldError[];
    const dropped = outcome?.dropped ?? [];
    if (errors.length > 0 || outcome?.outcome === "dropped") {
      const problems = formatProblems(errors.length > 0 ? errors : dropped);
      throw failedError(`order ${order_id} was not stored: ${problems}`);
    }
    if (dropped.length > 0) messages.warn(`Not stored: ${formatProblems(dropped)}.`);
    messages.info(describeOutcome(order_id, outcome));
    return { order_id, outcome: null, ...outcome };
  },
};

/** @throws UserError `usage` */
function checkHasProducts(products: unknown): void {
  if (typeof products !== "object" || products === null || Object.keys(products).length > 0) return;
  throw usageError("the order contains no products", "Specify at least one product in --products.");
}

/** @throws UserError `usage` */
function checkProductIds(products: unknown): void {
  if (typeof products !== "object" || products === null) return;
  const invalid = Object.keys(products).filter((id) => !isLegalId(id));
  if (invalid.length === 0) return;
  const names = invalid.map((id) => JSON.stringify(id)).join(", ");
  throw usageError(
    `invalid product ${invalid.length === 1 ? "ID" : "IDs"} in products: ${names}`,
    `A product ID ${invalidIdText}. To create the order without these products, add --no-validate.`,
  );
}

/**
 * Assumed: a date more than a day in the future is a mistake, as in an import.
 * @throws UserError `usage`
 */
function checkDate(date: unknown, nowMs: number): void {
  if (typeof date !== "string" || !(Date.parse(date) > nowMs + dayMs)) return;
  throw usageError(
    `invalid order_date ${JSON.stringify(date)}: more than a day in the future`,
    "Correct the date. To create the order anyway, add --no-validate.",
  );
}

function formatProblems(problems: readonly FieldError[]): string {
  return problems.map(({ field, error }) => `${field} ${error}`).join("; ");
}

/** Other services do not report outcomes. */
function describeOutcome(orderId: string, outcome: ItemOutcome | undefined): string {
  if (outcome === undefined) return "Done.";
  if (outcome.outcome === "changed") return `Updated order ${orderId}: ${outcome.fields?.join(", ")}.`;
  return outcome.outcome === "created" ? `Created order ${orderId}.` : `Order ${orderId} is unchanged.`;
}
