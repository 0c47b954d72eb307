import { type Check, ok, problem, warning } from "./check.ts";
import type { Io } from "../cli/program/io.ts";

/** The versions that starpost is tested on. */
const testedMajors: readonly number[] = [20, 22, 24];

/** Compares Node's version with what the package wants. */
export function checkNode({ version, wanted }: Io["node"]): Check {
  const name = "node";
  const own = readVersion(version);
  if (!satisfies(own, wanted)) {
    return problem(name, `Node ${version}, and ${wanted} is needed`, `Install Node ${testedMajors.at(-1)}.`);
  }
  const [major = 0] = own;
  if (testedMajors.includes(major)) return ok(name, `Node ${version}; ${wanted} is needed`);
  return warning(
    name,
    `Node ${version}: starpost is tested on ${testedMajors.join(", ")}, and not on it`,
    `Where something is odd, try Node ${testedMajors.at(-1)}.`,
  );
}

type Version = readonly number[];

function readVersion(text: string): Version {
  return (
    /(\d+)(?:\.(\d+))?(?:\.(\d+))?/
      .exec(text)
      ?.slice(1)
      .map((part) => Number(part ?? 0)) ?? []
  );
}

function compare(one: Version, other: Version): number {
  for (const at of [0, 1, 2]) {
    const difference = (one[at] ?? 0) - (other[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Of a range as `engines` has them: `>=20.19`, `^20.19 || >=22`. */
function satisfies(version: Version, range: string): boolean {
  return range.split("||").some((part) =>
    part
      .trim()
      .split(/\s+/)
      .every((comparator) => satisfiesOne(version, comparator)),
  );
}

function satisfiesOne(version: Version, comparator: string): boolean {
  const [, sign = "", text = ""] = /^(>=|<=|>|<|\^|~|=)?v?(.*)$/.exec(comparator) ?? [];
  const bound = readVersion(text);
  const difference = compare(version, bound);
  const isSame = (parts: number) => bound.slice(0, parts).every((part, at) => part === version[at]);
  const holds: Readonly<Record<string, boolean>> = {
    ">=": difference >= 0,
    "<=": difference <= 0,
    ">": difference > 0,
    "<": difference < 0,
    "^": difference >= 0 && isSame(1),
    "~": difference >= 0 && isSame(2),
  };
  return holds[sign] ?? isSame(text.split(".").length);
}
