import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseSync } from "oxc-parser";

/** A node of the syntax tree, as ESTree describes it. */
interface Node {
  readonly type: string;
  readonly [key: string]: unknown;
}

/** A message of the program, as its source declares it; `<name>` stands for a value, `…` for several. */
export interface Message {
  readonly text: string;
  /** What to do about it, if the source states it; one of them applies. */
  readonly hints: readonly string[];
  /** The kind of the error, such as `usage`. */
  readonly kind: string;
  /** The file, relative to `src`. */
  readonly file: string;
}

/** The arguments of a function or an error class that contain the message, the hint, and the kind. */
interface Form {
  readonly text: number;
  readonly hint?: number;
  /** The kind, or the argument that contains it. */
  readonly kind: string | number;
}

const forms: Readonly<Record<string, Form>> = {
  usageError: { text: 0, hint: 1, kind: "usage" },
  failedError: { text: 0, hint: 1, kind: "failed" },
  UserError: { text: 1, hint: 2, kind: 0 },
  ImportError: { text: 1, hint: 2, kind: 0 },
  FileFormatError: { text: 0, hint: 1, kind: "usage" },
  StorageError: { text: 1, hint: 3, kind: 0 },
  SchemaError: { text: 0, hint: 1, kind: "storageFailed" },
  AddressError: { text: 0, kind: "usage" },
  ArchiveError: { text: 0, hint: 1, kind: "failed" },
  ListenError: { text: 0, hint: 1, kind: "failed" },
  ServiceError: { text: 1, hint: 2, kind: 0 },
  invalidField: { text: 1, kind: "invalidParams" },
  // The method of the parser of the command line.
  "this.#usage": { text: 0, kind: "usage" },
  warning: { text: 1, hint: 2, kind: "warning" },
  problem: { text: 1, hint: 2, kind: "problem" },
};

const isNode = (value: unknown): value is Node => typeof (value as Node | null | undefined)?.type === "string";

function* walk(node: Node): Generator<Node> {
  yield node;
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) yield* walk(child);
  }
}

const nameOf = (node: unknown): string => (isNode(node) && typeof node["name"] === "string" ? node["name"] : "");

/** The values of the variables of a file, by their names, in the order of the file. */
type Declared = ReadonlyMap<string, readonly Node[]>;

function readDeclared(program: Node): Declared {
  const declared = new Map<string, Node[]>();
  for (const node of walk(program)) {
    if (node.type !== "VariableDeclarator" || !isNode(node["init"])) continue;
    const name = nameOf(node["id"]);
    declared.set(name, [...(declared.get(name) ?? []), node["init"]]);
  }
  return declared;
}

/** The value of the variable with this name that was declared last, or else of the first one below. */
function findDeclared(used: Node, declared: Declared): Node | undefined {
  const values = declared.get(nameOf(used)) ?? [];
  return values.findLast((value) => Number(value["start"]) < Number(used["start"])) ?? values[0];
}

/** Names of values that a reader would not understand. */
const readableNames: Readonly<Record<string, string>> = {
  given: "value",
  text: "value",
  trim: "value",
  length: "count",
  "shown as": "database",
  shown: "",
  "base url": "service",
};

/** A readable name of a value: that of `profile.appKey` is `<app key>`. */
function describeValue(node: Node): string {
  if (node.type === "CallExpression") {
    const [first] = node["arguments"] as readonly Node[];
    return describeValue(first ?? (node["callee"] as Node));
  }
  const name = nameOf(node.type === "MemberExpression" ? node["property"] : node);
  const words = name.replaceAll(/(?<=[a-z])(?=[A-Z])|_/g, " ").toLowerCase();
  const readable = readableNames[words] ?? words;
  return readable === "" ? "…" : `<${readable}>`;
}

/** The texts that an expression can have. */
function textsOf(node: Node | undefined, declared: Declared, depth = 0): readonly string[] {
  if (node === undefined || depth > 6) return [];
  const of = (child: unknown) => textsOf(child as Node, declared, depth + 1);
  switch (node.type) {
    case "Literal":
      return typeof node["value"] === "string" ? [node["value"]] : [];
    case "TemplateLiteral": {
      const quasis = node["quasis"] as readonly { readonly value: { readonly cooked: string } }[];
      const values = (node["expressions"] as readonly Node[]).map((value) => {
        const texts = value.type === "Identifier" ? [] : of(value);
        const found = texts.length > 0 ? texts : [describeValue(value)];
        return quotes(value) ? found.map((text) => `"${text}"`) : found;
      });
      return quasis.reduce<string[]>(
        (starts, { value: { cooked } }, at) =>
          starts.flatMap((start) => (at === 0 ? [""] : (values[at - 1] ?? [""])).map((text) => start + text + cooked)),
        [""],
      );
    }
    case "ConditionalExpression":
      return [...of(node["consequent"]), ...of(node["alternate"])];
    case "LogicalExpression":
      return [...of(node["left"]), ...of(node["right"])];
    case "BinaryExpression": {
      const [left, right] = [of(node["left"]), of(node["right"])];
      return left.flatMap((start) => right.map((end) => start + end));
    }
    case "ArrowFunctionExpression":
      return of(node["body"]);
    case "Identifier":
      return of(findDeclared(node, declared));
    default:
      return [];
  }
}

