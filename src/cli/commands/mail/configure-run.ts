import {
  completePort,
  defaultPorts,
  type EmailSender,
  type EmailSettings,
  findEmailSettings,
  formatSender,
  parseHost,
  parsePort,
  parseSender,
  parseTlsMode,
  readStoredEmailSettings,
  type SmtpServer,
  type StoredEmailSettings,
  type TlsMode,
  tlsModes,
  writeEmailSettings,
} from "../../../config/email-settings.ts";
import { type UserError, usageError } from "../../../config/user-error.ts";
import { readVariable } from "../../../config/environment.ts";
import type { Context } from "../../program/context.ts";
import { canPrompt, promptPassword, promptValue, readSecretLine } from "../../program/prompt.ts";
import { findLocalProfile } from "../serve/server-run.ts";

export interface MailConfigureFlags {
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly tls?: TlsMode | undefined;
  readonly user?: string | undefined;
  readonly "no-user"?: boolean | undefined;
  readonly from?: EmailSender | undefined;
  readonly "password-stdin"?: boolean | undefined;
  readonly outbox?: boolean | undefined;
  readonly show?: boolean | undefined;
  readonly check?: boolean | undefined;
}

/**
 * Changes, shows, or tests how this machine sends emails.
 * @throws UserError `usage` for a remote profile or missing flags
 */
export async function configureMail(context: Context, flags: MailConfigureFlags) {
  await findLocalProfile(context, "has mail settings on this machine");
  const { paths, env } = await context.host();
  const read = async () => (await readStoredEmailSettings(paths)) ?? emptySettings;
  const changes = await readChanges(context, flags, read);
  if (changes) {
    const { smtp } = changes;
    const target = smtp ? `Send emails through ${smtp.host}:${smtp.port}` : "Write emails to the outbox folder";
    await context.change(target, () => writeEmailSettings(paths, changes));
  }
  const found = await findEmailSettings(env, paths);
  if (changes) reportChange(context, found);
  // Null if it was not tested.
  const untested = { ready: null, problem: null };
  const tested = flags.check ? await (await context.io.loadApp()).checkEmail(await context.host()) : untested;
  return { ...describe(found), ...untested, ...tested };
}

const emptySettings: StoredEmailSettings = { smtp: null, from: null };

function namesServer({ host, port, tls, user, "no-user": noUser, "password-stdin": stdin }: MailConfigureFlags) {
  return [host, port, tls, user, noUser, stdin].some((value) => value !== undefined);
}

function missing(flag: string): UserError {
  return usageError(`required flag ${flag} not set`, "See `starpost mail configure --help`.");
}

/** The settings to store, or undefined if nothing changes. */
async function readChanges(
  context: Context,
  flags: MailConfigureFlags,
  read: () => Promise<StoredEmailSettings>,
): Promise<StoredEmailSettings | undefined> {
  if (flags.outbox) return { smtp: null, from: flags.from ?? (await read().catch(() => emptySettings)).from };
  if (namesServer(flags) || flags.from) return applyFlags(context, flags, await read());
  if (flags.show || flags.check || !canPrompt(context)) return undefined;
  return promptSettings(context, await read());
}

/** Applies flags to the stored settings; settings without a flag keep their value. */
async function applyFlags(
  context: Context,
  flags: MailConfigureFlags,
  stored: StoredEmailSettings,
): Promise<StoredEmailSettings> {
  const from = flags.from ?? stored.from;
  if (!namesServer(flags)) return { ...stored, from };
  const host = flags.host ?? stored.smtp?.host;
  if (host === undefined) throw missing("--host");
  if (from === null) throw missing("--from");
  const isGiven = flags.port !== undefined || flags.tls !== undefined;
  const known = flags.host === undefined || flags.host === stored.smtp?.host ? stored.smtp : null;
  const { port, tls } =
    isGiven || !known
      ? completePort(flags.port, flags.tls ?? findTlsMode(flags.port, defaultPorts.implicit, known))
      : known;
  const user = flags["no-user"] ? null : (flags.user ?? known?.user ?? null);
  const isOnStdin = flags["password-stdin"] ?? false;
  const password = user === null ? null : await findPassword(context, isOnStdin, host, user, known);
  return { smtp: { host, port, tls, user, password }, from };
}

