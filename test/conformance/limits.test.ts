import { expect, it } from "vitest";
import type { CallEvent, Transport } from "../../src/service/transport.ts";
import { describeBackends, startMs, type TestAccount } from "../support/backends.ts";

/** Calls, and gives how it ended and what it was told of a limit. */
async function callFor(
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
  "a limit of the calls that the specification has none for",
  (harness) => {
    it("lets five calls a second of an account through, and tells what is left", async () => {
      const { newAccount, transport, clock } = harness();
      const account = await newAccount();
      const told = (remaining: number) => [{ type: "limit", remaining, resetAtSeconds: startMs / 1_000 + 1 }];
      for (const remaining of [4, 3, 2, 1, 0]) {
        expect(await callFor(transport, account)).toEqual({ outcome: "answered", events: told(remaining) });
      }
      expect(await callFor(transport, account)).toEqual({ outcome: "tooManyRequests", events: told(0) });
      clock.advance(1_000);
      expect((await callFor(transport, account)).outcome).toBe("answered");
    });

    it("counts apart from the core API's limit, and each account by itself", async () => {
      const { newAccount, transport } = harness();
      const [one, other] = [await newAccount(), await newAccount()];
      for (let call = 0; call < 5; call += 1) await callFor(transport, one);
      expect((await callFor(transport, one)).outcome).toBe("tooManyRequests");
      expect((await callFor(transport, one, "core.listProducts")).outcome).toBe("answered");
      expect((await callFor(transport, other)).outcome).toBe("answered");
    });

    it("refuses before it looks at anything else, and leaves calls that anyone may make alone", async () => {
      const { newAccount, transport } = harness();
      const account = await newAccount();
      const guess = { ...account, caller: { ...account.caller, utoken: "guess" } };
      for (let call = 0; call < 5; call += 1) {
        expect((await callFor(transport, guess)).outcome).toBe("unauthorized");
      }
      expect((await callFor(transport, guess)).outcome).toBe("tooManyRequests");
      for (let call = 0; call < 6; call += 1) {
        await expect(transport.call("users.get", { user_id: account.userId }, {})).resolves.toBeDefined();
      }
    });
  },
  { enforceLimits: true, limitLegacy: true },
);

describeBackends(
  "limits as the specification has them",
  (harness) => {
    it("leave the other calls alone, and tell of none", async () => {
      const { newAccount, transport } = harness();
      const account = await newAccount();
      for (let call = 0; call < 12; call += 1) {
        expect(await callFor(transport, account)).toEqual({ outcome: "answered", events: [] });
      }
    });

    it("know no store that is not there, nor one of other characters", async () => {
      const { transport } = harness();
      for (const appKey of ["nobody", "a\0b", "\u{1f600}"]) {
        const call = transport.call("core.listProducts", {}, { appKey, utoken: "x" });
        await expect(call).rejects.toMatchObject({ kind: "recordNotFound" });
      }
    });
  },
  { enforceLimits: true },
);