/** Whether a value appears in quotation marks. */
function quotes(node: Node): boolean {
  const callee = node["callee"] as Node | undefined;
  return (
    node.type === "CallExpression" && callee?.type === "MemberExpression" && nameOf(callee["property"]) === "stringify"
  );
}

/** The hint of an argument: a text, or the property `hint` of an object. */
function hintsOf(node: Node | undefined, declared: Declared): readonly string[] {
  if (node?.type !== "ObjectExpression") return textsOf(node, declared);
  const property = (node["properties"] as readonly Node[]).find((one) => nameOf(one["key"]) === "hint");
  return textsOf(property?.["value"] as Node | undefined, declared);
}

/** Every message that the sources in a folder declare. */
export function readMessages(folder: string): readonly Message[] {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".ts"));
  return files.toSorted().flatMap((file) => {
    const { program } = parseSync(file, readFileSync(join(folder, file), "utf8"));
    const root = program as unknown as Node;
    const declared = readDeclared(root);
    return [...walk(root)]
      .flatMap((node) => readCall(node, declared).concat(readEntry(node, declared), readShape(node, file, declared)))
      .filter(({ text }) => !text.startsWith("`") && /[a-z]{2}.*[a-z]{4}/.test(text.replaceAll(/<[^>]*>/g, "")))
      .map(({ text, hints, kind }) => ({ text, hints, kind, file }));
  });
}

type Found = Omit<Message, "file">;

/** The name of a function, or of a private method of the same class. */
function nameOfCalled(callee: Node): string {
  const method = callee["property"] as Node | undefined;
  return method?.type === "PrivateIdentifier" ? `this.#${nameOf(method)}` : nameOf(callee);
}

/** The messages of a call that creates an error. */
function readCall(node: Node, declared: Declared): Found[] {
  if (node.type !== "CallExpression" && node.type !== "NewExpression") return [];
  const name = nameOfCalled(node["callee"] as Node);
  const given = node["arguments"] as readonly Node[];
  if (name === "invalidValue") return readInvalidValue(given, declared);
  const form = forms[name];
  if (form === undefined) return [];
  const kind = typeof form.kind === "number" ? (textsOf(given[form.kind], declared)[0] ?? "") : form.kind;
  const hints = form.hint === undefined ? [] : hintsOf(given[form.hint], declared);
  const start = name === "invalidField" ? "<field> " : "";
  return textsOf(given[form.text], declared).map((text) => ({ text: start + text, hints, kind }));
}

function readInvalidValue([, source, wanted, hint]: readonly Node[], declared: Declared): Found[] {
  const hints = hintsOf(hint, declared);
  const [from = source ? describeValue(source) : "…"] = textsOf(source, declared);
  return textsOf(wanted, declared).map((text) => {
    return { text: `invalid value "<value>" for ${from}: must be ${text}`, hints, kind: "usage" };
  });
}

/** The message of an entry in a table by error code: `ENOSPC: "…"`, or a list of a kind, a message, and a hint. */
function readEntry(node: Node, declared: Declared): Found[] {
  const key = node["key"] as Node | undefined;
  if (node.type !== "Property" || key === undefined || !isErrorCode(key)) return [];
  const value = node["value"] as Node;
  const elements = value.type === "ArrayExpression" ? (value["elements"] as readonly Node[]) : [value];
  const texts = elements.flatMap((element) => textsOf(element, declared).slice(0, 1));
  const [text = "", ...hints] = texts.filter((found) => found.includes(" "));
  return [{ text, hints, kind: texts.find((found) => !found.includes(" ")) ?? "failed" }];
}

/** The message of a check of a field: `{ error: "must be …" }`. */
function readShape(node: Node, file: string, declared: Declared): Found[] {
  if (node.type !== "Property" || nameOf(node["key"]) !== "error" || !file.startsWith("contract/")) return [];
  const texts = textsOf(node["value"] as Node, declared);
  return texts.map((text) => ({ text: `<field> ${text}`, hints: [], kind: "invalidParams" }));
}

function isErrorCode(key: Node): boolean {
  const code = key.type === "Literal" ? String(key["value"]) : nameOf(key);
  return (
    /^(?!PG)[A-Z0-9][A-Z0-9_]{3,}$/.test(code) ||
    (key.type === "MemberExpression" && nameOf(key["object"]) === "resultCodes")
  );
}
