import { randomBytes } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { rotateSecret } from "../../src/engine/accounts/administration.ts";
import { createLocalTransport } from "../../src/engine/local-transport.ts";
import { ensureFirstAccount } from "../../src/engine/accounts/first-account.ts";
import { findOrAddShopper } from "../../src/engine/accounts/shoppers.ts";
import { findStorePerson } from "../../src/engine/accounts/account-profile.ts";
import { createInvitation, useInvitation } from "../../src/engine/accounts/invitations.ts";
import { createSealer } from "../../src/engine/kernel/sealer.ts";
import { createService, type Service } from "../../src/service/service.ts";
import { openDatabase } from "../../src/storage/database.ts";
import { describeDatabases } from "../support/databases.ts";

describeDatabases("two engines on one database", (url) => {
  /** Opens engines that share only the database, as engines in several processes do. */
  async function openEngines(count: number): Promise<Service[]> {
    const sealer = createSealer(randomBytes(32));
    const services: Service[] = [];
    for (let n = 0; n < count; n++) {
      const database = await openDatabase(url(), { nowMs: 0 });
      const given = { sealer, clock: () => 1_000 + n, random: randomBytes };
      const { appKey, secret } = await ensureFirstAccount(database, given);
      const transport = createLocalTransport({ database, enforceLimits: false, ...given });
      onTestFinished(() => transport.close());
      const input = { client_id: appKey, client_secret: secret, grant_type: "client_credentials" };
      const { access_token: utoken } = await transport.call("tokens.create", input, {});
      services.push(createService(transport, { appKey, utoken }));
    }
    return services;
  }

  const named = (name: string) => ({ products: { teapot: { name, url: "https://shop.example/teapot" } } });

  const readName = async (service: Service) => {
    const { products } = await service.core.listProducts({});
    return products.map(({ name }) => name);
  };

  it("store a product again that the other has changed", async () => {
    const [one, other] = (await openEngines(2)) as [Service, Service];
    await one.products.massCreate(named("First"));
    await other.products.massCreate(named("Second"));
    await one.products.massCreate(named("First"));
    expect([await readName(one), await readName(other)]).toEqual([["First"], ["First"]]);
    await other.products.massCreate(named("Second"));
    expect([await readName(one), await readName(other)]).toEqual([["Second"], ["Second"]]);
  });

  it("store a product again that an order of the other has changed", async () => {
    const [one, other] = (await openEngines(2)) as [Service, Service];
    const order = (order_id: string, product_name: string) => ({
      platform: "general" as const,
      orders: [
        {
          order_id,
          email: "ann@mail.example",
          customer_name: "Ann",
          order_date: "2026-01-02",
          products: { teapot: { name: product_name, url: "https://shop.example/teapot" } },
        },
      ],
    });
    await one.orders.massCreate(order("1", "First"));
    await other.orders.massCreate(order("2", "Second"));
    await one.orders.massCreate(order("3", "First"));
    expect(await readName(other)).toEqual(["First"]);
  });

  it("store a product again after the other's change, while both write at the same time", async () => {
    const engines = await openEngines(2);
    for (let round = 0; round < 20; round++) {
      await Promise.all(engines.map((engine, n) => engine.products.massCreate(named(`Name ${n}`))));
      // Either engine wrote last; the one that writes now must notice if it was the other.
      const name = `Name ${round % 2}`;
      await (engines[round % 2] as Service).products.massCreate(named(name));
      expect(await readName(engines[(round + 1) % 2] as Service)).toEqual([name]);
    }
  });

  /** Opens engines with their work, and the account that they share. */
  async function openWork(count: number) {
    const sealer = createSealer(randomBytes(32));
    const given = { sealer, clock: () => 1_000, random: randomBytes, isSignUpClosed: true };
    const engines = [];
    for (let n = 0; n < count; n++) {
      const database = await openDatabase(url(), { nowMs: 0 });
      const transport = createLocalTransport({ database, enforceLimits: false, ...given });
      onTestFinished(() => transport.close());
      engines.push({ database, transport });
    }
    const [first] = engines;
    if (!first) throw new Error("there are no engines");
    const keys = await ensureFirstAccount(first.database, given);
    const grant = { client_id: keys.appKey, client_secret: keys.secret, grant_type: "client_credentials" };
    return { engines, db: first.database.db, keys, grant };
  }

  const repeat = <T, R>(times: number, engines: readonly T[], call: (engine: T) => Promise<R>) =>
    Promise.allSettled(Array.from({ length: times }, (_, at) => call(engines[at % engines.length] as T)));
  const count = <T>(results: readonly PromiseSettledResult<T>[]) =>
    results.filter(({ status }) => status === "fulfilled").length;

  it("accept an invitation once, even if both accept it at the same time", async () => {
    const { engines, db } = await openWork(2);
    const [{ transport }] = engines as [(typeof engines)[0]];
    const { code } = await transport.work.write(undefined, (context) => createInvitation(60_000, context));
    const used = await repeat(4, engines, (engine) =>
      engine.transport.work.write(undefined, async (context) => {
        await useInvitation(code, context);
        // Until the commit, the other transactions still see the invitation.
        await setTimeout(30);
      }),
    );
    expect(count(used)).toBe(1);
    expect(await db.selectFrom("invitations").select("id").execute()).toEqual([]);
  });

  it("keep a hundred tokens, even if both issue some at the same time", async () => {
    const { engines, db, grant } = await openWork(2);
    const { id: account_id } = await db.selectFrom("accounts").select("id").executeTakeFirstOrThrow();
    const old = Array.from({ length: 99 }, (_, at) => ({
      account_id,
      token_hash: `old ${at}`,
      created_at: at,
      expires_at: 2_000,
    }));
    await db.insertInto("utokens").values(old).execute();
    const issued = await repeat(10, engines, ({ transport }) => transport.call("tokens.create", grant, {}));
    expect(count(issued)).toBe(10);
    const hashes = (await db.selectFrom("utokens").select("token_hash").orderBy("id").execute()).map(
      ({ token_hash }) => token_hash,
    );
    expect(hashes).toHaveLength(100);
    expect(hashes[0]).toBe("old 9");
  });

  it("leave no token of an old secret, even if one replaces it while the other issues tokens", async () => {
    const { engines, db, keys, grant } = await openWork(2);
    const { id } = await db.selectFrom("accounts").select("id").executeTakeFirstOrThrow();
    const [{ transport }] = engines as [(typeof engines)[0]];
    const [, issued] = await Promise.all([
      transport.work.write(id, (context) => rotateSecret(keys.appKey, context)),
      repeat(10, engines, (engine) => engine.transport.call("tokens.create", grant, {})),
    ]);
    const refused = issued.filter(({ status }) => status === "rejected");
    expect(refused).toEqual(
      refused.map(() => expect.objectContaining({ reason: expect.objectContaining({ kind: "invalidClient" }) })),
    );
    expect(await db.selectFrom("utokens").select("id").execute()).toEqual([]);
  });

  it("add each person and webhook once, even if both need them at the same time", async () => {
    const { engines, db, keys, grant } = await openWork(2);
    const { id } = await db.selectFrom("accounts").select("id").executeTakeFirstOrThrow();
    const ann = { email: "ann@mail.example", display_name: "Ann" };
    const people = await repeat(8, engines, ({ transport }) =>
      transport.work.write(id, async (context) => {
        await findOrAddShopper(ann, id, context);
        await findStorePerson(id, context);
      }),
    );
    expect(count(people)).toBe(8);
    const users = await db.selectFrom("users").select(["kind", "slug"]).orderBy("id").execute();
    expect(users).toEqual([
      { kind: "shopper", slug: "ann" },
      { kind: "store", slug: "store" },
    ]);
    const [{ transport }] = engines as [(typeof engines)[0]];
    const { access_token: utoken } = await transport.call("tokens.create", grant, {});
    const hook = { url: "https://shop.example/", event_name: "review_create" } as const;
    const caller = { appKey: keys.appKey, utoken };
    const created = await repeat(8, engines, (engine) => engine.transport.call("webhooks.create", hook, caller));
    expect(count(created)).toBe(8);
    expect(await db.selectFrom("webhooks").select("url").execute()).toEqual([{ url: hook.url }]);
  });
});
