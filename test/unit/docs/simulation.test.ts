import { describe, expect, it } from "vitest";
import { count, formatPlans } from "../../bench/simulation/format-plan.ts";
import type { Measured } from "../../bench/simulation/measured.ts";
import { type Assumptions, readAssumption, simulate } from "../../bench/simulation/simulation.ts";

const calls = { "create an order": 10, "create a review": 20, "vote on a review": 5, "ask a question": 15 };
const others = { "send an email": 4, "show the reviews of a product": 1 };
const cpu = (part: string, serverMs: number, postgresMs: number) =>
  [
    { name: "this build: CPU time of servers per call", median: serverMs },
    { name: "this build: CPU time of PostgreSQL per call", median: postgresMs },
    { name: "other build: CPU time of servers per call", median: 99 },
  ].map(({ name, median }) => ({ part, name, unit: "ms", median, low: 0, high: 0, rounds: 1 }));

const measured: Measured = {
  commit: "0123456",
  machine: "one core",
  costs: {
    order: { records: 1, bytes: 1_000, serverMs: 0, postgresMs: 0 },
    queuedEmail: { records: 1, bytes: 500 },
    sentEmail: { records: 1, bytes: 2_000, serverMs: 6, postgresMs: 3 },
    review: { records: 1, bytes: 4_000, serverMs: 0, postgresMs: 0 },
  },
  statements: Object.fromEntries(
    Object.entries({ ...calls, ...others }).map(([name, statements]) => [name, { statements, roundTrips: 1 }]),
  ),
  scale: [...cpu("orders, 16 accounts, 2 servers", 2, 1), ...cpu("widget reads, 16 accounts, 2 servers", 0.5, 0.25)],
};

/** 864 shops with 100 orders per day: one order per second. */
const given: Assumptions = {
  shops: 864,
  orders: 100,
  emails: 1,
  reviews: 0.1,
  votes: 0,
  questions: 0,
  views: 1_000,
  cdn: 90,
  peak: 1,
  use: 50,
  cores: 4,
  disk: 1,
  years: 2,
};

describe("the simulation of capacity", () => {
  it("adds up the calls, with the CPU time of other calls by their statements", () => {
    const plan = simulate(given, measured);
    expect(plan).toMatchObject({ shops: 864, ordersPerSecond: 1, emailsPerSecond: 1 });
    expect(plan.readsPerSecond).toBeCloseTo(1);
    expect(plan.cachedReadsPerSecond).toBeCloseTo(9);
    // An order, an email, a tenth of a review, and a read.
    expect(plan.statementsPerSecond).toBeCloseTo(10 + 4 + 2 + 1);
    expect(plan.serverCores).toBeCloseTo((2 + 6 + 0.4 + 0.5) / 1_000);
    expect(plan.postgresCores).toBeCloseTo((1 + 3 + 0.2 + 0.25) / 1_000);
  });

  it("adds up the bytes of orders, emails, and reviews", () => {
    const plan = simulate(given, measured);
    expect(plan.gigabytesPerYear).toBeCloseTo((86_400 * (1_000 + 2_000 + 400) * 365) / 1e9);
    expect(plan.gigabytes).toBeCloseTo(2 * plan.gigabytesPerYear);
  });

  it("counts servers by CPU, and those of PostgreSQL also by storage", () => {
    expect(simulate(given, measured)).toMatchObject({ servers: 2, postgresServers: 1 });
    const busy = simulate({ ...given, peak: 1_000 }, measured);
    expect(busy.servers).toBe(Math.ceil(8.9 / 0.5));
    expect(busy.postgresServers).toBe(Math.ceil(4.45 / 0.5 / 4));
    expect(simulate({ ...given, years: 20 }, measured).postgresServers).toBe(3);
  });

  it("names a call without figures", () => {
    const { "vote on a review": _, ...statements } = measured.statements;
    expect(() => simulate(given, { ...measured, statements })).toThrow("vote on a review");
    expect(() => simulate(given, { ...measured, scale: [] })).toThrow("orders, 16 accounts");
  });

  it("formats plans as a table", () => {
    expect(
      formatPlans([simulate(given, measured)])
        .split("\n")
        .slice(0, 3),
    ).toEqual(["| shops | 864 |", "| --- | ---: |", "| orders per second, busiest hour | 1 |"]);
    expect([0, 0.01234, 1.26, 99.5, 12_345].map(count)).toEqual(["0", "0.012", "1.3", "100", "12,345"]);
  });
});

describe("a flag", () => {
  it.each([
    ["shops", "0", "must be a number of at least 1"],
    ["orders", "-1", "must be a number of at least 0"],
    ["orders", "many", "must be a number of at least 0"],
    ["orders", "", "must be a number of at least 0"],
    ["cdn", "150", "must be a number from 0 to 100"],
    ["use", "0", "must be a number from 1 to 100"],
    ["years", "Infinity", "must be a number of at least 1"],
  ] as const)("--%s %j is refused", (name, text, problem) => {
    expect(() => readAssumption(name, text)).toThrow(`invalid value "${text}" for --${name}: ${problem}`);
  });

  it("is read as a number, and has a default", () => {
    expect([readAssumption("reviews", "0.2"), readAssumption("cdn", undefined)]).toEqual([0.2, 90]);
  });
});
