import { type ErrorKind, ServiceError } from "../../../contract/errors.ts";
import { describeFailure } from "../../program/errors/failure.ts";
import { exitStatus } from "../../program/exit-status.ts";
import type { OperationCard } from "./operation-card.ts";

/** The notes at the end of an operation's help: method and path, pagination, columns, errors with their exit statuses. */
export function describeOperation(operation: string, card: OperationCard): readonly string[] {
  const { method, path, errors, listing, isExtension, columns } = card;
  const failures = errors.map((kind) => `${kind} (${describeStatus(kind)})`);
  return [
    `Operation ${operation}: ${method} ${path}${isExtension ? " (extension of this service)" : ""}.`,
    ...(listing?.by ? ["Reads all pages. To stop early, use --limit."] : []),
    ...(listing?.isNewestFirst
      ? [
          `With --limit up to ${listing.size?.max ?? 0}, lists the newest first; otherwise, lists all from the oldest.`,
        ]
      : []),
    ...(columns.length > 0 ? [`Columns: ${columns.join(", ")}.`] : []),
    `Errors and their exit statuses: ${failures.join(", ")}.`,
  ];
}

/** A missing record and a missing account have different exit statuses. */
function describeStatus(kind: ErrorKind): string {
  const { status } = describeFailure(new ServiceError(kind, ""));
  return kind === "recordNotFound" ? `${exitStatus.failed}, for the account ${status}` : String(status);
}
