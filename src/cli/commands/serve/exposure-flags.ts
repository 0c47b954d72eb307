import { isIP } from "node:net";
import {
  type PublicLimit,
  type PublicLimitName,
  type PublicLimits,
  publicLimits,
} from "../../../contract/http-limits.ts";
import { type Environment, readVariable } from "../../../config/environment.ts";
import { invalidValue, usageError } from "../../../config/user-error.ts";

const syntax = `Use on, off, or limits as <name>=<calls at once>/<calls per hour>, <name>=<calls>/day, or <name>=off, with commas between (connections-per-client=<number>). Names: ${Object.keys(publicLimits).join(", ")}.`;

/**
 * Parses limits of public calls: `on`, `off`, or changes of the defaults such as `votes-per-client=100/600`.
 * @throws UserError `usage`
 */
export function readPublicLimits(text: string, source: string): PublicLimits {
  if (text === "on") return publicLimits;
  if (text === "off") return {};
  const changed: Partial<Record<PublicLimitName, PublicLimit | undefined>> = { ...publicLimits };
  for (const part of text.split(",")) {
    const invalid = (reason: string) => usageError(`invalid value "${part.trim()}" for ${source}: ${reason}`, syntax);
    const [, name = "", value = ""] = /^\s*([\w-]+)=(\S+)\s*$/.exec(part) ?? [];
    if (!isLimitName(name)) throw invalid("unknown limit");
    const size = value === "off" ? undefined : readLimit(name, value);
    if (value !== "off" && !size) throw invalid(`must be ${describeSyntax(name)}, or off`);
    changed[name] = size;
  }
  return Object.fromEntries(Object.entries(changed).filter(([, size]) => size !== undefined));
}

/** Whether a limit is a number of things that a client holds at once. */
function isHeld(name: PublicLimitName): boolean {
  const limit: PublicLimit = publicLimits[name];
  return "burst" in limit && limit.perHour === 0;
}

/** Whether a limit is a number of calls, of which some can be allowed per day. */
function isOfCalls(name: PublicLimitName): boolean {
  return !isHeld(name) && name !== "cpu-ms-per-client";
}

function describeSyntax(name: PublicLimitName): string {
  if (isHeld(name)) return "an integer from 1 to 999999";
  return `two integers from 1 to 999999${isOfCalls(name) ? ", an integer from 1 to 99 and /day" : ""}`;
}

/** @returns undefined if the value is invalid */
function readLimit(name: PublicLimitName, value: string): PublicLimit | undefined {
  const [, burst, perHour] = /^([1-9]\d{0,5})(?:\/([1-9]\d{0,5}))?$/.exec(value) ?? [];
  if (burst !== undefined && isHeld(name) === (perHour === undefined))
    return { burst: Number(burst), perHour: Number(perHour ?? 0) };
  const [, perDay] = /^([1-9]\d?)\/day$/.exec(value) ?? [];
  return perDay !== undefined && isOfCalls(name) ? { perDay: Number(perDay) } : undefined;
}

function isLimitName(name: string): name is PublicLimitName {
  return Object.hasOwn(publicLimits, name);
}

/**
 * Parses addresses of reverse proxies: IP addresses and networks, with commas between.
 * @throws UserError `usage`
 */
export function readProxies(text: string, source: string): readonly string[] {
  const proxies = text.split(",").map((proxy) => proxy.trim());
  for (const proxy of proxies) {
    const [, address = "", prefix = "0"] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(proxy) ?? [];
    const version = isIP(address);
    if (version !== 0 && Number(prefix) <= (version === 4 ? 32 : 128)) continue;
    throw invalidValue(proxy, source, "an IP address or a network such as 10.0.0.0/8");
  }
  return proxies;
}

interface ExposureSettings {
  readonly publicLimits?: PublicLimits | undefined;
  readonly trustedProxies?: readonly string[] | undefined;
}

/** Adds the environment's settings to those of flags. */
export function findExposureSettings(flags: ExposureSettings, env: Environment): ExposureSettings {
  const read = <T>(name: string, parse: (text: string, source: string) => T): T | undefined => {
    const text = readVariable(env, name);
    return text === undefined ? undefined : parse(text, name);
  };
  return {
    publicLimits: flags.publicLimits ?? read("STARPOST_PUBLIC_LIMITS", readPublicLimits),
    trustedProxies: flags.trustedProxies ?? read("STARPOST_TRUST_PROXY", readProxies),
  };
}
