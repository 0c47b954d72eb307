import { MessageChannel, type Worker } from "node:worker_threads";
import { expect, onTestFinished, test } from "vitest";
import { ServiceError } from "../../../src/contract/index.ts";
import { PortTransport, serveOverPort } from "../../../src/service/port-transport.ts";
import type { CallOptions, Transport } from "../../../src/service/transport.ts";

/** A transport to a service on the other side of a channel, which records its calls. */
function connect() {
  const { port1, port2 } = new MessageChannel();
  const done: unknown[] = [];
  const service = {
    call: async (operation: string, input: { readonly name: string }, _caller: unknown, { engine }: CallOptions) => {
      if (input.name === "bad") throw new Error("failed");
      if (input.name === "refused") throw new ServiceError("invalidParams", "no", { field: "name" });
      done.push([operation, input, engine]);
      return { name: input.name };
    },
    close: async () => {},
  };
  serveOverPort(port2, service as unknown as Transport);
  const worker = Object.assign(port1, { terminate: async () => port1.close() });
  const prepare = ({ name }: { readonly name: string }) => ({ name, map: new Map([[1, name]]) });
  const transport = new PortTransport(worker as unknown as Worker, { "orders.massCreate": prepare });
  onTestFinished(() => transport.close());
  const send = (
    name: string,
    operation = "orders.massCreate",
    engine: CallOptions["engine"] = { inputStage: "checked" },
  ) => transport.call(operation as "orders.massCreate", { name } as never, {}, { engine });
  return { done, send };
}

test("calls of checked input are sent as this thread prepares them, others as JSON, in order", async () => {
  const { done, send } = connect();
  const answers = [send("a"), send("b", "orders.create"), send("c", "orders.massCreate", {})];
  expect(await Promise.all(answers)).toEqual([{ name: "a" }, { name: "b" }, { name: "c" }]);
  expect(done).toEqual([
    ["orders.massCreate", { name: "a", map: new Map([[1, "a"]]) }, { inputStage: "prepared" }],
    ["orders.create", { name: "b" }, { inputStage: "checked", inputText: '{"name":"b"}' }],
    ["orders.massCreate", { name: "c" }, { inputText: '{"name":"c"}' }],
  ]);
});

test("an error is that of the call", async () => {
  const { done, send } = connect();
  await expect(send("bad")).rejects.toThrow("failed");
  await expect(send("refused")).rejects.toMatchObject({ kind: "invalidParams", field: "name" });
  await send("a", "orders.massCreate", { inputStage: "checked", inputText: "key" });
  expect(done).toMatchObject([["orders.massCreate", { name: "a" }, { inputText: "key" }]]);
});
