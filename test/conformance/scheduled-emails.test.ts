import { expect, it } from "vitest";
import { describeIsolated, type Harness } from "../support/backends.ts";
import { anOrder, anOrderedProduct, aProduct, bulkOrders } from "../support/builders.ts";
import { evaluateDueEmails, newAccountPerProduct } from "../support/due-emails.ts";

const dayMs = 86_400_000;

describeIsolated("orders with send_mail", (harness: () => Harness) => {
  it("report how many emails will be sent, without those that a rule suppresses", async () => {
    const { service } = await newAccountPerProduct(harness());
    await service.products.massCreate({ products: { secret: aProduct({ blacklisted: true }) } });
    await service.unsubscribers.massCreate({ email_list: { 1: ["bo@mail.example"] } });
    const order = (order_id: string, fields = {}) => anOrder({ order_id, ...fields });
    const { mails } = await service.orders.massCreate(
      bulkOrders(
        [
          order("1"),
          order("2", { email: "bo@mail.example" }),
          order("3", { email: "cy@localhost" }),
          order("4", { email: "di@mail.example", order_date: "2025-01-01" }),
          order("5", { email: "ed@mail.example", products: { secret: anOrderedProduct() } }),
          order("6", { email: "fay@mail.example", order_date: "2026-03-14" }),
        ],
        { send_mail: true },
      ),
    );
    expect(mails).toEqual({ queued: 2, first_due: "2026-03-15" });
    expect((await service.emails.forecast({})).mails).toBe(2);
    harness().clock.advance(13 * dayMs);
    const results = Object.values(await evaluateDueEmails(harness()));
    expect(results.filter((result) => result === "leased")).toHaveLength(2);
  });

  it("apply the limit per customer, with the emails of earlier calls", async () => {
    const { service } = await newAccountPerProduct(harness());
    const products = (...ids: string[]) => Object.fromEntries(ids.map((id) => [id, anOrderedProduct()]));
    const create = async (order_id: string, ids: string[], email = "ann@mail.example") =>
      (
        await service.orders.massCreate(
          bulkOrders([anOrder({ order_id, email, products: products(...ids) })], { send_mail: true }),
        )
      ).mails;
    expect(await create("1", ["a", "b", "c"])).toEqual({ queued: 3, first_due: "2026-03-15" });
    expect(await create("2", ["d", "e", "f", "g"])).toEqual({ queued: 2, first_due: "2026-03-15" });
    expect(await create("3", ["a"])).toEqual({ queued: 0, first_due: null });
    expect(await create("4", ["a"], "bo@mail.example")).toEqual({ queued: 1, first_due: "2026-03-15" });
    await service.emailRules.set({ name: "too_many_to_person", value: false });
    expect(await create("3", ["a"])).toEqual({ queued: 1, first_due: "2026-03-15" });
  });

  it("report none for orders with emails off or review requests off", async () => {
    const { service } = await harness().newAccount();
    await service.emailRules.set({ name: "send_review_requests", value: false });
    const { mails } = await service.orders.massCreate(bulkOrders([anOrder()], { send_mail: true }));
    expect(mails).toEqual({ queued: 0, first_due: null });
    expect((await service.orders.massCreate(bulkOrders([anOrder()]))).mails).toBeUndefined();
  });
});
