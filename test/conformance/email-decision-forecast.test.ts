import { expect, it } from "vitest";
import type { Service } from "../../src/service/service.ts";
import { describeBackends, type Harness, startMs } from "../support/backends.ts";
import { anOrder, anOrderedProduct, aProduct, bulkOrders } from "../support/builders.ts";
import { createWorker, readEmailResults, newAccountPerProduct } from "../support/due-emails.ts";

const dayMs = 86_400_000;
const dateOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);
const orderedProducts = (ids: readonly string[]) => Object.fromEntries(ids.map((id) => [id, anOrderedProduct()]));

describeBackends("emails.forecast and emails.explain", (harness: () => Harness) => {
  /** Creates orders by few people of few products; some of the emails must not be sent. */
  async function createOrders(service: Service): Promise<readonly string[]> {
    const orders = Array.from({ length: 24 }, (_, at) =>
      anOrder({
        order_id: `o${at}`,
        email: at % 11 === 10 ? "nobody@localhost" : `P${at % 3}@Mail.example`,
        order_date: dateOf(startMs - ((at * 37) % 200) * dayMs),
        products: orderedProducts([`p${at % 4}`, `p${(at * 7) % 5}`]),
      }),
    );
    await service.orders.massCreate(bulkOrders(orders));
    await service.products.massUpdate({ products: { p1: aProduct({ blacklisted: true }) } });
    await service.unsubscribers.massCreate({ email_list: { "1": ["p2@mail.example"] } });
    return orders.map(({ order_id }) => String(order_id));
  }

  /** Runs a worker day by day, and returns the result of each email. */
  async function sendAll(): Promise<Record<string, string>> {
    const work = createWorker(harness());
    for (let days = 0; days < 30; days++) {
      for (;;) {
        const { emails, notSent } = await work.claim(50);
        if (emails.length + notSent.length === 0) break;
        for (const { email } of emails) {
          await work.step([{ id: email.id, outcome: { state: "accepted", answer: "250 ok" } }]);
        }
      }
      harness().clock.advance(dayMs);
    }
    return readEmailResults(harness());
  }

  it.each([
    { due_after_days: 14, most_mails_to_person: 5, most_mails_days: 30 },
    { due_after_days: 25, most_mails_to_person: 2, most_mails_days: 6 },
  ])("match what the worker then does, with %j", async (settings) => {
    const { service } = await newAccountPerProduct(harness());
    for (const [name, value] of Object.entries(settings)) {
      await service.emailRules.set({ name: name as keyof typeof settings, value });
    }
    const ids = await createOrders(service);
    const predicted: Record<string, string> = {};
    for (const order_id of ids) {
      const { decisions } = await service.emails.explain({ order_id });
      for (const { products, decided_by } of decisions) {
        predicted[`${order_id}/${products[0]?.product_id}`] = decided_by ?? "sent";
      }
    }
    const { mails: forecastCount, not_sent: suppressed } = await service.emails.forecast({});
    const results = await sendAll();
    expect(predicted).toEqual(results);
    const outcomes = Object.values(results);
    expect(outcomes.filter((outcome) => outcome === "sent")).toHaveLength(forecastCount);
    for (const [rule, count] of Object.entries(suppressed)) {
      expect([rule, outcomes.filter((outcome) => outcome === rule).length]).toEqual([rule, count]);
    }
    expect(new Set(outcomes)).toEqual(
      new Set(["sent", "order_too_old", "bad_address", "product_blacklisted", "unsubscribed", "too_many_to_person"]),
    );
  });
});
