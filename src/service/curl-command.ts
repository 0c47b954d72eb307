import { type PreviewedCall, splitAtVariables } from "./call-preview.ts";

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
