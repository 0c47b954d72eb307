import { type UserError, usageError } from "../../../config/user-error.ts";
import type { OperationName } from "../../../contract/index.ts";
import type { Command } from "../../program/command.ts";
import type { CommandTable } from "../../program/command.ts";
import { operationCards } from "../operations/operation-cards.ts";
import { operationCommand } from "../operations/operation-command.ts";
import { isMethod, methods } from "./target.ts";

export const operationNames: readonly string[] = Object.keys(operationCards);

export const apiCommands: CommandTable = Object.fromEntries(
  operationNames.map((operation) => [`api ${operation}`, async () => apiCommandOf(operation as OperationName)]),
);

/** The command that calls an operation by name: `starpost api reviews.widget`. */
export function apiCommandOf(operation: OperationName): Command {
  return operationCommand(operation, { isCalledByName: true })(`api ${operation}`);
}

/**
 * Finds the operation that a command line names, which must come before any HTTP method.
 * @throws UserError `usage` if a word after `api` has the form of an operation name but is not one
 */
export function findNamedOperation(argv: readonly string[]): OperationName | undefined {
  const words = argv.slice(argv.indexOf("api") + 1);
  const target = words.find(
    (word, at) =>
      isMethod(word) ||
      isOperation(word) ||
      // A word after a flag may be the flag's value.
      (/^[a-z]+\.[a-z]+$/i.test(word) && !words[at - 1]?.startsWith("-")),
  );
  if (target === undefined || isMethod(target)) return undefined;
  if (isOperation(target)) return target;
  throw unknownTarget(target);
}

/** @throws UserError `usage` if the first argument of `api` is missing or not an HTTP method */
export function requireMethod(target: string | undefined): string {
  if (target !== undefined && isMethod(target)) return target.toUpperCase();
  if (target !== undefined) throw unknownTarget(target);
  throw usageError("missing operation or HTTP method", "To list the operations, run `starpost api --list`.");
}

/** All operations, with their method, path, and summary. */
export function listOperations() {
  return Object.entries(operationCards).map(([operation, { method, path, summary }]) => ({
    operation,
    method,
    path,
    summary,
  }));
}

function isOperation(word: string): word is OperationName {
  return Object.hasOwn(operationCards, word);
}

function unknownTarget(target: string): UserError {
  const isName = target.includes(".");
  return usageError(
    `unknown ${isName ? "operation" : "operation or HTTP method"} ${JSON.stringify(target)}`,
    "To list the operations, run `starpost api --list`.",
    undefined,
    { given: isName ? target : target.toUpperCase(), known: isName ? operationNames : methods },
  );
}
