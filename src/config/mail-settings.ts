import { join } from "node:path";
import { type Environment, readVariable } from "./environment.ts";
import { type MailSender, readSender, writeSender } from "./mail-address.ts";
import type { Paths } from "./paths.ts";
import { readFileIfThere, writePrivateFile } from "./private-file.ts";
import { UserError } from "./user-error.ts";

/** - `implicit`: from the first byte; `starttls`: refused without it; `opportunistic`: where offered; `none`: in the open */
export const tlsModes = ["implicit", "starttls", "opportunistic", "none"] as const;
export type TlsMode = (typeof tlsModes)[number];

/** The port that goes with a mode, and the mode that goes with any other port. Source: RFC 8314, RFC 6409. */
export const usualPorts: Readonly<Record<TlsMode, number>> = {
  implicit: 465,
  starttls: 587,
  opportunistic: 25,
  none: 25,
};
const usualMode: TlsMode = "starttls";

export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  readonly tls: TlsMode;
  /** Null where nobody signs in; then there is no password either. */
  readonly user: string | null;
  readonly password: string | null;
}

/** How this machine sends mails, as the file in the config folder has it. */
export interface StoredMailSettings {
  /** Null: the outbox folder. */
  readonly smtp: SmtpServer | null;
  readonly from: MailSender | null;
}

/** What holds, and by what. */
export type FoundMailSettings = StoredMailSettings & {
  readonly configuredBy: "default" | "file" | "environment";
  readonly outboxFolder: string;
};

type Places = Pick<Paths, "configFolder" | "dataFolder">;

/**
 * Finds how this machine sends mails: by the environment where it names a server, else as it was configured, else not at
 * all: into the outbox folder.
 * Assumed: `STARPOST_SMTP_HOST` comes with all the rest, and nothing of the file is mixed in but who mails come from;
 * without it, `STARPOST_SMTP_PASSWORD` is the password of the configured server.
 * @throws UserError `usage`, `failed`
 */
export async function findMailSettings(env: Environment, paths: Places): Promise<FoundMailSettings> {
  const stored = await readMailSettings(paths);
  const given = readVariable(env, "STARPOST_MAIL_FROM");
  const from = given === undefined ? (stored?.from ?? null) : readSender(given, "STARPOST_MAIL_FROM");
  const named = readEnvironment(env);
  const smtp = named ?? withPassword(stored?.smtp ?? null, env);
  if (smtp && !from) {
    throw new UserError(
      "usage",
      "a mail server is configured, and not who mails come from",
      "Set STARPOST_MAIL_FROM, or configure it: starpost mail configure --from.",
    );
  }
  const configuredBy = named ? "environment" : stored ? "file" : "default";
  return { smtp, from, configuredBy, outboxFolder: join(paths.dataFolder, "outbox") };
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
    throw new UserError(
      "usage",
      `STARPOST_SMTP_${alone} is set, and STARPOST_SMTP_HOST is not`,
      "Set both, or none of them.",
    );
  }
  const [port, tls, user = null, password = null] = [
    read("PORT"),
    read("TLS"),
    read("USER"),
    read("PASSWORD"),
  ];
  if ((user === null) !== (password === null)) {
    throw new UserError(
      "usage",
      `STARPOST_SMTP_${user === null ? "USER" : "PASSWORD"} is not set: user and password go together`,
      "Set both, or none of them.",
    );
  }
  const mode = tls === undefined ? undefined : readTlsMode(tls, "STARPOST_SMTP_TLS");
  const number = port === undefined ? undefined : readSmtpPort(port, "STARPOST_SMTP_PORT");
  return { host: readHost(host, "STARPOST_SMTP_HOST"), ...matchPort(number, mode), user, password };
}

/** Finds the port by the mode, or the mode by the port, where only one of them is said. */
export function matchPort(
  port: number | undefined,
  tls: TlsMode | undefined,
): { readonly port: number; readonly tls: TlsMode } {
  const mode = tls ?? (port === usualPorts.implicit ? "implicit" : usualMode);
  return { port: port ?? usualPorts[mode], tls: mode };
}

export function readHost(text: string, source: string): string {
  const host = text.trim();
  if (
    /^[\p{L}\p{N}](?:[\p{L}\p{N}._-]*[\p{L}\p{N}.])?$/u.test(host) ||
    /^[0-9a-f:.]*:[0-9a-f:.]*$/i.test(host)
  )
    return host;
  throw new UserError(
    "usage",
    `${source}: ${JSON.stringify(text)} is not the name of a machine`,
    "Give the name alone, such as smtp.shop.example; the port goes into --port.",
  );
}

export function readSmtpPort(text: string, source: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port > 0 && port <= 65_535) return port;
  throw new UserError("usage", `${source}: ${JSON.stringify(text)} is not a port from 1 to 65535`);
}

export function readTlsMode(text: string, source: string): TlsMode {
  const mode = tlsModes.find((name) => name === text);
  if (mode) return mode;
  throw new UserError("usage", `${source}: ${JSON.stringify(text)} is not one of ${tlsModes.join(", ")}`);
}

function fileOf({ configFolder }: Places): string {
  return join(configFolder, "mail.json");
}

/** What was configured on this machine, whatever the environment says. */
export async function readMailSettings(paths: Places): Promise<StoredMailSettings | undefined> {
  const path = fileOf(paths);
  const text = await readFileIfThere(path);
  if (text === undefined) return undefined;
  try {
    return parseSettings(text);
  } catch (error) {
    throw new UserError(
      "failed",
      `${path} cannot be read: ${error instanceof UserError ? error.message : "it is not what starpost wrote"}`,
      "Begin anew: starpost mail configure --outbox, then configure the mail server again.",
    );
  }
}

function parseSettings(text: string): StoredMailSettings {
  const { smtp, from } = JSON.parse(text) as {
    readonly smtp: Readonly<Record<keyof SmtpServer, unknown>> | null;
    readonly from: string | null;
  };
  const sender = from === null ? null : readSender(from, "from");
  if (smtp === null) return { smtp, from: sender };
  const user = asText(smtp.user);
  return {
    smtp: {
      host: readHost(String(smtp.host), "host"),
      port: readSmtpPort(String(smtp.port), "port"),
      tls: readTlsMode(String(smtp.tls), "tls"),
      user,
      password: user === null ? null : asText(smtp.password),
    },
    from: sender,
  };
}

function asText(value: unknown): string | null {
  if (value === null || typeof value === "string") return value;
  throw new TypeError("no text");
}

/** Replaces what was configured; the file is its owner's alone, since the password stands in it. */
export async function writeMailSettings(paths: Places, { smtp, from }: StoredMailSettings): Promise<void> {
  const kept = { smtp, from: from === null ? null : writeSender(from) };
  await writePrivateFile(fileOf(paths), `${JSON.stringify(kept, undefined, 2)}\n`);
}
