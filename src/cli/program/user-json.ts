import { UserError } from "../../config/user-error.ts";

/**
 * Parses JSON from a person. Rejects fields named `__proto__`, which an object would silently drop.
 * @throws SyntaxError; UserError `usage` for such a field
 */
export function parseUserJson(text: string): unknown {
  return JSON.parse(text, (name, value: unknown) => {
    if (name !== "__proto__") return value;
    throw new UserError("usage", "invalid JSON: the field name __proto__ is not allowed");
  });
}
