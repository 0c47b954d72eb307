import type {
  FoundMailSettings,
  SmtpServer,
  StoredMailSettings,
  TlsMode,
} from "../../../config/mail-settings.ts";
import { type MailSender, writeSender } from "../../../config/mail-address.ts";
import { UserError } from "../../../config/user-error.ts";
import { readVariable } from "../../../config/environment.ts";
import type { Context } from "../../program/context.ts";
import { findPassword } from "./smtp-password.ts";
import { canPrompt } from "../../program/prompt.ts";
import { findLocalProfile } from "../serve/server-run.ts";

export interface MailConfigureRequest {
  readonly host: string | undefined;
  readonly port: number | undefined;
  readonly tls: TlsMode | undefined;
  readonly user: string | undefined;
  readonly hasNoUser: boolean;
  readonly from: MailSender | undefined;
  readonly isPasswordOnStdin: boolean;
  readonly isOutbox: boolean;
  readonly isShow: boolean;
  readonly isCheck: boolean;
}

/** How this machine sends mails, as scripts see it; never the password. */
export interface MailConfiguration {
  readonly kind: "smtp" | "outbox";
  /** What says so. */
  readonly configured_by: FoundMailSettings["configuredBy"];
  readonly host: string | null;
  readonly port: number | null;
  readonly tls: TlsMode | null;
  readonly user: string | null;
  readonly has_password: boolean;
  readonly from: string | null;
  readonly outbox_folder: string | null;
  /** Whether a mail would be taken now; null where nobody asked. */
  readonly ready: boolean | null;
  readonly problem: string | null;
}

/**
 * Changes how this machine sends mails, tells it, or tries it.
 * @throws UserError `usage` for a remote profile, and for what does not go together
 */
export async function configureMail(
  context: Context,
  request: MailConfigureRequest,
): Promise<MailConfiguration> {
  await findLocalProfile(context, "is mailed from here");
  checkRequest(request);
  const { findMailSettings, readMailSettings, writeMailSettings } =
    await import("../../../config/mail-settings.ts");
  const { paths, env } = await context.host();
  const changes = await readChanges(context, request, async () => (await readMailSettings(paths)) ?? nothing);
  if (changes) await writeMailSettings(paths, changes);
  const found = await findMailSettings(env, paths);
  if (changes) tellChange(context, found);
  const trial = request.isCheck ? await tryIt(context) : { ready: null, problem: null };
  return { ...describe(found), ...trial };
}

const nothing: StoredMailSettings = { smtp: null, from: null };

function checkRequest(request: MailConfigureRequest): void {
  const { isOutbox, isShow, hasNoUser, isPasswordOnStdin } = request;
  const isServer = namesServer(request);
  if (isOutbox && isServer) throw wrong("--outbox goes without a mail server's flags");
  if (isShow && (isOutbox || isServer || request.from))
    throw wrong("--show changes nothing, and goes with no other flag but --check");
  if (hasNoUser && isPasswordOnStdin) throw wrong("--no-user goes without a password");
}

function namesServer({ host, port, tls, user, hasNoUser, isPasswordOnStdin }: MailConfigureRequest): boolean {
  return hasNoUser || isPasswordOnStdin || [host, port, tls, user].some((value) => value !== undefined);
}

function wrong(message: string): UserError {
  return new UserError("usage", message, "See `starpost mail configure --help`.");
}

/** What is to be stored; nothing where nothing is to change. */
async function readChanges(
  context: Context,
  request: MailConfigureRequest,
  read: () => Promise<StoredMailSettings>,
): Promise<StoredMailSettings | undefined> {
  if (request.isOutbox) return { smtp: null, from: request.from ?? (await read().catch(() => nothing)).from };
  if (namesServer(request) || request.from) return applyFlags(context, request, await read());
  if (request.isShow || request.isCheck || !canPrompt(context)) return undefined;
  const { askForAll } = await import("./configure-prompts.ts");
  return askForAll(context, await read());
}

/** What is not given stays as it was. */
async function applyFlags(
  context: Context,
  request: MailConfigureRequest,
  stored: StoredMailSettings,
): Promise<StoredMailSettings> {
  const from = request.from ?? stored.from;
  if (!namesServer(request)) return { ...stored, from };
  const { matchPort, usualPorts } = await import("../../../config/mail-settings.ts");
  const host = request.host ?? stored.smtp?.host;
  if (host === undefined) throw wrong("--host is missing");
  if (from === null) throw wrong("--from is missing: who mails come from");
  const isSaid = request.port !== undefined || request.tls !== undefined;
  const known = request.host === undefined || request.host === stored.smtp?.host ? stored.smtp : null;
  const { port, tls } =
    isSaid || !known
      ? matchPort(request.port, request.tls ?? keptMode(request.port, usualPorts.implicit, known))
      : known;
  const user = request.hasNoUser ? null : (request.user ?? known?.user ?? null);
  const password =
    user === null ? null : await findPassword(context, request.isPasswordOnStdin, { host, user, known });
  return { smtp: { host, port, tls, user, password }, from };
}

/** Another port of the same server means no other encryption, unless either port is that of implicit encryption. */
function keptMode(
  port: number | undefined,
  implicitPort: number,
  known: SmtpServer | null,
): TlsMode | undefined {
  if (port === undefined || port === implicitPort || !known || known.tls === "implicit") return undefined;
  return known.tls;
}

function tellChange(
  { messages, io }: Context,
  { smtp, configuredBy, outboxFolder }: FoundMailSettings,
): void {
  if (readVariable(io.env, "STARPOST_SMTP_HOST") !== undefined && configuredBy === "environment") {
    messages.warn("This is stored, and not used as long as STARPOST_SMTP_HOST is set.");
    return;
  }
  if (!smtp) {
    messages.info(`Mails go into the folder ${outboxFolder}; nothing leaves this machine.`);
    return;
  }
  messages.info(`Mails go to ${smtp.host}:${smtp.port}. Try it: starpost mail configure --check.`);
  if (smtp.tls === "none") {
    messages.warn(
      `Mails go there NOT encrypted: whoever is on the way reads them${smtp.password === null ? "" : ", and the password with them"}.`,
    );
  }
  if (smtp.tls === "opportunistic") {
    messages.warn(
      "Mails go there encrypted only where the server offers it, and whoever answers in its name is believed.",
    );
  }
}

async function tryIt(context: Context): Promise<Pick<MailConfiguration, "ready" | "problem">> {
  const { checkMail } = await context.io.loadApp();
  const checked = await checkMail(await context.host());
  return checked.ready ? { ready: true, problem: null } : checked;
}

function describe(found: FoundMailSettings): Omit<MailConfiguration, "ready" | "problem"> {
  const { smtp, from, configuredBy, outboxFolder } = found;
  return {
    kind: smtp ? "smtp" : "outbox",
    configured_by: configuredBy,
    host: smtp?.host ?? null,
    port: smtp?.port ?? null,
    tls: smtp?.tls ?? null,
    user: smtp?.user ?? null,
    has_password: (smtp?.password ?? null) !== null,
    from: from && writeSender(from),
    outbox_folder: smtp ? null : outboxFolder,
  };
}
