import { expect, it } from "vitest";
import { utokenLimits } from "../../src/contract/index.ts";
import type { CallEvent, Caller } from "../../src/service/transport.ts";
import { describeBackends, type Harness, startMs, type TestAccount } from "../support/backends.ts";
import { aProduct } from "../support/builders.ts";
import { invalidField } from "../support/service-errors.ts";

const productsNamed = (...ids: string[]) => ({ products: Object.fromEntries(ids.map((id) => [id, aProduct()])) });

async function idsOf({ service }: TestAccount, query: object) {
  const { products, pagination } = await service.core.listProducts(query);
  return { ids: products.map(({ external_id }) => external_id), next: pagination.next_page_info };
}

describeBackends("core.listProducts", (harness) => {
  it("pages by cursor without missing or repeating an unchanged product", async () => {
    const account = await harness().newAccount();
    await account.service.products.massCreate(productsNamed("a", "b", "c", "d", "e"));
    const first = await idsOf(account, { limit: 2 });
    harness().clock.advance(1_000);
    await account.service.products.massUpdate({ products: { a: { name: "A" }, d: { name: "D" } } });
    await account.service.products.massCreate(productsNamed("f"));
    const second = await idsOf(account, { limit: 2, page_info: first.next });
    const third = await idsOf(account, { limit: "10", page_info: second.next });
    expect([first.ids, second.ids, third.ids]).toEqual([
      ["a", "b"],
      ["c", "e"],
      ["a", "d", "f"],
    ]);
    expect(third.next).toBeNull();
  });

  it("returns products changed since a timestamp, in UTC if it has no offset", async () => {
    const account = await harness().newAccount();
    await account.service.products.massCreate(productsNamed("a", "b"));
    harness().clock.advance(3_600_000);
    await account.service.products.massUpdate({ products: { a: { name: "A" } } });
    const since = async (updated_at_min: string) => (await idsOf(account, { updated_at_min })).ids;
    expect(await since("2026-03-15")).toEqual(["b", "a"]);
    expect(await since("2026-03-15T13:00:00")).toEqual(["a"]);
    expect(await since("2026-03-15T14:00:00+01:00")).toEqual(["a"]);
    expect(await since("2026-03-15T13:00:00.001Z")).toEqual([]);
    for (const text of ["soon", "2026-03-15 soon", "2026-03-15T13:00:00 GMT", "2026-02-30T25:00:00Z"]) {
      await expect(since(text)).rejects.toMatchObject(invalidField("updated_at_min"));
    }
  });

  it("lists one product for a limit below 1, and rejects an invalid cursor", async () => {
    const { service } = await harness().newAccount();
    await service.products.massCreate({ products: { cup: aProduct(), pot: aProduct() } });
    for (const limit of [0, -1]) expect((await service.core.listProducts({ limit })).products).toHaveLength(1);
    for (const page_info of ["x", Buffer.from("1.x").toString("base64url")]) {
      await expect(service.core.listProducts({ page_info })).rejects.toMatchObject({ kind: "invalidParams" });
    }
  });
});

describeBackends("core.createToken", (harness) => {
  it("returns a token that can read products and that is also a utoken", async () => {
    const { caller, secret, service } = await harness().newAccount();
    await service.products.massCreate(productsNamed("a"));
    const { access_token, ...others } = await harness().service({ appKey: caller.appKey }).core.createToken({ secret });
    expect([access_token, others]).toEqual([expect.stringMatching(/^[A-Za-z0-9]{40}$/), {}]);
    const bearer = harness().service({ appKey: caller.appKey, utoken: access_token });
    expect((await bearer.core.listProducts({})).products).toHaveLength(1);
    expect((await bearer.orders.list({})).total_purchases).toBe(0);
    harness().clock.advance(utokenLimits.lifetimeMs);
    await expect(bearer.core.listProducts({})).rejects.toMatchObject({ kind: "unauthorized" });
  });

  it("rejects another secret, an empty secret, and an unknown store", async () => {
    const [one, other] = [await harness().newAccount(), await harness().newAccount()];
    const { core } = harness().service({ appKey: one.caller.appKey });
    for (const secret of [other.secret, `${one.secret} `, ""]) {
      await expect(core.createToken({ secret })).rejects.toMatchObject({ kind: "unauthorized" });
    }
    await expect(core.createToken({} as never)).rejects.toMatchObject({
      kind: "invalidParams",
      message: "Missing secret",
    });
    await expect(harness().service({ appKey: "none" }).core.createToken({ secret: one.secret })).rejects.toMatchObject({
      kind: "recordNotFound",
    });
  });
});

