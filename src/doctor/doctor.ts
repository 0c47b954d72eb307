import { readVariable } from "../config/environment.ts";
import type { Profile } from "../config/profile.ts";
import { type Check, type DoctorContext, failed, ok, problem, skipAll, skipped, warning } from "./check.ts";
import { checkCaCertificates, checkEnvironment } from "./environment-check.ts";
import { checkDisk, checkFolder, checkSecretFiles } from "./folder-checks.ts";
import { once } from "node:events";
import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { createServer } from "node:net";
import { codeOf } from "../config/user-error.ts";

/** The result of all checks, as printed by `starpost doctor --json`. */
export interface Diagnosis {
  /** Whether there are no problems. Warnings do not count. */
  readonly ok: boolean;
  readonly checks: readonly Check[];
}

type Found = Check | readonly Check[];

/** Checks that run together. If they throw or time out, each of `names` is reported as a problem. */
interface CheckGroup<Subject> {
  readonly names: readonly string[];
  readonly run: (context: DoctorContext, subject: Subject) => Found | Promise<Found>;
}

/** Checks of this machine, in output order. */
const machineChecks: readonly CheckGroup<undefined>[] = [
  { names: ["node"], run: ({ node }) => checkNode(node) },
  { names: ["environment"], run: ({ env }) => checkEnvironment(env) },
  { names: ["config-folder"], run: ({ paths }) => checkFolder("config-folder", paths.configFolder) },
  { names: ["data-folder"], run: ({ paths }) => checkFolder("data-folder", paths.dataFolder) },
  { names: ["secret-files"], run: ({ paths }) => checkSecretFiles(paths) },
  { names: ["disk"], run: ({ paths }) => checkDisk(paths.dataFolder) },
  {
    names: ["imports", "leftovers"],
    run: async (context) => (await import("./leftover-checks.ts")).checkLeftovers(context),
  },
  { names: ["certificates"], run: checkCaCertificates },
];

/** Checks of the profile's account, in output order. */
const accountChecks: readonly CheckGroup<Profile>[] = [
  {
    names: ["reachability"],
    run: async (context, profile) =>
      profile.mode === "local"
        ? (await import("./local/local-checks.ts")).checkLocalAccount(context, profile)
        : (await import("./remote/remote-checks.ts")).checkRemoteAccount(context, profile),
  },
  { names: ["mail"], run: checkEmail },
  { names: ["dkim"], run: checkDkim },
  { names: ["port"], run: ({ clock }, { mode }) => (mode === "local" ? checkPort(clock) : []) },
];

/** Extra time for checks that cannot be aborted, in milliseconds. */
const graceMs = 500;

/** Runs all checks. Changes nothing on this machine, and never throws because of a failed check. */
export async function runChecks(context: DoctorContext): Promise<Diagnosis> {
  const found = await Promise.all([runGroups(machineChecks, context, undefined), checkAccount(context)]);
  const checks = found.flat();
  return { ok: checks.every(({ status }) => status !== "problem"), checks };
}

/** Resolves the profile, then checks its account. Without a profile, the account cannot be checked. */
async function checkAccount(context: DoctorContext): Promise<readonly Check[]> {
  let profile: Profile | undefined;
  const profileCheck: CheckGroup<undefined> = {
    names: ["profile"],
    run: async () => {
      profile = await context.resolveProfile();
      return describeProfile(context, profile);
    },
  };
  const chosen = await runGroups([profileCheck], context, undefined);
  if (!profile) return [...chosen, ...skipAll(["reachability", "credentials"], "the profile is not valid")];
  return [...chosen, ...(await runGroups(accountChecks, context, profile))];
}

function describeProfile(context: DoctorContext, profile: Profile): Check {
  const target =
    profile.mode === "local" ? `database ${profile.shownAs}` : `${profile.baseUrl}, app key ${profile.appKey}`;
  return ok("profile", `${profile.name}: ${target} (${findProfileSource(context, profile)})`);
}

function findProfileSource({ profileFlag, env }: DoctorContext, { name, mode }: Profile): string {
  if (profileFlag !== undefined) return "from --profile";
  if (mode === "remote" && name === "env") {
    return "from STARPOST_BASE_URL, STARPOST_APP_KEY, and STARPOST_SECRET";
  }
  if (readVariable(env, "STARPOST_PROFILE") !== undefined) return "from STARPOST_PROFILE";
  return name === "local" ? "default" : "current profile";
}

async function runGroups<Subject>(
  groups: readonly CheckGroup<Subject>[],
  context: DoctorContext,
  subject: Subject,
): Promise<Check[]> {
  const found = await Promise.all(
    groups.map(({ names, run }) => withTimeout(names, context.timeoutMs + graceMs, async () => run(context, subject))),
  );
  return found.flat();
}

async function withTimeout(names: readonly string[], timeoutMs: number, run: () => Promise<Found>): Promise<Found> {
  let timer: NodeJS.Timeout | undefined;
  const timedOut = new Promise<Found>((resolve) => {
    timer = setTimeout(() => resolve(names.map((name) => reportTimeout(name, timeoutMs))), timeoutMs);
  });
  try {
    return await Promise.race([run(), timedOut]);
  } catch (error) {
    return names.map((name) => failed(name, error, "Run `starpost doctor --verbose` for details."));
  } finally {
    clearTimeout(timer);
  }
}

