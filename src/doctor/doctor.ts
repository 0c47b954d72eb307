import { readVariable } from "../config/environment.ts";
import type { Profile } from "../config/profile.ts";
import { type Check, type DoctorContext, failed, ok, problem, skipAll, warning } from "./check.ts";
import { checkEnvironment } from "./environment-check.ts";

/** The result of all checks, as printed by `starpost doctor --json`. */
export interface Diagnosis {
  /** Whether there are no problems. Warnings do not count. */
  readonly ok: boolean;
  readonly checks: readonly Check[];
}

/** Checks that run together. If they throw or time out, each of `names` is reported as a problem. */
interface CheckGroup<Subject> {
  readonly names: readonly string[];
  readonly run: (context: DoctorContext, subject: Subject) => Promise<readonly Check[]> | readonly Check[];
}

/** Checks of this machine, in output order. */
const machineChecks: readonly CheckGroup<undefined>[] = [
  { names: ["node"], run: ({ node }) => [checkNode(node)] },
  { names: ["environment"], run: ({ env }) => [checkEnvironment(env)] },
  {
    names: ["config-folder"],
    run: async ({ paths }) => {
      const { checkFolder } = await import("./folder-checks.ts");
      return [await checkFolder("config-folder", paths.configFolder)];
    },
  },
  {
    names: ["data-folder"],
    run: async ({ paths }) => {
      const { checkFolder } = await import("./folder-checks.ts");
      return [await checkFolder("data-folder", paths.dataFolder)];
    },
  },
  {
    names: ["secret-files"],
    run: async ({ paths }) => [await (await import("./folder-checks.ts")).checkSecretFiles(paths)],
  },
  {
    names: ["disk"],
    run: async ({ paths }) => [await (await import("./folder-checks.ts")).checkDisk(paths.dataFolder)],
  },
  {
    names: ["imports", "leftovers"],
    run: async (context) => (await import("./leftover-checks.ts")).checkLeftovers(context),
  },
  {
    names: ["certificates"],
    run: async (context) => [await (await import("./ca-certificates-check.ts")).checkCaCertificates(context)],
  },
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
  { names: ["mail"], run: async (context) => [await (await import("./email-check.ts")).checkEmail(context)] },
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
      return [describeProfile(context, profile)];
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

async function withTimeout(
  names: readonly string[],
  timeoutMs: number,
  run: () => Promise<readonly Check[]>,
): Promise<readonly Check[]> {
  let timer: NodeJS.Timeout | undefined;
  const timedOut = new Promise<readonly Check[]>((resolve) => {
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
const testedMajors: readonly number[] = [20, 22, 24];

/** Checks the version of Node.js against the range in `engines` of package.json. */
export function checkNode({ version, required }: DoctorContext["node"]): Check {
  const name = "node";
  const running = parseVersion(version);
  if (!satisfies(running, required)) {
    return problem(name, `Node ${version} (requires ${required})`, `Install Node ${testedMajors.at(-1)}.`);
  }
  const [major = 0] = running;
  if (testedMajors.includes(major)) return ok(name, `Node ${version} (requires ${required})`);
  return warning(
    name,
    `Node ${version} is not a tested version (tested: ${testedMajors.join(", ")})`,
    `If you run into problems, try Node ${testedMajors.at(-1)}.`,
  );
}

type Version = readonly number[];

function parseVersion(text: string): Version {
  return (
    /(\d+)(?:\.(\d+))?(?:\.(\d+))?/
      .exec(text)
      ?.slice(1)
      .map((part) => Number(part ?? 0)) ?? []
  );
}

function compare(a: Version, b: Version): number {
  for (const index of [0, 1, 2]) {
    const difference = (a[index] ?? 0) - (b[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Whether a version is in a range such as `>=20.19` or `^20.19 || >=22`. */
function satisfies(version: Version, range: string): boolean {
  return range.split("||").some((part) =>
    part
      .trim()
      .split(/\s+/)
      .every((comparator) => satisfiesComparator(version, comparator)),
  );
}

function satisfiesComparator(version: Version, comparator: string): boolean {
  const [, operator = "", text = ""] = /^(>=|<=|>|<|\^|~|=)?v?(.*)$/.exec(comparator) ?? [];
  const bound = parseVersion(text);
  const difference = compare(version, bound);
  const isSame = (parts: number) => bound.slice(0, parts).every((part, index) => part === version[index]);
  const results: Readonly<Record<string, boolean>> = {
    ">=": difference >= 0,
    "<=": difference <= 0,
    ">": difference > 0,
    "<": difference < 0,
    "^": difference >= 0 && isSame(1),
    "~": difference >= 0 && isSame(2),
  };
  return results[operator] ?? isSame(text.split(".").length);
}
