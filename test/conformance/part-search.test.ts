import { expect, it } from "vitest";
import { describeBackends } from "../support/backends.ts";
import { anOrder, anOrderedProduct, aProduct, aReview, bulkOrders } from "../support/builders.ts";
import { invalidField } from "../support/service-errors.ts";

describeBackends("search for parts of texts", (harness) => {
  it("finds orders, emails, customers, unsubscribers, products, and coupons", async () => {
    const { service } = await harness().newAccount();
    const products = { teapot: anOrderedProduct(), pan: anOrderedProduct({ name: "Pan" }) };
    const orders = [
      anOrder({ order_id: "DE-1001", email: "Zoe.Lee@mail.example", customer_name: "Zoë Lee", products }),
      anOrder({ order_id: "DE-1002", email: "bo@mail.example", customer_name: "Bo Leeds" }),
    ];
    await service.orders.massCreate({ ...bulkOrders(orders), send_mail: true });
    await service.products.massCreate({ products: { kettle: aProduct({ name: "Kettle" }) } });
    await service.coupons.upload({ coupon_action: "map_review", codes: ["SPRING-1", "SUMMER-1"] });
    await service.unsubscribers.massCreate({ email_list: { 1: ["lee@post.example", "bo@mail.example"] } });
    await service.reviews.createNow(aReview({ display_name: "Leela", email: "author@mail.example" }));

    const findLines = async (search: string) =>
      (await service.orders.search({ search })).purchases.map(
        ({ order_id, product_sku }) => `${order_id} ${product_sku}`,
      );
    expect(await findLines("lee")).toEqual(["DE-1002 teapot", "DE-1001 pan", "DE-1001 teapot"]);
    expect(await findLines("ZOE l")).toEqual(["DE-1001 pan", "DE-1001 teapot"]);
    expect(await findLines("1002")).toEqual(["DE-1002 teapot"]);
    expect(await findLines("1002 ")).toEqual(["DE-1002 teapot"]);
    expect(await findLines("%_%")).toEqual([]);

    const { mails } = await service.emails.list({ search: "de-1001" });
    expect(new Set(mails.map(({ order_id }) => order_id))).toEqual(new Set(["DE-1001"]));
    expect((await service.emails.list({ search: "zoe.l", state: "sent" })).mails).toEqual([]);

    const { customers } = await service.customers.find({ search: "lee" });
    expect(Object.fromEntries(customers.map(({ email, name, order_id }) => [email, [name, order_id]]))).toEqual({
      "Zoe.Lee@mail.example": ["Zoë Lee", "DE-1001"],
      "author@mail.example": ["Leela", null],
      "bo@mail.example": ["Bo Leeds", "DE-1002"],
      "lee@post.example": ["", null],
    });
    expect((await service.customers.find({ search: "lee", limit: 2 })).customers).toHaveLength(2);

    const { unsubscribers } = await service.unsubscribers.search({ search: "POST", email_type_id: 1 });
    expect(unsubscribers.map(({ user_email }) => user_email)).toEqual(["lee@post.example"]);
    expect((await service.unsubscribers.search({ search: "POST", email_type_id: 2 })).unsubscribers).toEqual([]);

    const found = await service.products.search({ search: "PAN" });
    expect(found.products.map(({ external_id }) => external_id)).toEqual(["pan"]);
    expect((await service.products.search({ search: "kett" })).products).toHaveLength(1);
    const page = await service.coupons.search({ search: "mer" });
    expect(page).toEqual({
      coupons: [{ code: "SUMMER-1", coupon_action: "map_review", issued_to: null, issued_at: null }],
      pagination: { next_page_info: null },
    });
  });

  it("rejects texts that are too short, and orders of emails that are not by ID", async () => {
    const { service } = await harness().newAccount();
    for (const search of ["ab", "  a  "]) {
      await expect(service.customers.find({ search })).rejects.toMatchObject(invalidField("search"));
    }
    expect((await service.customers.find({ search: "王伟" })).customers).toEqual([]);
    const query = { search: "ann", sort: "soonest" } as const;
    await expect(service.emails.list(query)).rejects.toMatchObject(invalidField("sort"));
  });
});
