import { isUtf8 } from "node:buffer";
import { type IncomingHttpHeaders, STATUS_CODES } from "node:http";
import type { Writable } from "node:stream";
import { usageError } from "../../../config/user-error.ts";
import type { SignedResponse } from "../../../service/raw-call.ts";
import type { Context } from "../../program/context.ts";
import { isForScripts } from "../../program/global-flags.ts";

/** A response body, classified by content type and bytes. */
type Body = { readonly kind: "none" } | TextBody | { readonly kind: "bytes" };

interface TextBody {
  readonly kind: "json" | "text";
  readonly text: string;
}

/** Replaces secrets in the output. */
const hidden = "…";

/**
 * Prints a response body as received, or with --json as one JSON document.
 * @throws UserError `usage` if binary data would be written to a terminal
 */
export async function printAnswer(
  { io, globals }: Context,
  answer: SignedResponse,
  isIncluded: boolean,
): Promise<void> {
  const { bytes, headers } = answer;
  const received = readBody(answer);
  // Numbers that JavaScript cannot represent lose digits.
  const body: Body =
    received.kind === "json" && io.redactor
      ? { kind: received.kind, text: JSON.stringify(io.redactor.data(JSON.parse(received.text) as unknown)) }
      : received;
  if (isForScripts(globals.format)) {
    const document = isIncluded ? wrapAnswer(answer, body) : toDocument(answer, body);
    const lines = globals.format === "ndjson" ? toJsonLines(document) : [document.trim()];
    await writeOut(io.stdout, lines.map((line) => `${line}\n`).join(""));
    return;
  }
  const isReadAsText = io.isStdoutTerminal || io.redactor !== undefined;
  if (body.kind === "bytes" && isReadAsText) {
    const { "content-type": type = "no type" } = headers;
    throw usageError(
      `the response is binary (${bytes.length} bytes, ${type})`,
      "Redirect the output to a file. With --redact, only text is printed.",
    );
  }
  if (isIncluded) await writeOut(io.stdout, describeHead(answer));
  const isShown = io.isStdoutTerminal && "text" in body;
  await writeOut(
    io.stdout,
    isShown
      ? `${body.kind === "json" ? indentJson(body.text) : body.text.trimEnd()}\n`
      : body === received || !("text" in body)
        ? bytes
        : body.text,
  );
}

function readBody({ bytes, headers }: SignedResponse): Body {
  const type = headers["content-type"] ?? "";
  if (bytes.length === 0) return { kind: "none" };
  if (!isUtf8(bytes) || /^(?:image|audio|video|font)\/|octet-stream|\bzip\b|\bpdf\b/i.test(type))
    return { kind: "bytes" };
  const text = bytes.toString("utf8");
  return { kind: isJson(text) ? "json" : "text", text };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Any body as JSON. Other formats are wrapped in an object with the content type. */
function toDocument({ bytes, headers }: SignedResponse, body: Body): string {
  const { "content-type": type = null } = headers;
  if (body.kind === "none") return "null";
  if (body.kind === "json") return body.text;
  const held = body.kind === "text" ? { text: body.text } : { base64: bytes.toString("base64") };
  return JSON.stringify({ content_type: type, ...held });
}

function wrapAnswer(answer: SignedResponse, body: Body): string {
  const headers = JSON.stringify(Object.fromEntries(listHeaders(answer)));
  return `{"status":${answer.status},"headers":${headers},"body":${toDocument(answer, body)}}`;
}

function describeHead(answer: SignedResponse): string {
  const { status } = answer;
  const lines = listHeaders(answer).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`.trim(), ...lines, "", ""].join("\n");
}

/** Hides cookies, and tokens in URLs. */
function listHeaders({ headers, utoken = "" }: SignedResponse): readonly (readonly [string, string])[] {
  const values = Object.entries(headers as Record<string, IncomingHttpHeaders[string]>);
  return values.map(([name, value]) => {
    const text = Array.isArray(value) ? value.join(", ") : (value ?? "");
    if (name === "set-cookie" || name === "authorization") return [name, hidden];
    const bare = utoken === "" ? text : text.replaceAll(utoken, hidden);
    return [name, bare.replaceAll(/([?&](?:utoken|token|secret|access_token)=)[^&\s]+/gi, `$1${hidden}`)];
  });
}

/**
 * Writes a chunk and waits for backpressure.
 * @returns whether the reader is still there
 */
export function writeOut(stream: Writable, chunk: string | Buffer): Promise<boolean> {
  return new Promise((resolve) => {
    stream.write(chunk, (error) => resolve(!error));
  });
}

const token = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/** Indents JSON text. Numbers keep their notation, even if JavaScript cannot represent them. */
export function indentJson(json: string): string {
  const tokens = json.match(token) ?? [];
  let depth = 0;
  let text = "";
  for (const [at, found] of tokens.entries()) {
    const isEmpty = isClosing(found) && isOpening(tokens[at - 1]);
    if (isClosing(found)) depth -= 1;
    const startsLine = at > 0 && (isClosing(found) || isOpening(tokens[at - 1]) || tokens[at - 1] === ",");
    text += startsLine && !isEmpty ? `\n${"  ".repeat(depth)}${found}` : found;
    if (found === ":") text += " ";
    if (isOpening(found)) depth += 1;
  }
  return text;
}

/** Splits JSON text into one line per array element, or one line if it is not an array. */
export function toJsonLines(json: string): readonly string[] {
  const tokens = json.match(token) ?? [];
  if (tokens[0] !== "[") return [tokens.join("")];
  const lines: string[] = [];
  let depth = 0;
  let line = "";
  for (const found of tokens) {
    if (isClosing(found)) depth -= 1;
    const isSeparator = (depth === 1 && found === ",") || (depth === 0 && (found === "[" || found === "]"));
    if (isSeparator) {
      if (line !== "") lines.push(line);
      line = "";
    } else line += found;
    if (isOpening(found)) depth += 1;
  }
  return lines;
}

function isOpening(found: string | undefined): boolean {
  return found === "{" || found === "[";
}

function isClosing(found: string): boolean {
  return found === "}" || found === "]";
}
