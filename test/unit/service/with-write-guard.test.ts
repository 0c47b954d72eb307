import { expect, test } from "vitest";
import type { Transport } from "../../../src/service/transport.ts";
import { withWriteGuard } from "../../../src/service/with-write-guard.ts";

test("reports calls that write, but not reads or authentication", async () => {
  const events: string[] = [];
  const inner = {
    call: async (operation: string) => void events.push(operation),
    close: async () => {},
  } as unknown as Transport;
  const transport = withWriteGuard(inner, () => void events.push("write"));
  const call = (operation: string) => transport.call(operation as "webhooks.list", {}, {});
  for (const one of ["webhooks.list", "tokens.create", "core.createToken"]) await call(one);
  await call("products.massCreate");
  await call("webhooks.delete");
  expect(events).toEqual([
    "webhooks.list",
    "tokens.create",
    "core.createToken",
    "write",
    "products.massCreate",
    "write",
    "webhooks.delete",
  ]);
});
