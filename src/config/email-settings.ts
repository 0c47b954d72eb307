import { join } from "node:path";
import { type Environment, readVariable } from "./environment.ts";
import { outboxFolderOf, type Paths } from "./paths.ts";
import { readSettings, writeSettings } from "./private-file.ts";
import { invalidValue, usageError } from "./user-error.ts";
import { domainToASCII } from "node:url";

/** `implicit`: TLS from the start; `starttls`: required; `opportunistic`: STARTTLS if offered; `none`: not encrypted. */
export const tlsModes = ["implicit", "starttls", "opportunistic", "none"] as const;
export type TlsMode = (typeof tlsModes)[number];

/** The default port of each mode. Source: RFC 8314, RFC 6409. */
export const defaultPorts: Readonly<Record<TlsMode, number>> = {
  implicit: 465,
  starttls: 587,
  opportunistic: 25,
  none: 25,
};
const defaultMode: TlsMode = "starttls";

export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  readonly tls: TlsMode;
  /** Null without authentication; then the password is null, too. */
  readonly user: string | null;
  readonly password: string | null;
}

/** How this machine sends emails, as stored in the config folder. */
export interface StoredEmailSettings {
  /** Null: emails are written to the outbox folder. */
  readonly smtp: SmtpServer | null;
  readonly from: EmailSender | null;
}

/** The effective settings, and where they come from. */
export type EmailSettings = StoredEmailSettings & {
  readonly configuredBy: "default" | "file" | "environment";
  readonly outboxFolder: string;
};

type Places = Pick<Paths, "configFolder" | "dataFolder">;

/**
 * Finds out how this machine sends emails: with the server from the environment, or else from the file. Without either,
 * emails are written to the outbox folder.
 * Assumed: if `STARPOST_SMTP_HOST` is set, all settings of the server come from the environment, and only the sender may
 * come from the file. Otherwise, `STARPOST_SMTP_PASSWORD` is the password of the server from the file.
 * @throws UserError `usage`, `failed`
 */
export async function findEmailSettings(env: Environment, paths: Places): Promise<EmailSettings> {
  const stored = await readStoredEmailSettings(paths);
  const sender = readVariable(env, "STARPOST_MAIL_FROM");
  const from = sender === undefined ? (stored?.from ?? null) : parseSender(sender, "STARPOST_MAIL_FROM");
  const named = readEnvironment(env);
  const smtp = named ?? withPassword(stored?.smtp ?? null, env);
  if (smtp && !from) {
    throw usageError(
      "a mail server is configured, but no sender",
      "Set STARPOST_MAIL_FROM, or run `starpost mail configure --from <sender>`.",
    );
  }
  const configuredBy = named ? "environment" : stored ? "file" : "default";
  return { smtp, from, configuredBy, outboxFolder: outboxFolderOf(paths) };
}

function withPassword(smtp: SmtpServer | null, env: Environment): SmtpServer | null {
  const password = readVariable(env, "STARPOST_SMTP_PASSWORD");
  return smtp && smtp.user !== null && password !== undefined ? { ...smtp, password } : smtp;
}

function readEnvironment(env: Environment): SmtpServer | undefined {
  const read = (name: string) => readVariable(env, `STARPOST_SMTP_${name}`);
  const host = read("HOST");
  if (host === undefined) {
    const alone = ["PORT", "TLS", "USER"].find((name) => read(name) !== undefined);
    if (alone === undefined) return undefined;
    throw usageError(`STARPOST_SMTP_${alone} is set, but STARPOST_SMTP_HOST is not`, "Set both or neither.");
  }
  const [port, tls, user = null, password = null] = [read("PORT"), read("TLS"), read("USER"), read("PASSWORD")];
  if ((user === null) !== (password === null)) {
    throw usageError(
      `STARPOST_SMTP_${user === null ? "USER" : "PASSWORD"} is not set, but ${user === null ? "STARPOST_SMTP_PASSWORD" : "STARPOST_SMTP_USER"} is`,
      "Set both or neither.",
    );
  }
  const mode = tls === undefined ? undefined : parseTlsMode(tls, "STARPOST_SMTP_TLS");
  const number = port === undefined ? undefined : parsePort(port, "STARPOST_SMTP_PORT");
  return { host: parseHost(host, "STARPOST_SMTP_HOST"), ...completePort(number, mode), user, password };
}

