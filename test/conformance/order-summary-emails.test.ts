import { beforeEach, expect, it } from "vitest";
import type { Service } from "../../src/service/service.ts";
import { describeBackends, type Harness } from "../support/backends.ts";
import { anOrder, anOrderedProduct, aProduct, bulkOrders } from "../support/builders.ts";
import { createWorker, newAccountPerProduct } from "../support/due-emails.ts";

type Fields = NonNullable<Parameters<typeof anOrder>[0]>;
const orderedProducts = (...ids: string[]) =>
  Object.fromEntries(ids.map((id) => [id, anOrderedProduct({ name: id.toUpperCase() })]));

describeBackends("an email that covers a complete order", (harness: () => Harness) => {
  let service: Service;

  beforeEach(async () => {
    ({ service } = await newAccountPerProduct(harness()));
  });

  const createOrder = (fields: Fields, more: { send_mail?: boolean } = {}) =>
    service.orders.massCreate(bulkOrders([anOrder({ order_id: "1", ...fields })], more));
  const enableOneEmailPerOrder = () => service.emailRules.set({ name: "one_mail_per", value: "order" });

  /** Sends all due emails, and returns the products that each one mentions. */
  async function send(): Promise<readonly (readonly string[])[]> {
    const work = createWorker(harness());
    const { emails } = await work.claim(100);
    for (const { email } of emails) {
      await work.step([], email.id);
      await work.step([{ id: email.id, outcome: { state: "accepted", answer: "250 ok" } }]);
    }
    return emails.map(({ email }) =>
      (email.data["products"] as readonly { product_id: string }[]).map(({ product_id }) => product_id),
    );
  }

  const explain = async () =>
    (await service.emails.explain({ order_id: "1" })).decisions.map(({ products, ...decision }) => [
      decision.is_whole_order ? "whole" : "own",
      decision.state,
      decision.decided_by,
      products.map(({ product_id, dropped_by }) => [product_id, dropped_by]),
    ]);

  it("keeps existing emails per product if the setting changes between two requests", async () => {
    await createOrder({ products: orderedProducts("pot") });
    await enableOneEmailPerOrder();
    await createOrder({ products: orderedProducts("pot", "pan") });
    await service.emailRules.set({ name: "one_mail_per", value: "product" });
    await createOrder({ products: orderedProducts("pot", "pan", "cup") });
    expect(await explain()).toEqual([
      ["own", "queued", null, [["pot", null]]],
      ["own", "queued", null, [["cup", null]]],
      ["whole", "queued", null, [["pan", null]]],
    ]);
    expect(await send()).toEqual([["pot"], ["pan"], ["cup"]]);
  });

  it("excludes products imported as past, permanently", async () => {
    await enableOneEmailPerOrder();
    await createOrder({ products: orderedProducts("pot") }, { send_mail: false });
    harness().clock.advance(1_000);
    await createOrder({ products: orderedProducts("pot", "pan") }, { send_mail: true });
    expect(await send()).toEqual([["pan"]]);
    expect(await explain()).toEqual([
      ["own", null, "past_order", [["pot", null]]],
      ["whole", "sent", null, [["pan", null]]],
    ]);
  });

  it("includes products added to the order before it is sent", async () => {
    await enableOneEmailPerOrder();
    await createOrder({ products: orderedProducts("pot") });
    harness().clock.advance(1_000);
    await createOrder({ products: orderedProducts("pot", "pan") });
    expect(await send()).toEqual([["pot", "pan"]]);
  });

  it("keeps the reason for each dropped product, and the message as it was sent", async () => {
    await enableOneEmailPerOrder();
    await createOrder({ products: orderedProducts("pot", "pan", "cup") });
    await service.products.massUpdate({ products: { pot: aProduct({ blacklisted: true }) } });
    await service.orders.cancelEmails({ orders: [{ order_id: "1", skus: ["cup"] }] });
    expect(await send()).toEqual([["pan"]]);
    await service.products.massUpdate({ products: { pot: aProduct({ blacklisted: false }) } });
    const sent = [
      ["pot", "product_blacklisted"],
      ["pan", null],
      ["cup", "mails_stopped"],
    ];
    expect(await explain()).toEqual([["whole", "sent", null, sent]]);
    const { mails } = await service.emails.list({});
    const { message } = await service.emails.get({ mail_id: mails[0]?.id ?? 0 });
    expect(message?.text.match(/^5 ★ /gm)).toHaveLength(1);
    expect(message?.text).toContain("PAN");
  });

  it("includes a product again if nothing suppresses it at the next attempt", async () => {
    await enableOneEmailPerOrder();
    await createOrder({ products: orderedProducts("pot", "pan") });
    await service.products.massUpdate({ products: { pot: aProduct({ blacklisted: true }) } });
    const work = createWorker(harness());
    expect((await work.claim(1)).emails).toHaveLength(1);
    await work.release();
    await service.products.massUpdate({ products: { pot: aProduct({ blacklisted: false }) } });
    expect(await send()).toEqual([["pot", "pan"]]);
    const products = [
      ["pot", null],
      ["pan", null],
    ];
    expect(await explain()).toEqual([["whole", "sent", null, products]]);
  });
});