function reportTimeout(name: string, timeoutMs: number): Check {
  const seconds = Number((timeoutMs / 1_000).toFixed(1));
  return problem(
    name,
    `timed out after ${seconds} s`,
    "Check that the disk and the network respond, or allow more time with --timeout.",
  );
}

/** The major versions that starpost is tested on. */
const testedMajors: readonly number[] = [20, 22, 24, 26];

/** Checks the version of Node.js against the range in `engines` of package.json, which names the oldest: `>=20.19`. */
export function checkNode({ version, required }: DoctorContext["node"]): Check {
  const [running, oldest] = [version, required].map((text) => (text.match(/\d+/g) ?? []).map(Number));
  const differs = oldest?.findIndex((part, at) => part !== running?.[at]) ?? -1;
  const [major = 0] = running ?? [];
  if (differs !== -1 && (running?.[differs] ?? 0) < (oldest?.[differs] ?? 0)) {
    return problem("node", `Node ${version} (requires ${required})`, `Install Node ${testedMajors.at(-1)}.`);
  }
  if (testedMajors.includes(major)) return ok("node", `Node ${version} (requires ${required})`);
  return warning(
    "node",
    `Node ${version} is not a tested version (tested: ${testedMajors.join(", ")})`,
    `If you run into problems, try Node ${testedMajors.at(-1)}.`,
  );
}

const configureEmail = "Run `starpost mail configure`.";

const setPublicUrl = "Set STARPOST_PUBLIC_URL to the address at which recipients reach the service.";

/** Checks the configured email transport. Does not create the outbox folder. */
async function checkEmail(context: Pick<DoctorContext, "env" | "paths" | "checkEmail">): Promise<Check> {
  const { findEmailSettings } = await import("../config/email-settings.ts");
  try {
    const { smtp, outboxFolder } = await findEmailSettings(context.env, context.paths);
    if (!smtp) return await checkOutboxFolder(outboxFolder);
    const { findLinkProblem } = await import("../config/public-url.ts");
    const { findPublicUrl } = await import("../config/public-url.ts");
    const links = findLinkProblem(findPublicUrl(context.env), smtp.host);
    if (links) return problem("mail", links.message, setPublicUrl);
    const server = `${smtp.host}:${smtp.port}`;
    const result = await context.checkEmail();
    return result.ready
      ? ok("mail", `${server} accepts emails`)
      : problem("mail", `${server}: ${result.problem}`, configureEmail);
  } catch (error) {
    return failed("mail", error, configureEmail);
  }
}

/** Checks whether DNS has the key with which emails are signed. */
async function checkDkim(context: Pick<DoctorContext, "checkDkim">): Promise<Check> {
  try {
    const found = await context.checkDkim();
    if (!found) return skipped("dkim", "emails are not signed; to create a key, run `starpost mail dkim create`");
    if (found.problem === null) return ok("dkim", `DNS has the key ${found.name}`);
    return warning("dkim", found.problem, "Run `starpost mail dkim check`, which prints the record.");
  } catch (error) {
    return failed("dkim", error, "Run `starpost mail dkim check`.");
  }
}

/** Checks whether `starpost serve` can listen on its default port. */
async function checkPort(clock: () => number): Promise<Check> {
  const { defaultPublicUrl } = await import("../config/public-url.ts");
  const { port, hostname, origin } = new URL(defaultPublicUrl);
  const server = createServer();
  try {
    await once(server.listen(Number(port), hostname), "listening");
    return ok("port", `port ${port} is free for \`starpost serve\``);
  } catch (error) {
    if (codeOf(error) !== "EADDRINUSE") return failed("port", error, usePort);
  } finally {
    server.close();
  }
  const { createHttpTransport } = await import("../client/http-transport.ts");
  const limits = { ratePerSecond: 0, maxAttempts: 1, maxRetryMs: 0, requestTimeoutMs: 1_000 };
  const transport = createHttpTransport({ baseUrl: origin, clock, ...limits });
  const isHealthy = await transport.send({ method: "GET", target: "/healthz", headers: {}, effect: "read" }).then(
    ({ bytes }) => bytes.toString() === JSON.stringify({ status: "ok" }),
    () => false,
  );
  await transport.close();
  if (isHealthy) return ok("port", `a server answers on port ${port}`);
  return warning(
    "port",
    `port ${port} is in use, and nothing answers there as \`starpost serve\` without TLS does`,
    usePort,
  );
}

const usePort = "If another program uses it, pass --port to `starpost serve`.";

async function checkOutboxFolder(folder: string): Promise<Check> {
  const target = `emails are written to ${folder} and not sent`;
  try {
    await access(folder, constants.W_OK | constants.X_OK);
    return ok("mail", target);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return ok("mail", `${target} (folder created on first use)`);
    return problem("mail", `cannot write to ${folder}: ${(error as Error).message}`, `chmod 700 '${folder}'`);
  }
}
