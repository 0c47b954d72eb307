import type { OperationName } from "../../contract/index.ts";
import { operationCards } from "../commands/operations/operation-cards.ts";

/**
 * The accepted values of a field, from the operation card, because the contract is too expensive to load for help.
 * @throws Error if the field does not have a fixed list of values
 */
export function valuesOfField(operation: OperationName, field: string): readonly string[] {
  const found = operationCards[operation]?.fields.find(({ path }) => path.join(".") === field)?.oneOf;
  if (!found) throw new Error(`${operation} has no list for ${field}`);
  return found;
}
