import type { Paths } from "../config/paths.ts";
import type { Profile } from "../config/profile.ts";
import { type Check, skipped } from "./check.ts";
import type { Context } from "../cli/program/context.ts";
import { checkEnvironment } from "./environment-check.ts";
import { createGuard, type Guard } from "./guard.ts";
import { checkNode } from "./node-check.ts";

/** How all stands, as scripts see it. */
export interface Diagnosis {
  /** Whether there is no problem; warnings are none. */
  readonly ok: boolean;
  readonly checks: readonly Check[];
}

/** What is given beyond the time allowed to what cannot be broken off, milliseconds. */
const graceMs = 500;

/** Looks at everything that starpost needs here. Nothing is made, and nothing that fails ends it. */
export async function diagnose(context: Context, timeoutMs: number): Promise<Diagnosis> {
  const { io } = context;
  const guard = createGuard(timeoutMs + graceMs);
  const { paths } = await context.host();
  const found = await Promise.all([
    checkMachine(context, paths, guard),
    checkAccount(context, timeoutMs, guard),
  ]);
  const checks = [checkNode(io.node), checkEnvironment(io.env), ...found.flat()];
  return { ok: checks.every(({ status }) => status !== "problem"), checks };
}

async function checkMachine({ io }: Context, paths: Paths, guard: Guard): Promise<Check[]> {
  const folders = await import("./folder-checks.ts");
  const { checkLeftovers } = await import("./leftover-check.ts");
  const { checkCertificates } = await import("./certificate-check.ts");
  const one = (name: string, look: () => Promise<Check>) => guard([name], async () => [await look()]);
  const found = await Promise.all([
    one("config-folder", () => folders.checkFolder("config-folder", paths.configFolder)),
    one("data-folder", () => folders.checkFolder("data-folder", paths.dataFolder)),
    one("secret-files", () => folders.checkSecretFiles(paths)),
    one("disk", () => folders.checkDisk(paths.dataFolder)),
    guard(["imports", "leftovers"], () => checkLeftovers(paths, io.clock)),
    one("certificates", () => checkCertificates(io.env, io.cwd)),
  ]);
  return found.flat();
}

/** What depends on the profile: nothing of it is known where that cannot be read. */
async function checkAccount(context: Context, timeoutMs: number, guard: Guard): Promise<Check[]> {
  let profile: Profile | undefined;
  const chosen = await guard(["profile"], async () => {
    const { checkProfile } = await import("./profile-check.ts");
    profile = await context.profile();
    return [await checkProfile(context, profile)];
  });
  if (!profile) {
    const unknown = ["reachability", "credentials"].map((name) => skipped(name, "the profile is not known"));
    return [...chosen, ...unknown];
  }
  const found = await Promise.all([
    probeAccount(context, profile, { timeoutMs, guard }),
    checkMail(context, guard),
  ]);
  return [...chosen, ...found.flat()];
}

async function probeAccount(
  context: Context,
  profile: Profile,
  { timeoutMs, guard }: { readonly timeoutMs: number; readonly guard: Guard },
): Promise<readonly Check[]> {
  return guard(["reachability"], async () => {
    const { probe } = await context.io.loadApp();
    return probe({ ...(await context.host()), profile, timeoutMs });
  });
}

/** The way out of this machine's mails: a profile of a service elsewhere needs none. */
async function checkMail(context: Context, guard: Guard): Promise<readonly Check[]> {
  return guard(["mail"], async () => {
    const { checkMailWay } = await import("./email-check.ts");
    return [await checkMailWay(context.io, await context.host())];
  });
}
