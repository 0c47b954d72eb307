import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { endpointOf } from "../../../../src/contract/index.ts";
import { authenticate } from "../../../../src/engine/kernel/authenticate.ts";
import type { Caller } from "../../../../src/service/transport.ts";
import { backends, type Harness } from "../../../support/backends.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await (backends[0] ?? expect.unreachable()).open();
});
afterAll(() => harness.close());

test("calls of one caller that arrive together share the lookup of the account, and later ones do not", async () => {
  const { caller } = await harness.newAccount();
  const other = (await harness.newAccount()).caller;
  const { database } = harness;
  const lookUp = (each: Caller, atMs = 1) =>
    authenticate(database, endpointOf("reviews.createNow"), each, atMs).catch((error: unknown) => error);
  await Promise.all([lookUp(caller), lookUp(other)]);
  const queries = vi.spyOn(database.db, "executeQuery");
  const unknown: Caller = { appKey: "unknown" };
  const found = await Promise.all(
    [caller, caller, other, { ...caller, utoken: "x" }, unknown, unknown].map((each) => lookUp(each)),
  );
  expect(found).toMatchObject([
    { appKey: caller.appKey, isStore: true },
    { appKey: caller.appKey, isStore: true },
    { appKey: other.appKey, isStore: true },
    { appKey: caller.appKey, isStore: false },
    { kind: "recordNotFound" },
    { kind: "recordNotFound" },
  ]);
  expect(queries).toHaveBeenCalledTimes(4);
  await Promise.all([lookUp(caller), lookUp(caller, 2)]);
  expect(queries).toHaveBeenCalledTimes(6);
  const disabling = database.db.updateTable("accounts").set({ disabled_at: 1 }).where("app_key", "=", caller.appKey);
  await disabling.execute();
  expect(await lookUp(caller)).toMatchObject({ kind: "featureDisabled" });
  queries.mockRestore();
});
