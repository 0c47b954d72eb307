import { silent } from "../../../terminal/view.ts";
import { type Command, command } from "../../program/command.ts";
import type { FlagValues } from "../../program/flag.ts";
import { readText } from "../../program/flag-values.ts";
import { type KindName, kindFlags, readKindOptions } from "./kind-flags.ts";
import { flattenPlan, statusOfPlan } from "./plan-view.ts";

const planFlags = {
  out: { value: "<file>", description: "keep the plan here, for `imports apply`", read: readText },
} as const;

const example: Readonly<Record<KindName, string>> = {
  products: "starpost products plan products.csv",
  orders: "starpost orders plan orders.csv",
  coupons: "starpost coupons plan codes.csv --action map_review",
  unsubscribers: "starpost unsubscribers plan addresses.csv --type 1",
  reviews: "starpost reviews plan reviews.csv",
};

/** What an import can be asked and a plan cannot: a plan sends nothing. */
const importOnly = "dry-run";

/** The plan of a kind of import, with the flags of that import. */
export function planOf<K extends KindName>(kind: K): Command {
  const flags = Object.fromEntries(
    Object.entries({ ...planFlags, ...kindFlags[kind] }).filter(([name]) => name !== importOnly),
  );
  return command({
    name: `${kind} plan`,
    summary: `Say what an import of ${kind} would do, without doing it`,
    argument: "<file...>",
    examples: [`${example[kind]} --out plan.json`],
    flags,
    run: async (context, { arguments: files, flags: given }) => {
      const { runPlan } = await import("./plan-run.ts");
      const read = readKindOptions[kind] as (
        values: FlagValues<(typeof kindFlags)[K]>,
      ) => ReturnType<(typeof readKindOptions)[K]>;
      const options = await read(given as FlagValues<(typeof kindFlags)[K]>);
      const out = given["out"] as string | undefined;
      return runPlan(context, { kind, files, options, out });
    },
    render: (plan) => silent(flattenPlan(plan)),
    exitStatus: statusOfPlan,
  });
}
