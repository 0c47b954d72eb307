import { usageError } from "../../../config/user-error.ts";
import type { InputFiles } from "../operations/input-file.ts";

type Value = unknown;
export type FieldTree = { [name: string]: Value };

export interface GivenFields {
  readonly fields: readonly string[];
  readonly rawFields: readonly string[];
  /** Whether the field at a path such as `user.password` holds a secret. */
  readonly isSecret: (path: string) => boolean;
}

/**
 * Reads `--field` and `--raw-field` into one tree.
 * @throws UserError `usage`
 */
export async function readFields({ fields, rawFields, isSecret }: GivenFields, files: InputFiles): Promise<FieldTree> {
  const tree: FieldTree = {};
  for (const text of rawFields) {
    const { steps, value } = splitField(text, "--raw-field");
    rejectSecret(steps, isSecret, value, "--raw-field");
    put(tree, steps, value ?? missing(text, "--raw-field"));
  }
  for (const text of fields) {
    const { steps, value } = splitField(text, "--field");
    if (value?.startsWith("@")) {
      const content = (await files.read(value.slice(1), "--field")).toString("utf8");
      // Files written with an editor end with a newline.
      put(tree, steps, isSecret(pathOf(steps)) ? content.trim() : content);
    } else {
      rejectSecret(steps, isSecret, value, "--field");
      if (value === undefined && steps.at(-1) !== "") missing(text, "--field");
      put(tree, steps, readValue(value));
    }
  }
  return tree;
}

function missing(text: string, flag: string): never {
  throw usageError(`invalid value ${JSON.stringify(text)} for ${flag}: must have the form name=value`);
}

/** Splits `a[b][]=value` into the steps `a`, `b`, and an empty step for an array element. */
function splitField(
  text: string,
  flag: string,
): { readonly steps: readonly string[]; readonly value: string | undefined } {
  const at = text.indexOf("=");
  const name = at === -1 ? text : text.slice(0, at);
  const whole = /^([^[\]]+)((?:\[[^[\]]*\])*)$/.exec(name);
  if (!whole) return missing(name, flag);
  const inner = [...(whole[2] ?? "").matchAll(/\[([^[\]]*)\]/g)].map(([, step = ""]) => step);
  const steps = [whole[1] ?? "", ...inner];
  if (steps.includes("__proto__")) return missing(name, flag);
  return { steps, value: at === -1 ? undefined : text.slice(at + 1) };
}

function pathOf(steps: readonly string[]): string {
  return steps.filter((step) => step !== "").join(".");
}

/** Other users can see command lines, and the shell history keeps them. */
function rejectSecret(
  steps: readonly string[],
  isSecret: GivenFields["isSecret"],
  value: string | undefined,
  flag: string,
): void {
  const path = pathOf(steps);
  if (value === undefined || !isSecret(path)) return;
  throw usageError(
    `${flag} must not contain the secret ${path}, because other users can see command lines`,
    path === "utoken"
      ? "Omit it: the profile's utoken is added automatically."
      : `Pass it from a file, --field ${steps.join("[")}${"]".repeat(steps.length - 1)}=@file, or from standard input, =@-.`,
  );
}

/** Reads a number only if it is exact; an ID of twenty digits stays text. */
function readValue(text: string | undefined): Value {
  if (text === undefined) return undefined;
  if (text === "true" || text === "false" || text === "null") return JSON.parse(text) as Value;
  if (!/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text)) return text;
  const number = Number(text);
  const isExact = Number.isFinite(number) && (!/^-?\d+$/.test(text) || Number.isSafeInteger(number));
  return isExact ? number : text;
}

/** Stores a value at its path. An undefined value creates an empty list. */
function put(tree: FieldTree, steps: readonly string[], value: Value): void {
  const [first = "", ...rest] = steps;
  tree[first] = place(tree[first], rest, value);
}

function place(before: Value, [step, ...rest]: readonly string[], value: Value): Value {
  if (step === undefined) return value;
  if (step === "") {
    const list = Array.isArray(before) ? (before as Value[]) : [];
    if (rest.length === 0) return value === undefined ? list : [...list, value];
    const last = list.at(-1);
    // A field that the last element already has starts a new element.
    const goesOn = isTree(last) && !(rest[0] !== undefined && rest[0] !== "" && rest.length === 1 && rest[0] in last);
    return goesOn ? [...list.slice(0, -1), place(last, rest, value)] : [...list, place(undefined, rest, value)];
  }
  const inside: FieldTree = isTree(before) ? before : {};
  return { ...inside, [step]: place(inside[step], rest, value) };
}

function isTree(value: Value): value is FieldTree {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Converts fields to query parameters: lists repeat `name[]`, nested objects become JSON. */
export function toQuery(tree: FieldTree): readonly (readonly [string, string])[] {
  return Object.entries(tree).flatMap(([name, held]): (readonly [string, string])[] => {
    const values: readonly Value[] = Array.isArray(held) ? held : [held];
    const written = Array.isArray(held) ? `${name}[]` : name;
    return values
      .filter((value) => value !== null && value !== undefined)
      .map((value) => [written, typeof value === "string" ? value : JSON.stringify(value)]);
  });
}
