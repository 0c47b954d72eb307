import { expect, it } from "vitest";
import type { CallEvent, Transport } from "../../src/service/transport.ts";
import { describeBackends, startMs, type TestAccount } from "../support/backends.ts";

/** Calls an operation, and returns its outcome and the limit events that it reported. */
async function callOperation(
  transport: Transport,
  { caller }: TestAccount,
  operation: "orders.list" | "core.listProducts" = "orders.list",
) {
  const events: CallEvent[] = [];
  const onEvent = (event: CallEvent) => {
    if (event.type === "limit") events.push(event);
  };
  const outcome = await transport.call(operation, {}, caller, { onEvent }).then(
    () => "answered",
    (error: unknown) => (error as { kind?: string }).kind,
  );
  return { outcome, events };
}

describeBackends(
  "the optional limit on other operations",
  (harness) => {
    it("allows five requests a second per account, and reports the remaining number", async () => {
      const { newAccount, transport, clock } = harness();
      const account = await newAccount();
      const limitEvents = (remaining: number) => [{ type: "limit", remaining, resetAtSeconds: startMs / 1_000 + 1 }];
      for (const remaining of [4, 3, 2, 1, 0]) {
        expect(await callOperation(transport, account)).toEqual({
          outcome: "answered",
          events: limitEvents(remaining),
        });
      }
      expect(await callOperation(transport, account)).toEqual({ outcome: "tooManyRequests", events: limitEvents(0) });
      clock.advance(1_000);
      expect((await callOperation(transport, account)).outcome).toBe("answered");
    });

    it("counts separately from the core API's limit, and for each account", async () => {
      const { newAccount, transport } = harness();
      const [one, other] = [await newAccount(), await newAccount()];
      for (let call = 0; call < 5; call += 1) await callOperation(transport, one);
      expect((await callOperation(transport, one)).outcome).toBe("tooManyRequests");
      expect((await callOperation(transport, one, "core.listProducts")).outcome).toBe("answered");
      expect((await callOperation(transport, other)).outcome).toBe("answered");
    });

    it("does not count calls with an invalid token or secret", async () => {
      const { newAccount, transport } = harness();
      const account = await newAccount();
      const guess = { ...account, caller: { ...account.caller, utoken: "guess" } };
      for (let call = 0; call < 8; call += 1) {
        expect((await callOperation(transport, guess)).outcome).toBe("unauthorized");
        const signIn = transport.call("users.signIn", { secret: "guess" }, { appKey: account.caller.appKey });
        await expect(signIn).rejects.toMatchObject({ kind: "unauthorized" });
      }
      const outcomes = [];
      for (let call = 0; call < 6; call += 1) outcomes.push((await callOperation(transport, account)).outcome);
      expect(outcomes).toEqual([...Array.from({ length: 5 }, () => "answered"), "tooManyRequests"]);
    });

    it("counts calls without a token separately, and does not affect operations without an app key", async () => {
      const { newAccount, transport } = harness();
      const account = await newAccount();
      const read = () => transport.call("reviews.top", {}, { appKey: account.caller.appKey });
      for (let call = 0; call < 5; call += 1) await read();
      await expect(read()).rejects.toMatchObject({ kind: "tooManyRequests" });
      expect((await callOperation(transport, account)).outcome).toBe("answered");
      for (let call = 0; call < 6; call += 1) {
        await expect(transport.call("users.get", { user_id: account.userId }, {})).resolves.toBeDefined();
      }
    });
  },
  { enforceLimits: true, limitLegacy: true },
);

describeBackends(
  "the default limits",
  (harness) => {
    it("does not affect or report limits on other operations", async () => {
      const { newAccount, transport } = harness();
      const account = await newAccount();
      for (let call = 0; call < 12; call += 1) {
        expect(await callOperation(transport, account)).toEqual({ outcome: "answered", events: [] });
      }
    });

    it("rejects an unknown store, and a store ID with unusual characters", async () => {
      const { transport } = harness();
      for (const appKey of ["nobody", "a\0b", "\u{1f600}"]) {
        const call = transport.call("core.listProducts", {}, { appKey, utoken: "x" });
        await expect(call).rejects.toMatchObject({ kind: "recordNotFound" });
      }
    });
  },
  { enforceLimits: true },
);
