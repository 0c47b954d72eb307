import { beforeEach, expect, it } from "vitest";
import type { Service } from "../../src/service/service.ts";
import { describeBackends, type Harness } from "../support/backends.ts";
import { anOrder, anOrderedProduct, aProduct, bulkOf } from "../support/builders.ts";
import { createWorker } from "../support/due-mails.ts";

type Fields = NonNullable<Parameters<typeof anOrder>[0]>;
const pots = (...ids: string[]) =>
  Object.fromEntries(ids.map((id) => [id, anOrderedProduct({ name: id.toUpperCase() })]));

describeBackends("a mail about a whole order", (harness: () => Harness) => {
  let service: Service;

  beforeEach(async () => {
    ({ service } = await harness().newAccount());
  });

  const bring = (fields: Fields, more: { send_mail?: boolean } = {}) =>
    service.orders.massCreate(bulkOf([anOrder({ order_id: "1", ...fields })], more));
  const wantOne = () => service.emailRules.set({ name: "one_mail_per", value: "order" });

  /** Lets all that is due go; the products that each mail speaks of. */
  async function send(): Promise<readonly (readonly string[])[]> {
    const work = createWorker(harness());
    const { emails } = await work.claim(100);
    for (const { email: mail } of emails) {
      await work.step([], mail.id);
      await work.step([{ id: mail.id, outcome: { state: "accepted", answer: "250 ok" } }]);
    }
    return emails.map(({ email }) =>
      (email.data["products"] as readonly { product_id: string }[]).map(({ product_id }) => product_id),
    );
  }

  const why = async () =>
    (await service.emails.explain({ order_id: "1" })).decisions.map(({ products, ...told }) => [
      told.is_whole_order ? "whole" : "own",
      told.state,
      told.decided_by,
      products.map(({ product_id, left_out_by }) => [product_id, left_out_by]),
    ]);

  it("leaves products to their own mails, where the setting was changed between two calls", async () => {
    await bring({ products: pots("pot") });
    await wantOne();
    await bring({ products: pots("pot", "pan") });
    await service.emailRules.set({ name: "one_mail_per", value: "product" });
    await bring({ products: pots("pot", "pan", "cup") });
    expect(await why()).toEqual([
      ["own", "queued", null, [["pot", null]]],
      ["own", "queued", null, [["cup", null]]],
      ["whole", "queued", null, [["pan", null]]],
    ]);
    expect(await send()).toEqual([["pot"], ["pan"], ["cup"]]);
  });

  it("does not speak of what came as past, nor does anything change that", async () => {
    await wantOne();
    await bring({ products: pots("pot") }, { send_mail: false });
    harness().clock.advance(1_000);
    await bring({ products: pots("pot", "pan") }, { send_mail: true });
    expect(await send()).toEqual([["pan"]]);
    expect(await why()).toEqual([
      ["own", null, "past_order", [["pot", null]]],
      ["whole", "sent", null, [["pan", null]]],
    ]);
  });

  it("speaks of what comes to its order before it goes", async () => {
    await wantOne();
    await bring({ products: pots("pot") });
    harness().clock.advance(1_000);
    await bring({ products: pots("pot", "pan") });
    expect(await send()).toEqual([["pot", "pan"]]);
  });

  it("keeps why it left out a product, whatever holds later, and shows what it said", async () => {
    await wantOne();
    await bring({ products: pots("pot", "pan", "cup") });
    await service.products.massUpdate({ products: { pot: aProduct({ blacklisted: true }) } });
    await service.orders.cancelEmails({ orders: [{ order_id: "1", skus: ["cup"] }] });
    expect(await send()).toEqual([["pan"]]);
    await service.products.massUpdate({ products: { pot: aProduct({ blacklisted: false }) } });
    const sent = [
      ["pot", "product_blacklisted"],
      ["pan", null],
      ["cup", "mails_stopped"],
    ];
    expect(await why()).toEqual([["whole", "sent", null, sent]]);
    const { mails } = await service.emails.list({});
    const { message } = await service.emails.get({ mail_id: mails[0]?.id ?? 0 });
    expect(message?.text.match(/Write a review: /g)).toHaveLength(1);
    expect(message?.text).toContain("PAN");
  });

  it("speaks again of what nothing holds against any more where it goes once more", async () => {
    await wantOne();
    await bring({ products: pots("pot", "pan") });
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
    expect(await why()).toEqual([["whole", "sent", null, products]]);
  });
});
