import { PassThrough } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { KeyReader } from "../../../src/terminal/key-reader.ts";

function openReader() {
  const modes: boolean[] = [];
  const input = Object.assign(new PassThrough(), { setRawMode: (isRaw: boolean) => modes.push(isRaw) });
  const stop = new AbortController();
  const keys = new KeyReader(input, stop.signal);
  keys.open();
  const press = async (sequence: string) => {
    input.write(sequence);
    await nextTurn();
  };
  const read = async (count: number) => {
    const found: string[] = [];
    while (found.length < count) found.push(await keys.next());
    return found;
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
])("reads the key %j as %s", async (sequence, key) => {
  const { keys, press } = openReader();
  const next = keys.next();
  await press(sequence);
  expect(await next).toBe(key);
});

it("returns all keys of a fast sequence in order", async () => {
  const { press, read } = openReader();
  await press("pph");
  await press("s");
  expect(await read(4)).toEqual(["p", "p", "h", "s"]);
});

it("forgets keys on request", async () => {
  const { keys, press, read } = openReader();
  await press("pp");
  keys.discard();
  await press("s");
  expect(await read(1)).toEqual(["s"]);
});

it("reads Ctrl-C before other keys, and Ctrl-D after them", async () => {
  const first = openReader();
  await first.press("p\u0003");
  expect(await first.read(2)).toEqual(["interrupt", "interrupt"]);
  const second = openReader();
  await second.press("p\u0004");
  expect(await second.read(3)).toEqual(["p", "end", "end"]);
});

it("ends with the input, and when the program stops", async () => {
  const { input, read } = openReader();
  input.end();
  expect(await read(1)).toEqual(["end"]);
  const second = openReader();
  second.stop.abort();
  expect(await second.read(1)).toEqual(["interrupt"]);
});

it("passes keys to a prompt up to Enter, also those that were pressed before", async () => {
  const { keys, press, read } = openReader();
  await press("Zoë\u001B[D");
  const passed = await keys.lend(async (input) => {
    const parts: string[] = [];
    input.on("data", (part) => parts.push(String(part)));
    await press("!\rph");
    await nextTurn();
    return parts.join("");
  });
  expect(passed).toBe("Zoë\u001B[D!\r");
  expect(await read(2)).toEqual(["p", "h"]);
});

it.each([
  ["\u0003", "Ctrl-C"],
  ["\u001B", "Escape"],
])("cancels a prompt at %j (%s), and keeps what follows", async (sequence) => {
  const { keys, press, read } = openReader();
  await keys.lend(async (_input, signal) => {
    await press("x");
    await press(sequence);
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve));
  });
  await press("p");
  expect(await read(1)).toEqual(["p"]);
});

it("reads Escape and the next key as two, and no combination as its key", async () => {
  const { keys, press, read } = openReader();
  await keys.lend(async (_input, signal) => {
    await press("x\u001Bp");
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve));
  });
  await press("\u001Bh\u0010s");
  expect(await read(4)).toEqual(["p", "modified h", "modified p", "s"]);
});

it("takes pasted text as one line of a prompt, and not as decisions", async () => {
  const { keys, press, read } = openReader();
  const paste = "\u001B[200~One\r\nph\u001B[201~";
  await press(paste);
  const passed = await keys.lend(async (input) => {
    const parts: string[] = [];
    input.on("data", (part) => parts.push(String(part)));
    await press(paste);
    await nextTurn();
    return parts.join("");
  });
  expect(passed.replaceAll(/ +/g, " ")).toBe("One ph");
  await press("s");
  expect(await read(1)).toEqual(["s"]);
});

it("leaves the terminal to others when it is closed", () => {
  const { input, keys, modes } = openReader();
  keys.close();
  expect([modes, input.isPaused(), input.listenerCount("keypress")]).toEqual([[true, false], true, 0]);
});
