import { type Environment, readVariable } from "../config/environment.ts";
import { nearestOf } from "../import/mapping/nearest-name.ts";
import { type Check, ok, warning } from "./check.ts";

/** How a variable's value may be shown: as it is, as an address without its password, or not at all. */
type Shown = "value" | "address" | "secret";

/** Every variable that starpost heeds. */
export const heededVariables: Readonly<Record<string, Shown>> = {
  STARPOST_HOME: "value",
  STARPOST_PROFILE: "value",
  STARPOST_DATABASE: "address",
  STARPOST_BASE_URL: "address",
  STARPOST_APP_KEY: "value",
  STARPOST_SECRET: "secret",
  STARPOST_UTOKEN: "secret",
  STARPOST_KEY: "secret",
  STARPOST_KEYRING: "value",
  STARPOST_PUBLIC_URL: "address",
  STARPOST_REDACT: "value",
  STARPOST_SMTP_HOST: "value",
  STARPOST_SMTP_PORT: "value",
  STARPOST_SMTP_TLS: "value",
  STARPOST_SMTP_USER: "value",
  STARPOST_SMTP_PASSWORD: "secret",
  STARPOST_MAIL_FROM: "value",
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

/** Says which variables are set; those that look like ours and are not are slips of the pen. */
export function checkEnvironment(env: Environment): Check {
  const name = "environment";
  const set = Object.keys(heededVariables).filter((variable) => readVariable(env, variable) !== undefined);
  const unknown = Object.keys(env).filter(
    (variable) =>
      /^STARPOST_/i.test(variable) &&
      !variable.startsWith("STARPOST_TEST_") &&
      readVariable(env, variable) !== undefined &&
      !(variable in heededVariables),
  );
  const message =
    set.length === 0 ? "no variable is set" : set.map((variable) => show(env, variable)).join(", ");
  if (readVariable(env, "NODE_TLS_REJECT_UNAUTHORIZED") === "0") {
    return warning(
      name,
      `${message}; certificates are not checked at all`,
      "Unset NODE_TLS_REJECT_UNAUTHORIZED; an authority of your own goes into NODE_EXTRA_CA_CERTS.",
    );
  }
  if (unknown.length === 0) return ok(name, message);
  const meant = unknown.map((variable) => {
    const near = nearestOf(variable.toUpperCase(), Object.keys(heededVariables));
    return near === undefined ? variable : `${variable} (${near}?)`;
  });
  return warning(
    name,
    `${message}; not known: ${meant.join(", ")}`,
    "Unset it, or set the variable that was meant: starpost help environment.",
  );
}

function show(env: Environment, variable: string): string {
  const value = readVariable(env, variable) ?? "";
  const how = heededVariables[variable];
  if (how === "secret") return `${variable} (set, not shown)`;
  return `${variable}=${how === "address" ? withoutPassword(value) : value}`;
}

/**
 * What may be a password ends at the last `@`, or is in the query; it may hold any sign, and the text need not be an
 * address at all.
 */
function withoutPassword(text: string): string {
  const at = text.lastIndexOf("@");
  const [scheme = ""] = /^[a-z][a-z0-9+.-]*:\/\//i.exec(text) ?? [];
  const behind = at === -1 ? text : `${scheme}…${text.slice(at)}`;
  return scheme === "" ? behind : behind.replace(/\?.*$/s, "?…");
}
