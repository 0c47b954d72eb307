import { operations } from "../contract/index.ts";
import { usageError } from "./user-error.ts";

/** Faults that a server can inject, in the order in which they are drawn. */
export const faultNames = ["429", "413", "500", "reset", "timeout", "drop"] as const;
export type FaultName = (typeof faultNames)[number];

/** Which faults a server injects, for testing clients. */
export interface ChaosPlan {
  /** The probability of each fault, from 0 to 1. */
  readonly rates: Readonly<Partial<Record<FaultName, number>>>;
  /** A delay before each call, in milliseconds. */
  readonly delayMs: number;
  /** Larger bodies are rejected with status 413. */
  readonly maxBodyBytes?: number | undefined;
  /** The same seed injects the same faults (default: 1). */
  readonly seed: number;
  /** An operation (`orders.massCreate`) or a path prefix (`/apps`) to which faults are limited (default: all calls). */
  readonly only?: string | undefined;
}

const example = "drop=5%,429=10%,500=5%,reset=5%,seed=7";
const syntax = `A comma-separated list of ${faultNames.map((name) => `${name}=<n%>`).join(", ")}, delay=<ms>, max-body=<bytes>, seed=<n>, only=<operation or path prefix>.`;

/**
 * Parses a plan such as `drop=5%,429=10%,seed=7`.
 * @throws UserError `usage`
 */
export function parseChaosPlan(text: string, flag: string): ChaosPlan {
  const plan: { -readonly [K in keyof ChaosPlan]: ChaosPlan[K] } = { rates: {}, delayMs: 0, seed: 1 };
  for (const part of text.split(",")) {
    const equals = part.indexOf("=");
    const [name, value] = [part.slice(0, equals).trim(), part.slice(equals + 1).trim()];
    const invalid = (reason: string) => usageError(`invalid value "${part.trim()}" for ${flag}: ${reason}`, syntax);
    if (equals < 0) throw invalid(`must have the form name=value, as in ${example}`);
    const fault = faultNames.find((one) => one === name);
    if (fault) {
      const rate = parsePercent(value);
      if (rate === undefined) throw invalid("must be a percentage from 0% to 100%");
      plan.rates = { ...plan.rates, [fault]: rate };
    } else if (name === "only") {
      if (!value.startsWith("/") && !operations.has(value as never))
        throw invalid("must be an operation or a path prefix");
      plan.only = value;
    } else {
      const field = numberFields.get(name);
      if (!field) throw invalid("unknown name");
      if (!/^\d{1,9}$/.test(value)) throw invalid("must be an integer");
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

function parsePercent(value: string): number | undefined {
  const percent = Number(/^(\d{1,3}(?:\.\d{1,9})?)%$/.exec(value)?.[1] ?? Number.NaN);
  return percent <= 100 ? percent / 100 : undefined;
}

export function describeChaosPlan({ rates, delayMs, maxBodyBytes, seed, only }: ChaosPlan): string {
  const parts = faultNames.flatMap((name) => {
    const rate = rates[name];
    return rate === undefined ? [] : [`${name} ${Number((rate * 100).toFixed(9))} %`];
  });
  if (delayMs > 0) parts.push(`delay ${delayMs} ms`);
  if (maxBodyBytes !== undefined) parts.push(`maximum body size ${maxBodyBytes} bytes`);
  parts.push(`seed ${seed}`);
  return `${parts.join(", ")}${only === undefined ? "" : `, only ${only}`}`;
}
