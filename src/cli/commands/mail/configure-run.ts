import {
  type EmailSettings,
  type SmtpServer,
  type StoredEmailSettings,
  type TlsMode,
  type EmailSender,
  formatSender,
} from "../../../config/email-settings.ts";
import { type UserError, usageError } from "../../../config/user-error.ts";
import { readVariable } from "../../../config/environment.ts";
import type { Context } from "../../program/context.ts";
import { findPassword, promptSettings } from "./configure-prompts.ts";
import { canPrompt } from "../../program/prompt.ts";
import { findLocalProfile } from "../serve/server-run.ts";

export interface MailConfigureRequest {
  readonly host: string | undefined;
  readonly port: number | undefined;
  readonly tls: TlsMode | undefined;
  readonly user: string | undefined;
  readonly hasNoUser: boolean;
  readonly from: EmailSender | undefined;
  readonly isPasswordOnStdin: boolean;
  readonly isOutbox: boolean;
  readonly isShow: boolean;
  readonly isCheck: boolean;
}

/** How this machine sends emails; never includes the password. */
export interface MailConfiguration {
  readonly kind: "smtp" | "outbox";
  /** Where the configuration comes from. */
  readonly configured_by: EmailSettings["configuredBy"];
  readonly host: string | null;
  readonly port: number | null;
  readonly tls: TlsMode | null;
  readonly user: string | null;
  readonly has_password: boolean;
  readonly from: string | null;
  readonly outbox_folder: string | null;
  /** Whether the mail server accepts emails; null if it was not tested. */
  readonly ready: boolean | null;
  readonly problem: string | null;
}

/**
 * Changes, shows, or tests how this machine sends emails.
 * @throws UserError `usage` for a remote profile or missing flags
 */
export async function configureMail(context: Context, request: MailConfigureRequest): Promise<MailConfiguration> {
  await findLocalProfile(context, "has mail settings on this machine");
  const { findEmailSettings, readStoredEmailSettings, writeEmailSettings } =
    await import("../../../config/email-settings.ts");
  const { paths, env } = await context.host();
  const changes = await readChanges(
    context,
    request,
    async () => (await readStoredEmailSettings(paths)) ?? emptySettings,
  );
  if (changes) {
    const { smtp } = changes;
    const target = smtp ? `Send emails through ${smtp.host}:${smtp.port}` : "Write emails to the outbox folder";
    await context.change(target, () => writeEmailSettings(paths, changes));
  }
  const found = await findEmailSettings(env, paths);
  if (changes) reportChange(context, found);
  const test = request.isCheck ? await testDelivery(context) : { ready: null, problem: null };
  return { ...describe(found), ...test };
}

const emptySettings: StoredEmailSettings = { smtp: null, from: null };

function namesServer({ host, port, tls, user, hasNoUser, isPasswordOnStdin }: MailConfigureRequest): boolean {
  return hasNoUser || isPasswordOnStdin || [host, port, tls, user].some((value) => value !== undefined);
}

function missing(flag: string): UserError {
  return usageError(`required flag ${flag} not set`, "See `starpost mail configure --help`.");
}

/** The settings to store, or undefined if nothing changes. */
async function readChanges(
  context: Context,
  request: MailConfigureRequest,
  read: () => Promise<StoredEmailSettings>,
): Promise<StoredEmailSettings | undefined> {
  if (request.isOutbox) return { smtp: null, from: request.from ?? (await read().catch(() => emptySettings)).from };
  if (namesServer(request) || request.from) return applyFlags(context, request, await read());
  if (request.isShow || request.isCheck || !canPrompt(context)) return undefined;
  return promptSettings(context, await read());
}

/** Applies flags to the stored settings; settings without a flag keep their value. */
async function applyFlags(
  context: Context,
  request: MailConfigureRequest,
  stored: StoredEmailSettings,
): Promise<StoredEmailSettings> {
  const from = request.from ?? stored.from;
  if (!namesServer(request)) return { ...stored, from };
  const { completePort, defaultPorts } = await import("../../../config/email-settings.ts");
  const host = request.host ?? stored.smtp?.host;
  if (host === undefined) throw missing("--host");
  if (from === null) throw missing("--from");
  const isGiven = request.port !== undefined || request.tls !== undefined;
  const known = request.host === undefined || request.host === stored.smtp?.host ? stored.smtp : null;
  const { port, tls } =
    isGiven || !known
      ? completePort(request.port, request.tls ?? findTlsMode(request.port, defaultPorts.implicit, known))
      : known;
  const user = request.hasNoUser ? null : (request.user ?? known?.user ?? null);
  const password = user === null ? null : await findPassword(context, request.isPasswordOnStdin, { host, user, known });
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

async function testDelivery(context: Context): Promise<Pick<MailConfiguration, "ready" | "problem">> {
  const { checkEmail } = await context.io.loadApp();
  const result = await checkEmail(await context.host());
  return result.ready ? { ready: true, problem: null } : result;
}

function describe(found: EmailSettings): Omit<MailConfiguration, "ready" | "problem"> {
  const { smtp, from, configuredBy, outboxFolder } = found;
  return {
    kind: smtp ? "smtp" : "outbox",
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
