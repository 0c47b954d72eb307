import type { OperationName } from "../contract/index.ts";
import { isSecretName } from "./trace.ts";

/** A call that a command would make. Secrets are replaced by the names of environment variables (`secretVariable`). */
export interface PreviewedCall {
  /** Undefined if the call is not in the contract. */
  readonly operation: OperationName | undefined;
  readonly method: string;
  /** The address of the service, without a trailing slash. */
  readonly baseUrl: string;
  /** Path and query. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** The fields of the call. */
  readonly input: unknown;
}

/** How a connection treats calls that are shown instead of made. */
export interface Preview {
  /** Whether reads are not made either. If false, reads before the first write are made. */
  readonly includesReads: boolean;
  /** Whether an embedded database tries the call, and rolls it back. */
  readonly isRehearsed: boolean;
  readonly record: (call: PreviewedCall) => void;
}

/** `curl` shows HTTP requests as commands, `dry-run` shows the calls after checking them. */
export type PreviewMode = "curl" | "dry-run";

/** The calls that a command would make. */
export interface CallPreview {
  readonly mode: PreviewMode;
  readonly preview: Preview;
  readonly calls: readonly PreviewedCall[];
  /** Descriptions of the changes that the command would make without a call. */
  readonly changes: string[];
}

/** Ends a command at the first call or change that is shown instead of made. */
export class CallPreviewed extends Error {
  override readonly name = "CallPreviewed";
}

const [opening, closing] = ["\u{E000}", "\u{E001}"];

/** Stands for the value of an environment variable in a call. */
export function secretVariable(name: string): string {
  return `${opening}STARPOST_${name
    .replace(/^.*\./, "")
    .replace(/^client_/, "")
    .toUpperCase()}${closing}`;
}

/** Splits a text at its variables: `[text, name, text, name, …, text]`. In URLs, variables may be percent-encoded. */
export function splitAtVariables(text: string): readonly string[] {
  return text.split(/(?:\u{E000}|%EE%80%80)(STARPOST_\w+)(?:\u{E001}|%EE%80%81)/u);
}

/** Replaces the values of secret fields by variables, at any depth. */
export function replaceSecrets<T>(value: T, secretFields: readonly string[] = []): T {
  const names = new Set(secretFields.map((path) => path.split(".").at(-1)));
  const replace = (nested: unknown): unknown => {
    if (Array.isArray(nested)) return nested.map(replace);
    if (typeof nested !== "object" || nested === null) return nested;
    const entries = Object.entries(nested).map(([name, inner]) => {
      const isSecret = typeof inner === "string" && (names.has(name) || isSecretName(name));
      return [name, isSecret ? secretVariable(name) : replace(inner)] as const;
    });
    return Object.fromEntries(entries);
  };
  return replace(value) as T;
}

/** Linux limits an argument of a program to 128 KiB, and thus not those of the shell's own `printf`. */
const maxArgumentBytes = 100_000;

/** Formats a call as a command for a POSIX shell. Secrets are variables, which the shell replaces. */
export function formatCurlCommand({ method, baseUrl, target, headers, body }: PreviewedCall): string {
  const url = baseUrl + target;
  // curl would expand brackets and braces in URLs.
  const flags = /[[\]{}]/.test(url) ? " -g" : "";
  const sent = Object.entries(headers).filter(([name]) => name !== "accept");
  const named = method === "GET" ? "" : method === "HEAD" ? " --head" : ` -X ${method}`;
  const isPiped = Buffer.byteLength(body ?? "") > maxArgumentBytes;
  const pipe = isPiped ? `printf %s ${quote(body ?? "")} | ` : "";
  const lines = [
    `${pipe}curl -sS${flags}${named} ${quote(url)}`,
    ...sent.map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [isPiped ? "--data-binary @-" : `--data-raw ${quote(body)}`]),
  ];
  return lines.join(" \\\n  ");
}

/** Single quotes around texts, and double quotes around variables. */
function quote(text: string): string {
  const parts = splitAtVariables(text).map((part, at) => {
    if (at % 2 === 1) return `"$${part}"`;
    return part === "" ? "" : `'${part.replaceAll("'", String.raw`'\''`)}'`;
  });
  return parts.join("") || "''";
}
