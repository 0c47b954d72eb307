import { type PreviewedCall, splitAtVariables } from "./call-preview.ts";

/** Formats a call as a command for a POSIX shell. Secrets are variables, which the shell replaces. */
export function formatCurlCommand({ method, baseUrl, target, headers, body }: PreviewedCall): string {
  const url = baseUrl + target;
  // curl would expand brackets and braces in URLs.
  const flags = /[[\]{}]/.test(url) ? " -g" : "";
  const sent = Object.entries(headers).filter(([name]) => name !== "accept");
  const named = method === "GET" ? "" : method === "HEAD" ? " --head" : ` -X ${method}`;
  const lines = [
    `curl -sS${flags}${named} ${quote(url)}`,
    ...sent.map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`--data-raw ${quote(body)}`]),
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
