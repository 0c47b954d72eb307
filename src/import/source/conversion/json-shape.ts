import { Tokenizer, TokenParser } from "@streamparser/json";
import type { JsonShape } from "./json-records.ts";

/** Property names of an object that is a record itself, and not an envelope around a list of them. */
const idName = /^id$|_id$|Id$/;

/**
 * Recognizes how a JSON text contains its records.
 * Assumed: a single object is an envelope, such as `{"orders": […], "page": 1}`, if it has an array of objects and no ID.
 * @param start the beginning of the text, or all of it
 */
export function recognizeShape(start: Buffer): JsonShape {
  if (/^\s*\[/.test(start.toString("latin1"))) return "array";
  const { first, hasMore } = readFirstValue(start);
  if (first === undefined) return "wrapper";
  return hasMore || !isEnvelope(first) ? "sequence" : "wrapper";
}

/** The first value, if it is complete, and whether another follows. */
function readFirstValue(start: Buffer): { readonly first: unknown; readonly hasMore: boolean } {
  let first: unknown;
  let hasMore = false;
  const tokenizer = new Tokenizer();
  const parser = new TokenParser({ paths: ["$"], separator: "" });
  parser.onValue = ({ value }) => {
    first ??= value;
  };
  tokenizer.onToken = (token) => {
    hasMore ||= first !== undefined;
    if (first === undefined) parser.write(token);
  };
  try {
    tokenizer.write(start);
  } catch {
    // Reading the records reports where the text is invalid; here, what precedes counts.
  }
  return { first, hasMore };
}

function isEnvelope(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const names = Object.keys(value);
  if (names.some((name) => idName.test(name))) return false;
  const members: readonly unknown[] = Object.values(value);
  if (members.length > 0 && members.every((member) => Array.isArray(member))) return true;
  return members.some(
    (member) => Array.isArray(member) && member.some((one) => typeof one === "object" && one !== null),
  );
}
