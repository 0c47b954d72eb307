import { type Check, ok, problem, warning } from "./check.ts";
import type { DoctorContext } from "./doctor-context.ts";

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
