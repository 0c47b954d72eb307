import { usageError } from "../../../../config/user-error.ts";
import { parseUserJson } from "../../operations/input-file.ts";
import { type Decision, verbs } from "./decisions.ts";

/**
 * Parses decisions: one JSON object per line, or a JSON array.
 * @throws UserError `usage` naming the line
 */
export function parseDecisions(text: string): readonly Decision[] {
  const trimmed = text.replace(/^\uFEFF/, "").trim();
  if (trimmed === "") return [];
  if (trimmed.startsWith("[")) {
    const parsed = parseOne(trimmed, "the file") as readonly unknown[];
    return parsed.map((one, at) => checkDecision(one, `decision ${at + 1}`));
  }
  return trimmed.split(/\r?\n/).flatMap((line, at) => {
    const place = `line ${at + 1}`;
    return line.trim() === "" ? [] : [checkDecision(parseOne(line, place), place)];
  });
}

function parseOne(text: string, place: string): unknown {
  try {
    return parseUserJson(text);
  } catch (error) {
    throw usageError(`--decisions: ${place} is not valid JSON`, (error as Error).message);
  }
}

const optionalFields = ["reason", "comment", "by"] as const;

function checkDecision(value: unknown, place: string): Decision {
  const record = (typeof value === "object" && value !== null ? value : {}) as Readonly<Record<string, unknown>>;
  const { id, decision } = record;
  if (typeof id !== "number" || !Number.isInteger(id) || id < 1) {
    throw usageError(`--decisions: ${place} has no valid "id"`, 'Example: {"id": 12, "decision": "publish"}.');
  }
  const verb = verbs.find((known) => known === (decision === "reject" ? "hide" : decision));
  if (verb === undefined) {
    const given = decision === undefined ? "no" : "an unknown";
    throw usageError(`--decisions: ${place} has ${given} "decision"`, `Use one of: ${verbs.join(", ")}.`);
  }
  const texts = optionalFields.flatMap((name) => {
    const text = record[name];
    if (text === undefined || text === null) return [];
    if (typeof text !== "string") throw usageError(`--decisions: "${name}" of ${place} is not a text`);
    return [[name, text] as const];
  });
  return { id, decision: verb, ...Object.fromEntries(texts) };
}
