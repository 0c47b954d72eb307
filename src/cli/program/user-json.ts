import { UserError } from "../../config/user-error.ts";

/**
 * Reads the JSON that a person gives. A server refuses a field called `__proto__`, and an object here would lose it
 * without a word.
 * @throws SyntaxError; UserError `usage` where a field is called so
 */
export function parseUserJson(text: string): unknown {
  return JSON.parse(text, (name, value: unknown) => {
    if (name !== "__proto__") return value;
    throw new UserError("usage", "the JSON has a field that no object may have: __proto__");
  });
}
