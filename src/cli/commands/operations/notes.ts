import { type ErrorKind, ServiceError } from "../../../contract/errors.ts";
import { exitStatus } from "../../program/exit-status.ts";
import { describeFailure } from "../../program/errors/failure.ts";
import type { OperationCard } from "./operation-card.ts";

/** What the help of a call says at its end: where it is, what can go wrong, and what its status then is. */
export function describeCall(operation: string, card: OperationCard): readonly string[] {
  const { method, path, errors, listing, isExtension } = card;
  const refusals = errors.map((kind) => `${kind} (${describeStatus(kind)})`);
  return [
    `The call ${operation}: ${method} ${path}${isExtension ? ", an extension of this product" : ""}.`,
    `Refusals, and their exit statuses: ${refusals.join(", ")}.`,
    ...(listing?.by ? ["All pages are read, one after another; --limit stops."] : []),
    ...(listing?.isNewestFirst
      ? [`With a --limit up to ${listing.size?.max ?? 0} the newest come, else all from the oldest on.`]
      : []),
    ...(card.columns.length > 0 ? [`Columns: ${card.columns.join(", ")}.`] : []),
  ];
}

/** What is not there may be the account, or a record of it. */
function describeStatus(kind: ErrorKind): string {
  const { status } = describeFailure(new ServiceError(kind, ""));
  return kind === "recordNotFound" ? `${exitStatus.failed}, of the account itself ${status}` : String(status);
}