/** Calls an operation, and returns its outcome and the limit events that it reported. */
async function callForLimit(
  harness: Harness,
  caller: Caller,
  operation: "core.listProducts" | "core.createToken" = "core.listProducts",
  input = {},
) {
  const events: CallEvent[] = [];
  const outcome = await harness.transport
    .call(operation, input as never, caller, {
      onEvent: (event) => {
        if (event.type === "limit") events.push(event);
      },
    })
    .then(
      () => "answered",
      (error: unknown) => error,
    );
  return { outcome, events };
}

describeBackends(
  "the core API's rate limit",
  (harness) => {
    const limit = (remaining: number) => [{ type: "limit", remaining, resetAtSeconds: startMs / 1_000 + 1 }];

    it("allows five requests a second, counts each, and reports when to retry", async () => {
      const { caller } = await harness().newAccount();
      harness().clock.advance(400);
      for (const remaining of [4, 3, 2, 1, 0]) {
        const { outcome, events } = await callForLimit(harness(), caller);
        expect([outcome, events]).toEqual(["answered", limit(remaining)]);
      }
      const sixth = await callForLimit(harness(), caller);
      expect(sixth.outcome).toMatchObject({
        kind: "tooManyRequests",
        message: "Too Many Requests",
        // Over HTTP, the time has a resolution of one second.
        retryAfterMs: expect.toSatisfy((ms: number) => ms >= 600 && ms <= 1_000),
      });
      expect(sixth.events).toEqual(limit(0));
      harness().clock.advance(600);
      expect((await callForLimit(harness(), caller)).outcome).toBe("answered");
    });

    it("counts all tokens of a store together, including rejected input, and each store separately", async () => {
      const [one, other] = [await harness().newAccount(), await harness().newAccount()];
      const second = await harness().service({ appKey: one.caller.appKey }).core.createToken({ secret: one.secret });
      const bad = { page_info: "?" };
      for (const utoken of [one.caller.utoken, second.access_token, one.caller.utoken, second.access_token]) {
        const { outcome } = await callForLimit(harness(), { ...one.caller, utoken }, "core.listProducts", bad);
        expect(outcome).toMatchObject({ kind: "invalidParams" });
      }
      const { outcome } = await callForLimit(harness(), one.caller);
      expect(outcome).toMatchObject({ kind: "tooManyRequests" });
      expect((await callForLimit(harness(), other.caller)).outcome).toBe("answered");
    });

    it("counts token requests, but no calls with an invalid token or secret", async () => {
      const { caller, secret } = await harness().newAccount();
      const createToken = (secretInput: string) =>
        callForLimit(harness(), { appKey: caller.appKey }, "core.createToken", { secret: secretInput });
      for (let call = 0; call < 8; call += 1) {
        const wrong = [await createToken("guess"), await callForLimit(harness(), { ...caller, utoken: "guess" })];
        for (const { outcome } of wrong) expect(outcome).toMatchObject({ kind: "unauthorized" });
      }
      expect(await createToken(secret)).toEqual({ outcome: "answered", events: limit(4) });
      expect((await callForLimit(harness(), caller)).events).toEqual(limit(3));
      for (let call = 0; call < 3; call += 1) await createToken(secret);
      expect((await createToken(secret)).outcome).toMatchObject({ kind: "tooManyRequests" });
    });
  },
  { enforceLimits: true },
);

describeBackends("the core API without its rate limit", (harness) => {
  it("answers every request, and reports no limit", async () => {
    const { caller } = await harness().newAccount();
    for (let call = 0; call < 8; call += 1) {
      expect(await callForLimit(harness(), caller)).toEqual({ outcome: "answered", events: [] });
    }
  });
});
