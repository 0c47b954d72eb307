import { MessageChannel, type Worker } from "node:worker_threads";
import { setTimeout } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { PortTransport, serveOverPort } from "../../../src/service/port-transport.ts";
import type { Transport } from "../../../src/service/transport.ts";

interface Options {
  /** The names of calls that have no short form. */
  readonly complete?: readonly string[];
  /** The first call whose short form says too little. */
  readonly tooShort?: string;
}

interface Input {
  readonly name: string;
  readonly isShort?: boolean;
}

class TooShortError extends Error {}

/** A transport to a service on the other side of a channel, which carries out calls one after another, and records them. */
function connect({ complete = [], tooShort }: Options = {}) {
  const { port1, port2 } = new MessageChannel();
  const done: string[] = [];
  let isRefusing = false;
  let last: Promise<unknown> = Promise.resolve();
  const service = {
    call: (operation: string, { name, isShort }: Input) => {
      const answered = last.then(() => carryOut(operation, name, isShort));
      last = answered.catch(() => {});
      return answered;
    },
    close: async () => {},
  };
  const carryOut = async (operation: string, name: string, isShort: boolean | undefined) => {
    await setTimeout(1);
    if (isShort === true && (isRefusing ||= name === tooShort)) throw new TooShortError();
    if (name === "bad") throw new Error("failed");
    done.push(`${operation === "orders.massCreate" ? "" : "other "}${name}${isShort === true ? " short" : ""}`);
    return { name };
  };
  serveOverPort(port2, service as unknown as Transport, {
    read: (name) => ({ name, isShort: true }),
    isNotEnough: (error) => error instanceof TooShortError,
  });
  const worker = Object.assign(port1, { terminate: async () => port1.close() });
  const transport = new PortTransport(worker as unknown as Worker, {
    operation: "orders.massCreate",
    write: (input) => {
      const { name } = input as { readonly name: string };
      return complete.includes(name) ? undefined : name;
    },
  });
  onTestFinished(() => transport.close());
  const send = (name: string, operation = "orders.massCreate", isChecked = true) =>
    transport.call(operation as "orders.massCreate", { name } as never, {}, { engine: { isChecked } });
  return { done, send };
}

test("calls of checked input are sent in their short form, others completely", async () => {
  const { done, send } = connect();
  await Promise.all([send("a"), send("b", "orders.create"), send("c", "orders.massCreate", false)]);
  expect(done).toEqual(["a short", "other b", "c"]);
});

test("calls whose short form says too little are repeated completely, in order, before any others", async () => {
  const { done, send } = connect({ tooShort: "b" });
  const first = ["a", "b", "c", "d"].map((name) => send(name));
  await first[0];
  const last = ["e", "f"].map((name) => send(name));
  expect(await Promise.all([...first, ...last])).toEqual(["a", "b", "c", "d", "e", "f"].map((name) => ({ name })));
  await send("g");
  expect(done.map((name) => name[0])).toEqual(["a", "b", "c", "d", "e", "f", "g"]);
  expect(done[0]).toBe("a short");
  expect(done.at(-1)).toBe("g");
});

test("a call without a short form waits for those before, and ends the use of short forms", async () => {
  const { done, send } = connect({ complete: ["b"], tooShort: "a" });
  await Promise.all(["a", "b", "c"].map((name) => send(name)));
  expect(done).toEqual(["a", "b", "c"]);
});

test("other errors are those of the call", async () => {
  const { done, send } = connect();
  await expect(send("bad")).rejects.toThrow("failed");
  await send("a");
  expect(done).toEqual(["a short"]);
});

test("a call does not overtake one that waits", async () => {
  const { done, send } = connect({ complete: ["b"] });
  const first = send("a");
  const second = send("b");
  await first.then(() => send("c"));
  await second;
  expect(done).toEqual(["a short", "b", "c"]);
});
