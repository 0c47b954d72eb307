import { describeChaosPlan } from "../../../config/chaos-plan.ts";
import { usageError } from "../../../config/user-error.ts";
import { hasAdHocProfile, isDatabaseServer, type LocalProfile, localProfile } from "../../../config/profile.ts";
import { toJson } from "../../../terminal/render.ts";
import { countOf } from "../../../terminal/plural.ts";
import type { ChaosCounts, ServeOptions, SignUpState } from "../../../app/ports.ts";
import type { SignalName } from "../../program/io.ts";
import type { Context } from "../../program/context.ts";
import { createAnnouncer } from "../../program/output/messages.ts";
import { isForScripts } from "../../program/global-flags.ts";
import { listenForStop } from "../../program/stop-signals.ts";

/** Serves the local database until a signal arrives, then finishes requests in flight. */
export async function runServer(context: Context, options: ServeOptions): Promise<void> {
  const { io, messages, globals } = context;
  const profile = await findLocalProfile(context, "can be served");
  const { startServer } = await io.loadApp();
  const logLevel = globals.quiet ? "error" : globals.verbose ? "debug" : "info";
  let stop = () => {};
  const stopped = new Promise<void>((resolve) => (stop = resolve));
  // A terminal that closes sends SIGHUP; elsewhere, it requests a reload.
  const reloads = !io.isStderrTerminal;
  const stopNames: readonly SignalName[] = reloads ? ["SIGINT", "SIGTERM"] : ["SIGINT", "SIGTERM", "SIGHUP"];
  const signals = listenForStop(io, { onStop: () => stop(), isUnlimited: true, signals: stopNames });
  let reload = () => {};
  const onHangUp = () => reload();
  if (reloads) io.signals.on("SIGHUP", onHangUp);
  const announce = createAnnouncer(context);
  try {
    const host = await context.host();
    const { version, stderr: log } = io;
    const server = await startServer({ ...host, ...options, version, profile, logLevel, log });
    reload = () => {
      server.reopenLog();
      void server.reload();
    };
    const database = `${isDatabaseServer(profile) ? "PostgreSQL" : "embedded"} database ${profile.shownAs}`;
    announce(`Serving the ${database} at ${server.url} (app key ${server.appKey})`);
    if (server.metricsUrl !== undefined) announce(`Serving metrics at ${server.metricsUrl}/metrics`);
    announce(signUpMessages[server.signUp]);
    if (server.emailTarget !== undefined) announce(`Sending due emails to ${server.emailTarget}.`);
    if (server.emailProblem) {
      const { message, hint } = server.emailProblem;
      announce(`${message.charAt(0).toUpperCase()}${message.slice(1)}. ${hint}`);
    }
    if (server.localLinks !== undefined) {
      announce(
        `Links in emails and pages point to ${server.localLinks}. To make them work for recipients, use --public-url <url>.`,
      );
    }
    if (server.mixesClients) {
      announce(
        "All clients behind a reverse proxy share one limit. To limit each client, use --trust-proxy <address>.",
      );
    }
    if (options.chaos) {
      announce(
        `Injecting faults (--chaos): ${describeChaosPlan(options.chaos)}. Do not use this server in production.`,
      );
    }
    messages.flush();
    if (isForScripts(globals.format)) {
      const { url, metricsUrl } = server;
      io.stdout.write(
        toJson({ event: "listening", url, ...(metricsUrl !== undefined && { metrics_url: metricsUrl }) }),
      );
    }
    await stopped;
    await server.close();
    if (server.chaosCounts) reportChaos(context, server.chaosCounts());
  } finally {
    signals.release();
    io.signals.off("SIGHUP", onHangUp);
  }
}

/** Who may create accounts with `POST /users`. */
const signUpMessages: Readonly<Record<SignUpState, string>> = {
  local: "Sign-up is open to this machine. It closes if the server listens on another address or has a public URL.",
  open: "Sign-up is open to anyone who can reach the server (--allow-signup).",
  closed:
    "Sign-up is closed. To add an account, run `starpost account create` or `starpost account invite`; " +
    "to let anyone create an account, use --allow-signup.",
};

function reportChaos(context: Context, counts: ChaosCounts): void {
  const { io, messages, globals } = context;
  const faults = Object.entries(counts.faults)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${name} ${count}`);
  createAnnouncer(context)(
    `Chaos: ${countOf(counts.calls, "call")}, ${counts.spared} without faults${faults.length > 0 ? `; ${faults.join(", ")}` : ""}`,
  );
  messages.flush();
  if (isForScripts(globals.format)) io.stdout.write(toJson({ event: "chaos", ...counts }));
}

/**
 * Finds the local profile. If the current profile is remote, it is the embedded database; a named profile must be local.
 * @throws UserError `usage`
 */
export async function findLocalProfile(context: Context, verb: string): Promise<LocalProfile> {
  const isNamed = context.globals.profile !== undefined;
  if (isNamed || !hasAdHocProfile(context.io.env)) {
    const profile = await context.profile();
    if (profile.mode === "local") return profile;
    if (isNamed) {
      throw usageError(`profile ${profile.name} is remote; only a local profile ${verb}`, "Use --profile local.");
    }
  }
  return localProfile(await context.profileSources());
}