/** Another port of the same server keeps the encryption, unless either port is the one for implicit encryption. */
function findTlsMode(port: number | undefined, implicitPort: number, known: SmtpServer | null): TlsMode | undefined {
  if (port === undefined || port === implicitPort || !known || known.tls === "implicit") return undefined;
  return known.tls;
}

function reportChange({ messages, io }: Context, { smtp, configuredBy, outboxFolder }: EmailSettings): void {
  if (readVariable(io.env, "STARPOST_SMTP_HOST") !== undefined && configuredBy === "environment") {
    messages.warn("Saved, but not used while STARPOST_SMTP_HOST is set.");
    return;
  }
  if (!smtp) {
    messages.info(`Emails are written to ${outboxFolder} and not sent.`);
    return;
  }
  messages.info(
    `Emails are sent through ${smtp.host}:${smtp.port}. To test the connection, run \`starpost mail configure --check\`.`,
  );
  if (smtp.tls === "none") {
    messages.warn(
      `The connection is not encrypted: anyone on the network path can read emails${smtp.password === null ? "" : " and the password"}.`,
    );
  }
  if (smtp.tls === "opportunistic") {
    messages.warn(
      "The connection is encrypted only if the server offers it, and the server certificate is not verified.",
    );
  }
}

/** The settings as they are printed, without the password. */
function describe(found: EmailSettings) {
  const { smtp, from, configuredBy, outboxFolder } = found;
  return {
    kind: smtp ? ("smtp" as const) : ("outbox" as const),
    configured_by: configuredBy,
    host: smtp?.host ?? null,
    port: smtp?.port ?? null,
    tls: smtp?.tls ?? null,
    user: smtp?.user ?? null,
    has_password: (smtp?.password ?? null) !== null,
    from: from && formatSender(from),
    outbox_folder: smtp ? null : outboxFolder,
  };
}

/** Prompts for every setting. The stored value is the default; invalid answers are rejected and prompted for again. */
async function promptSettings(context: Context, stored: StoredEmailSettings): Promise<StoredEmailSettings> {
  const promptFor = <T>(question: string, usual: string, read: (answer: string) => T) =>
    promptValue(context, { question, usual }, read);
  const { smtp } = stored;
  const host = await promptFor("Mail server", smtp?.host ?? "", (text) => parseHost(text, "the mail server"));
  const known = host === smtp?.host ? smtp : null;
  const tls = await promptFor(
    `Encryption: ${tlsModes.join(", ")}`,
    known?.tls ?? completePort(undefined, undefined).tls,
    (text) => parseTlsMode(text, "the encryption"),
  );
  const port = await promptFor(
    "Port",
    String(known?.tls === tls ? known.port : completePort(undefined, tls).port),
    (text) => parsePort(text, "the port"),
  );
  const user = await promptFor("User name, or - for no authentication", known?.user ?? "-", (text) =>
    text === "-" ? null : text,
  );
  const password = user === null ? null : await findPassword(context, false, host, user, known);
  const from = await promptFor(
    'Sender, such as "Tea & Cups <reviews@shop.example>"',
    stored.from ? formatSender(stored.from) : "",
    (text) => parseSender(text, "the sender"),
  );
  return { smtp: { host, port, tls, user, password }, from };
}

/**
 * Finds the password: standard input, environment, stored settings, or a prompt. A stored password is only used for the
 * server and user that it was stored for.
 * @param known the stored settings of the same server
 * @throws UserError `usage`, `interrupted`
 */
async function findPassword(
  context: Context,
  isOnStdin: boolean,
  host: string,
  user: string,
  known: SmtpServer | null,
): Promise<string> {
  if (isOnStdin) return readSecretLine(context.io.stdin, "password");
  const given = readVariable(context.io.env, "STARPOST_SMTP_PASSWORD");
  if (given !== undefined) return given;
  if (known?.user === user && known.password !== null) return known.password;
  return promptPassword(context, `the password of ${user}`, {
    question: `Password for ${user} at ${host}`,
    hint: "Pass it on standard input with --password-stdin, or set STARPOST_SMTP_PASSWORD.",
  });
}
