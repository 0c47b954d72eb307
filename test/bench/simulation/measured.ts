import { readFileSync } from "node:fs";
import type { Figure } from "../support/figures.ts";

/** CPU time of a call or of a record, in milliseconds. */
export interface CpuTime {
  readonly serverMs: number;
  readonly postgresMs: number;
}

/** Bytes of a record in tables, indexes, and TOAST. */
interface Stored {
  readonly records: number;
  readonly bytes: number;
}

/** The figures that `npm run bench capacity` measures. */
export interface Measured {
  /** The commit that each part was measured on. */
  readonly commits: Readonly<Record<"costs" | "statements" | "scale", string>>;
  readonly machine: string;
  readonly costs: {
    /** CPU times are those of bulk calls. */
    readonly order: Stored & CpuTime;
    readonly queuedEmail: Stored;
    readonly sentEmail: Stored & CpuTime;
    /** CPU times are those of imports. */
    readonly review: Stored & CpuTime;
  };
  /** By the name of the call. */
  readonly statements: Readonly<Record<string, { readonly statements: number; readonly roundTrips?: number }>>;
  /** Those of `npm run bench scale`. */
  readonly scale: readonly Figure[];
}

export function readMeasured(): Measured {
  return JSON.parse(readFileSync("docs/operations/capacity.json", "utf8")) as Measured;
}

/** CPU times per call of a part of `npm run bench scale`. @throws Error if it was not measured */
export function cpuTimeOf(measured: Measured, part: string): CpuTime {
  return {
    serverMs: findFigure(measured, part, "CPU time of servers per call"),
    postgresMs: findFigure(measured, part, "CPU time of PostgreSQL per call"),
  };
}

/** Calls per second of a part of `npm run bench scale`. @throws Error if it was not measured */
export function sustainedBy(measured: Measured, part: string): number {
  return findFigure(measured, part, ": calls");
}

function findFigure({ scale }: Measured, part: string, ending: string): number {
  const found = scale.find(
    (one) => one.part === part && one.name.startsWith("this build") && one.name.endsWith(ending),
  );
  if (!found) throw new Error(`no figures of the part "${part}"`);
  return found.median;
}

/** @throws Error if the call was not measured */
export function statementsOf({ statements }: Measured, call: string): number {
  const found = statements[call];
  if (!found) throw new Error(`no figures of the call "${call}"`);
  return found.statements;
}
