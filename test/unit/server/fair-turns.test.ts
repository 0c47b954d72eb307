import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { FairTurns } from "../../../src/server/fair-turns.ts";

const store = (appKey: string) => ({ appKey, utoken: `token of ${appKey}` });
const read = { batch: undefined, effect: "read" } as const;
const bulk = { batch: { field: "orders", recommended: 200 }, effect: "once" } as const;

function openTurns() {
  const turns = new FairTurns();
  for (const appKey of ["hot", "quiet"]) {
    turns.note(store(appKey), appKey, true);
    turns.note({ appKey }, appKey, false);
  }
  const started: string[] = [];
  const start = async (appKey: string, call: Parameters<typeof turns.take>[1] = read) => {
    const turn = await turns.take(store(appKey), call);
    started.push(appKey);
    return turn;
  };
  return { turns, started, start };
}

it("does not limit a store that calls alone", async () => {
  const { started, start } = openTurns();
  await Promise.all(Array.from({ length: 20 }, () => start("hot")));
  expect(started).toHaveLength(20);
});

it("lets stores take turns", async () => {
  const { started, start } = openTurns();
  const [, hot] = await Promise.all([start("quiet"), start("hot")]);
  const waiting = Array.from({ length: 3 }, () => start("hot"));
  await nextTurn();
  expect(started).toEqual(["quiet", "hot"]);
  hot?.end();
  await waiting[0];
  await nextTurn();
  expect(started).toEqual(["quiet", "hot", "hot"]);
});

it("starts the call of the store whose last call started the longest ago", async () => {
  const { started, start } = openTurns();
  await Promise.all([start("quiet"), start("hot")]).then((turns) => turns.forEach((turn) => turn.end()));
  const hot = Array.from({ length: 20 }, () => start("hot").then((turn) => turn.end()));
  await hot[2];
  await start("quiet").then((turn) => turn.end());
  expect(started.slice(2)).toEqual(["hot", "hot", "hot", "quiet"]);
  await Promise.all(hot);
});

it("delays a store whose calls queue while calls of others run that have none waiting", async () => {
  const { started, start } = openTurns();
  const [quiet] = await Promise.all([start("quiet"), start("hot").then((turn) => turn.end())]);
  const startMs = performance.now();
  const hot = Array.from({ length: 3 }, () => start("hot").then((turn) => turn.end()));
  await hot[1];
  expect(performance.now() - startMs).toBeGreaterThan(5);
  quiet?.end();
  await Promise.all(hot);
  expect(started).toHaveLength(5);
});

it("lets the reads and writes of a store take turns", async () => {
  const { turns, start } = openTurns();
  await start("quiet").then((turn) => turn.end());
  const started: string[] = [];
  const take = async (effect: "read" | "once") => {
    const turn = await turns.take(store("hot"), { batch: undefined, effect });
    started.push(effect);
    turn.end();
  };
  const calls = [...Array.from({ length: 8 }, () => take("read")), take("once")];
  await calls.at(-1);
  expect(started.length).toBeLessThanOrEqual(3);
  await Promise.all(calls);
});

it("lets others run while a call does something else", async () => {
  const { started, start } = openTurns();
  const [, hot] = await Promise.all([start("quiet"), start("hot")]);
  const second = start("hot");
  await hot?.outside(() => second.then((turn) => turn.end()));
  expect(started).toEqual(["quiet", "hot", "hot"]);
});

it("runs one bulk call of a store at a time, and refuses those beyond a number", async () => {
  const { started, start } = openTurns();
  const first = await start("hot", bulk);
  const waiting = Array.from({ length: 32 }, () => start("hot", bulk));
  await expect(start("hot", bulk)).rejects.toMatchObject({ kind: "tooManyRequests", retryAfterMs: 1_000 });
  await start("quiet", bulk);
  await nextTurn();
  expect(started).toEqual(["hot", "quiet"]);
  first.end();
  await waiting[0];
  expect(started).toEqual(["hot", "quiet", "hot"]);
});

it("gives callers that it does not know a common turn", async () => {
  const { turns, start } = openTurns();
  await start("quiet");
  await turns.take({ appKey: "made up" }, read);
  const other = turns.take({ appKey: "also made up" }, read).then(() => "started");
  await expect(Promise.race([other, nextTurn("waits")])).resolves.toBe("waits");
});

it("leaves the event loop idle between calls without a token while stores call", async () => {
  const { turns, start } = openTurns();
  await start("quiet").then((turn) => turn.end());
  const calls = 10;
  const startedMs = performance.now();
  const work = async () => {
    const turn = await turns.take({ appKey: "hot" }, read);
    const startMs = performance.now();
    while (performance.now() - startMs < 5);
    turn.end();
  };
  await Promise.all(Array.from({ length: calls }, work));
  // Each call but the last takes 5 ms, after which the loop is idle for half of that.
  expect(performance.now() - startedMs).toBeGreaterThan((calls - 1) * 7);
});