/** Completes the port and the TLS mode, of which either may be omitted. */
export function completePort(
  port: number | undefined,
  tls: TlsMode | undefined,
): { readonly port: number; readonly tls: TlsMode } {
  const mode = tls ?? (port === defaultPorts.implicit ? "implicit" : defaultMode);
  return { port: port ?? defaultPorts[mode], tls: mode };
}

export function parseHost(text: string, source: string): string {
  const host = text.trim();
  if (/^[\p{L}\p{N}](?:[\p{L}\p{N}._-]*[\p{L}\p{N}.])?$/u.test(host) || /^[0-9a-f.]*:[0-9a-f:.]*$/i.test(host))
    return host;
  throw invalidValue(
    text,
    source,
    "a host name",
    "Pass a name such as smtp.shop.example. To set the port, use --port.",
  );
}

export function parsePort(text: string, source: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port > 0 && port <= 65_535) return port;
  throw invalidValue(text, source, "a port from 1 to 65535");
}

export function parseTlsMode(text: string, source: string): TlsMode {
  const mode = tlsModes.find((name) => name === text);
  if (mode) return mode;
  throw invalidValue(text, source, `one of ${tlsModes.join(", ")}`);
}

function fileOf({ configFolder }: Places): string {
  return join(configFolder, "mail.json");
}

/** Reads the settings in the config folder, regardless of the environment. */
export function readStoredEmailSettings(paths: Places): Promise<StoredEmailSettings | undefined> {
  const hint = "Run `starpost mail configure --outbox`, then configure the mail server again.";
  return readSettings(fileOf(paths), parseSettings, hint);
}

function parseSettings(text: string): StoredEmailSettings {
  const { smtp, from } = JSON.parse(text) as {
    readonly smtp: Readonly<Record<keyof SmtpServer, unknown>> | null;
    readonly from: string | null;
  };
  const sender = from === null ? null : parseSender(from, "from");
  if (smtp === null) return { smtp, from: sender };
  const user = toText(smtp.user);
  return {
    smtp: {
      host: parseHost(String(smtp.host), "host"),
      port: parsePort(String(smtp.port), "port"),
      tls: parseTlsMode(String(smtp.tls), "tls"),
      user,
      password: user === null ? null : toText(smtp.password),
    },
    from: sender,
  };
}

function toText(value: unknown): string | null {
  if (value === null || typeof value === "string") return value;
  throw new TypeError("not a string");
}

/** Replaces the stored settings. The file contains the password, so only its owner can read it. */
export async function writeEmailSettings(paths: Places, { smtp, from }: StoredEmailSettings): Promise<void> {
  await writeSettings(fileOf(paths), { smtp, from: from === null ? null : formatSender(from) });
}

/** The sender of emails. Without a name, the name of the store is used. */
export interface EmailSender {
  readonly name: string | null;
  readonly address: string;
}

/**
 * Parses `Name <address>`, `"Name" <address>` or an address.
 * @throws UserError `usage`
 */
export function parseSender(text: string, source: string): EmailSender {
  const named = /^(?<name>[^<>]*)<(?<inner>[^<>]*)>$/.exec(text.trim())?.groups;
  const address = (named?.["inner"] ?? text).trim();
  const name = (named?.["name"] ?? "")
    .trim()
    .replace(/^"(.*)"$/, "$1")
    .trim();
  if (isAddress(address) && !/\p{Cc}/u.test(name)) return { name: name === "" ? null : name, address };
  const example = 'For example: "Tea & Cups <reviews@shop.example>".';
  throw invalidValue(text, source, "an email address, optionally with a name", example);
}

export function formatSender({ name, address }: EmailSender): string {
  return name === null ? address : `${name} <${address}>`;
}

/** Assumed: the local part of the sender is ASCII, so that every mail server accepts it. */
function isAddress(text: string): boolean {
  const at = text.lastIndexOf("@");
  const isLocal = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/.test(text.slice(0, at));
  return at > 0 && at <= 64 && isLocal && domainToASCII(text.slice(at + 1)) !== "";
}
