import { operations } from "../contract/index.ts";
import { UserError } from "./user-error.ts";

/** Faults that a rehearsing server makes, in the order in which their coins are tossed. */
export const faultNames = ["429", "413", "500", "reset", "timeout", "drop"] as const;
export type FaultName = (typeof faultNames)[number];

/** How a server misbehaves on purpose. */
export interface ChaosPlan {
  /** How likely each fault is, from 0 to 1. */
  readonly rates: Readonly<Partial<Record<FaultName, number>>>;
  /** Waited before each call. */
  readonly delayMs: number;
  /** Bodies larger than this are refused with 413. */
  readonly maxBodyBytes?: number | undefined;
  /** The same seed makes the same faults, call by call; 1 where none is given. */
  readonly seed: number;
  /** The one call (`orders.massCreate`) or the start of the paths (`/apps`) that are meant; all where absent. */
  readonly only?: string | undefined;
}

const example = "drop=5%,429=10%,500=5%,reset=5%,seed=7";
const known = `It holds, with commas between: ${faultNames.map((name) => `${name}=<n%>`).join(", ")}, delay=<ms>, max-body=<bytes>, seed=<n>, only=<call or start of a path>.`;

/**
 * Reads `drop=5%,429=10%,seed=7`.
 * @throws UserError `usage`
 */
export function readChaosPlan(text: string, flag: string): ChaosPlan {
  const plan: { -readonly [K in keyof ChaosPlan]: ChaosPlan[K] } = { rates: {}, delayMs: 0, seed: 1 };
  for (const part of text.split(",")) {
    const at = part.indexOf("=");
    const [name, value] = [part.slice(0, at).trim(), part.slice(at + 1).trim()];
    const refuse = (why: string) => new UserError("usage", `${flag}: '${part.trim()}' ${why}`, known);
    if (at < 0) throw refuse(`is not of the form name=value, as in ${example}`);
    if (isFaultName(name)) {
      const rate = readPercent(value);
      if (rate === undefined) throw refuse("is not a part of the calls, from 0% to 100%");
      plan.rates = { ...plan.rates, [name]: rate };
    } else if (name === "only") {
      if (!value.startsWith("/") && !operations.has(value as never))
        throw refuse("names no call and is no start of a path");
      plan.only = value;
    } else {
      const field = numberFields.get(name);
      if (!field) throw refuse("is not known");
      if (!/^\d{1,9}$/.test(value)) throw refuse("is not a whole number");
      plan[field] = Number(value);
    }
  }
  return plan;
}

const numberFields: ReadonlyMap<string, "delayMs" | "maxBodyBytes" | "seed"> = new Map([
  ["delay", "delayMs"],
  ["max-body", "maxBodyBytes"],
  ["seed", "seed"],
]);

function isFaultName(name: string): name is FaultName {
  return (faultNames as readonly string[]).includes(name);
}

function readPercent(value: string): number | undefined {
  const percent = Number(/^(\d{1,3}(?:\.\d{1,9})?)%$/.exec(value)?.[1] ?? Number.NaN);
  return percent <= 100 ? percent / 100 : undefined;
}

/** What a plan does, for a person. */
export function describeChaosPlan({ rates, delayMs, maxBodyBytes, seed, only }: ChaosPlan): string {
  const parts = faultNames.flatMap((name) => {
    const rate = rates[name];
    return rate === undefined ? [] : [`${name} ${Number((rate * 100).toFixed(9))} %`];
  });
  if (delayMs > 0) parts.push(`delay ${delayMs} ms`);
  if (maxBodyBytes !== undefined) parts.push(`bodies of at most ${maxBodyBytes} bytes`);
  parts.push(`seed ${seed}`);
  return `${parts.join(", ")}${only === undefined ? "" : `, only ${only}`}`;
}
