import { closest, distance } from "fastest-levenshtein";
import { type Environment, readVariable } from "../config/environment.ts";
import { type Check, ok, warning, type DoctorContext, problem } from "./check.ts";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { countOf } from "../terminal/plural.ts";

/** How a variable's value is printed: unchanged, as an address without its password, or not at all. */
type Visibility = "value" | "address" | "secret";

export const knownVariables: Readonly<Record<string, Visibility>> = {
  STARPOST_HOME: "value",
  STARPOST_PROFILE: "value",
  STARPOST_BY: "value",
  STARPOST_PAGER: "value",
  STARPOST_DATABASE: "address",
  STARPOST_DATABASE_POOL: "value",
  STARPOST_DATABASE_POOL_WAIT: "value",
  STARPOST_DATABASE_READER: "address",
  STARPOST_BASE_URL: "address",
  STARPOST_APP_KEY: "value",
  STARPOST_SECRET: "secret",
  STARPOST_UTOKEN: "secret",
  STARPOST_KEY: "secret",
  STARPOST_KEYRING: "value",
  STARPOST_PUBLIC_LIMITS: "value",
  STARPOST_PUBLIC_URL: "address",
  STARPOST_REDACT: "value",
  STARPOST_TRUST_PROXY: "value",
  STARPOST_SMTP_HOST: "value",
  STARPOST_SMTP_PORT: "value",
  STARPOST_SMTP_TLS: "value",
  STARPOST_SMTP_USER: "value",
  STARPOST_SMTP_PASSWORD: "secret",
  STARPOST_MAIL_FROM: "value",
  STARPOST_DNS_SERVER: "value",
  STARPOST_ALLOW_PRIVATE_WEBHOOKS: "value",
  HTTPS_PROXY: "address",
  https_proxy: "address",
  HTTP_PROXY: "address",
  http_proxy: "address",
  ALL_PROXY: "address",
  all_proxy: "address",
  NO_PROXY: "value",
  no_proxy: "value",
  NODE_EXTRA_CA_CERTS: "value",
  NODE_TLS_REJECT_UNAUTHORIZED: "value",
  CI: "value",
  NO_COLOR: "value",
  FORCE_COLOR: "value",
};

/** An unknown variable is reported with a suggestion if at most this many characters differ. */
const maxTypos = 3;

/** Lists the variables that are set, and warns about unknown `STARPOST_` variables, which are probably typos. */
export function checkEnvironment(env: Environment): Check {
  const set = Object.keys(knownVariables).filter((variable) => readVariable(env, variable) !== undefined);
  const unknown = Object.keys(env).filter(
    (variable) =>
      /^STARPOST_/i.test(variable) &&
      !variable.startsWith("STARPOST_TEST_") &&
      readVariable(env, variable) !== undefined &&
      !(variable in knownVariables),
  );
  const message =
    set.length === 0 ? "no variables set" : set.map((variable) => formatVariable(env, variable)).join(", ");
  if (readVariable(env, "NODE_TLS_REJECT_UNAUTHORIZED") === "0") {
    return warning(
      "environment",
      `${message}; certificate verification is disabled`,
      "Unset NODE_TLS_REJECT_UNAUTHORIZED. To trust a private certificate authority, set NODE_EXTRA_CA_CERTS.",
    );
  }
  if (unknown.length === 0) return ok("environment", message);
  const suggestions = unknown.map((variable) => {
    const nearest = closest(variable.toUpperCase(), Object.keys(knownVariables));
    const isNear = distance(variable.toUpperCase(), nearest) <= maxTypos;
    return isNear ? `${variable} (did you mean ${nearest}?)` : variable;
  });
  return warning(
    "environment",
    `${message}; unknown: ${suggestions.join(", ")}`,
    "Unset or rename it. For a list of variables, run `starpost help environment`.",
  );
}

function formatVariable(env: Environment, variable: string): string {
  const value = readVariable(env, variable) ?? "";
  const visibility = knownVariables[variable];
  if (visibility === "secret") return `${variable} (set)`;
  return `${variable}=${visibility === "address" ? withoutPassword(value) : value}`;
}

/**
 * Hides everything that may be a password: text before the last `@`, and the query. A password may contain any
 * character, and the value may not be a valid address.
 */
function withoutPassword(text: string): string {
  const at = text.lastIndexOf("@");
  const [scheme = ""] = /^[a-z][a-z0-9+.-]*:\/\//i.exec(text) ?? [];
  const rest = at === -1 ? text : `${scheme}…${text.slice(at)}`;
  return scheme === "" ? rest : rest.replace(/\?.*/s, "?…");
}

/** Checks that the file in `NODE_EXTRA_CA_CERTS` is readable. Node.js itself only prints a warning. */
export async function checkCaCertificates({ env, cwd }: Pick<DoctorContext, "env" | "cwd">): Promise<Check> {
  const value = readVariable(env, "NODE_EXTRA_CA_CERTS");
  if (value === undefined) return ok("certificates", "using the certificate authorities bundled with Node.js");
  const path = resolve(cwd, value);
  const text = await readFile(path, "utf8").catch((error: Error) => error);
  if (text instanceof Error) {
    return problem(
      "certificates",
      `cannot read NODE_EXTRA_CA_CERTS: ${text.message}`,
      "Set it to a readable PEM file, or unset it.",
    );
  }
  const count = text.split("-----BEGIN CERTIFICATE-----").length - 1;
  if (count === 0) {
    return problem(
      "certificates",
      `NODE_EXTRA_CA_CERTS: ${path} contains no certificates`,
      "Set it to a file of certificates in PEM format.",
    );
  }
  return ok(
    "certificates",
    `using ${countOf(count, "additional certificate authority", "additional certificate authorities")} from ${path}`,
  );
}
