import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { buffer } from "node:stream/consumers";
import { toFileError, UserError } from "../../../config/user-error.ts";
import type { Io } from "../../program/io.ts";

type Value = unknown;
export type FieldTree = { [name: string]: Value };

export interface GivenFields {
  readonly fields: readonly string[];
  readonly rawFields: readonly string[];
  /** Whether a field holds a secret, by the way to it: `user.password`. */
  readonly isSecret: (path: string) => boolean;
}

/** Standard input can be read once, whoever asks for it. */
export class GivenFiles {
  readonly #io: Pick<Io, "stdin" | "cwd">;
  #isStdinTaken = false;

  constructor(io: Pick<Io, "stdin" | "cwd">) {
    this.#io = io;
  }

  /** @throws UserError `usage` where there is no such file */
  async read(name: string, flag: string): Promise<Buffer> {
    if (name !== "-") {
      return readFile(resolve(this.#io.cwd, name)).catch((error: unknown) => {
        const found = toFileError(error, name);
        throw found instanceof UserError ? new UserError("usage", `${flag}: ${found.message}`) : found;
      });
    }
    if (this.#isStdinTaken) throw new UserError("usage", "standard input can be given to one flag alone");
    this.#isStdinTaken = true;
    return buffer(this.#io.stdin);
  }
}

/**
 * Reads `--field` and `--raw-field` into one tree.
 * @throws UserError `usage`
 */
export async function readFields(
  { fields, rawFields, isSecret }: GivenFields,
  files: GivenFiles,
): Promise<FieldTree> {
  const tree: FieldTree = {};
  for (const text of rawFields) {
    const { steps, value } = splitField(text, "--raw-field");
    refuseSecret(steps, isSecret, value, "--raw-field");
    put(tree, steps, value ?? missing(text, "--raw-field"));
  }
  for (const text of fields) {
    const { steps, value } = splitField(text, "--field");
    const isFile = value?.startsWith("@") === true;
    if (!isFile) refuseSecret(steps, isSecret, value, "--field");
    if (value === undefined && steps.at(-1) !== "") missing(text, "--field");
    put(tree, steps, isFile ? await readText(value.slice(1), steps, { files, isSecret }) : readValue(value));
  }
  return tree;
}

async function readText(
  name: string,
  steps: readonly string[],
  { files, isSecret }: { readonly files: GivenFiles; readonly isSecret: GivenFields["isSecret"] },
): Promise<string> {
  const text = (await files.read(name, "--field")).toString("utf8");
  // A secret that was written with an editor ends in a line.
  return isSecret(pathOf(steps)) ? text.trim() : text;
}

function missing(text: string, flag: string): never {
  throw new UserError("usage", `${flag}: ${JSON.stringify(text)} is not of the form name=value`);
}

/** A name and what it is in: `a[b][]` is `a`, `b` and, for an element of a list, nothing. */
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

/** What is on a command line is seen by others of the machine, and stays in the shell's history. */
function refuseSecret(
  steps: readonly string[],
  isSecret: GivenFields["isSecret"],
  value: string | undefined,
  flag: string,
): void {
  const path = pathOf(steps);
  if (value === undefined || !isSecret(path)) return;
  throw new UserError(
    "usage",
    `${flag}: ${path} holds a secret, which has no place on a command line`,
    path === "utoken"
      ? "Leave it out: the profile's own is put in."
      : `Give it from a file, --field ${steps.join("[")}${"]".repeat(steps.length - 1)}=@file, or from standard input, =@-.`,
  );
}

/** A number is one only where as a number it is the same: an id of twenty digits is text. */
function readValue(text: string | undefined): Value {
  if (text === undefined) return undefined;
  if (text === "true" || text === "false" || text === "null") return JSON.parse(text) as Value;
  if (!/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text)) return text;
  const number = Number(text);
  const isExact = Number.isFinite(number) && (!/^-?\d+$/.test(text) || Number.isSafeInteger(number));
  return isExact ? number : text;
}

/** Puts a value where its steps lead; nothing for a value makes an empty list. */
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
    // A field that the last element has begins the next.
    const goesOn =
      isTree(last) && !(rest[0] !== undefined && rest[0] !== "" && rest.length === 1 && rest[0] in last);
    return goesOn
      ? [...list.slice(0, -1), place(last, rest, value)]
      : [...list, place(undefined, rest, value)];
  }
  const inside: FieldTree = isTree(before) ? before : {};
  return { ...inside, [step]: place(inside[step], rest, value) };
}

function isTree(value: Value): value is FieldTree {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Fields as names and values of a query: lists are repeated as `name[]`, what has fields of its own is JSON. */
export function toQuery(tree: FieldTree): readonly (readonly [string, string])[] {
  return Object.entries(tree).flatMap(([name, held]): (readonly [string, string])[] => {
    const values: readonly Value[] = Array.isArray(held) ? held : [held];
    const written = Array.isArray(held) ? `${name}[]` : name;
    return values
      .filter((value) => value !== null && value !== undefined)
      .map((value) => [written, typeof value === "string" ? value : JSON.stringify(value)]);
  });
}
