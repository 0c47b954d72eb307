import type { OperationName } from "../../contract/index.ts";
import { operationCards } from "../commands/operations/operation-cards.ts";

/**
 * What a field of a call may be, from its card: the contract's own lists are not loaded for a help.
 * @throws Error where the field is not one of a list
 */
export function valuesOfField(operation: OperationName, field: string): readonly string[] {
  const found = operationCards[operation]?.fields.find(({ path }) => path.join(".") === field)?.oneOf;
  if (!found) throw new Error(`${operation} has no list for ${field}`);
  return found;
}
