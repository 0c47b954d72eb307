import { randomBytes } from "node:crypto";
import { expect, it, onTestFinished } from "vitest";
import { createLocalTransport } from "../../src/engine/local-transport.ts";
import { ensureFirstAccount } from "../../src/engine/accounts/first-account.ts";
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
});
