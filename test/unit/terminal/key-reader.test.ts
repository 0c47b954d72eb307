import { PassThrough } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { KeyReader } from "../../../src/terminal/key-reader.ts";

function openReader() {
  const modes: boolean[] = [];
  const input = Object.assign(new PassThrough(), { setRawMode: (isRaw: boolean) => modes.push(isRaw) });
  const stop = new AbortController();
  let nowMs = 1_000;
  const keys = new KeyReader(input, { signal: stop.signal, clock: () => nowMs });
  keys.open();
  const press = async (text: string, afterMs = 1_000) => {
    nowMs += afterMs;
    input.write(text);
    await nextTurn();
  };
  /** The keys that are accepted while the reader waits. */
  const read = async (...texts: readonly (readonly [text: string, afterMs?: number])[]) => {
    let found: string | undefined;
    const waiting = keys.next().then((key) => (found = key));
    await nextTurn();
    await nextTurn();
    for (const [text, afterMs] of texts) if (found === undefined) await press(text, afterMs);
    return Promise.race([waiting, nextTurn("none")]);
  };
  return { input, keys, modes, press, read, stop };
}

it.each([
  ["p", "p"],
  ["?", "?"],
  ["\r", "return"],
  [" ", "space"],
  ["\u0003", "interrupt"],
  ["\u0004", "end"],
  ["\u001B[A", "up"],
])("reads the key %j as %s", async (text, key) => {
  const { read } = openReader();
  expect(await read([text])).toBe(key);
});

it("discards keys that were pressed while the program did not wait for one", async () => {
  const { press, read } = openReader();
  expect(await read(["p"])).toBe("p");
  await press("h");
  expect(await read(["s"])).toBe("s");
});

it("discards keys that the terminal received before the wait", async () => {
  const { input, read } = openReader();
  input.write("h");
  expect(await read(["s"])).toBe("s");
});

it("discards a key that is held or pressed twice, but not another one", async () => {
  const { press, read } = openReader();
  expect(await read(["p"])).toBe("p");
  await press("p", 249);
  expect(await read(["p", 249], ["p", 249])).toBe("none");
  const other = openReader();
  expect(await other.read(["p"])).toBe("p");
  expect(await other.read(["h", 1])).toBe("h");
  expect(await other.read(["p", 1])).toBe("p");
  expect(await other.read(["p", 250])).toBe("p");
});

it.each([
  ["\u0003", "interrupt"],
  ["\u0004", "end"],
])("remembers %j", async (text, key) => {
  const { press, read } = openReader();
  await press(text);
  expect([await read(), await read()]).toEqual([key, key]);
});

it("ends with the input, and when the program stops", async () => {
  const { input, read } = openReader();
  input.end();
  expect(await read()).toBe("end");
  const second = openReader();
  second.stop.abort();
  expect(await second.read()).toBe("interrupt");
});

it("leaves the terminal to others while it is closed", async () => {
  const { input, keys, modes, press, read } = openReader();
  keys.close();
  expect([modes, input.isPaused(), input.listenerCount("keypress")]).toEqual([[true, false], true, 0]);
  await press("h");
  keys.open();
  expect(await read(["s"])).toBe("s");
  expect(modes).toEqual([true, false, true]);
});
