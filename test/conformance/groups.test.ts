import { expect, it } from "vitest";
import { describeBackends, type Harness, type TestAccount } from "../support/backends.ts";
import { aProduct } from "../support/builders.ts";
import { invalidField, mentioning } from "../support/service-errors.ts";

async function withProducts(harness: Harness, ...ids: string[]): Promise<TestAccount> {
  const account = await harness.newAccount();
  const products = Object.fromEntries(ids.map((id) => [id, aProduct({ url: `https://shop.example/${id}` })] as const));
  await account.service.products.massCreate({ products });
  return account;
}

async function skusOf({ service }: TestAccount, group_name: string) {
  const { products_group } = await service.groups.get({ group_name });
  return products_group.products_apps.map(({ sku }) => sku);
}

const unknown = (name: string) => ({
  kind: "recordNotFound",
  message: `Couldn't find ProductsGroup with name = ${name}`,
});

describeBackends("groups.create", (harness) => {
  it("rejects a name that is taken, but allows another case and the name of another account's group", async () => {
    const [one, other] = [await harness().newAccount(), await harness().newAccount()];
    await one.service.groups.create({ group_name: "Teapots" });
    for (const group_name of ["Teapots", " Teapots\t"]) {
      await expect(one.service.groups.create({ group_name })).rejects.toMatchObject(
        invalidField("group_name", "Teapots"),
      );
    }
    await one.service.groups.create({ group_name: "teapots" });
    await other.service.groups.create({ group_name: "Teapots" });
    expect((await one.service.groups.list({})).products_groups).toHaveLength(2);
    expect((await other.service.groups.list({})).products_groups).toHaveLength(1);
  });

  it.each([
    ["", "Missing group_name"],
    ["   ", "Missing group_name"],
    [".", mentioning("group_name", ".")],
    [" .. ", mentioning("group_name", "..")],
    ["x".repeat(256), mentioning("group_name", 255)],
    ["a\u0000b", mentioning("group_name", "U+0000")],
  ])("rejects the name %j", async (group_name, message) => {
    const { service } = await harness().newAccount();
    await expect(service.groups.create({ group_name })).rejects.toMatchObject({ kind: "invalidParams", message });
  });

  it("compares and stores names in NFC", async () => {
    const account = await withProducts(harness(), "a");
    const { groups } = account.service;
    const [composed, decomposed] = ["caf\u00e9", "cafe\u0301"];
    await groups.create({ group_name: decomposed });
    await expect(groups.create({ group_name: composed })).rejects.toMatchObject(invalidField("group_name", composed));
    await groups.update({ group_name: decomposed, product_ids_to_add: ["a"] });
    for (const group_name of [composed, decomposed]) {
      const { products_group } = await groups.get({ group_name });
      expect(products_group).toMatchObject({ display_name: composed, products_apps: [{ sku: "a" }] });
    }
    await groups.update({ group_name: composed, product_ids_to_remove: ["a"] });
    await groups.delete({ group_name: decomposed });
    expect(await groups.list({})).toEqual({ products_groups: [] });
    await groups.create({ group_name: "e\u0301".repeat(255) });
  });
});

describeBackends("groups.get", (harness) => {
  it("returns the products in creation order, with timestamps", async () => {
    const account = await withProducts(harness(), "b", "a", "c");
    await account.service.groups.create({ group_name: "Pots" });
    harness().clock.advance(1_000);
    await account.service.groups.update({ group_name: "Pots", product_ids_to_add: ["a", "b"] });
    expect(await account.service.groups.get({ group_name: "Pots" })).toEqual({
      products_group: {
        display_name: "Pots",
        created_at: "2026-03-15T12:00:00.000Z",
        updated_at: "2026-03-15T12:00:01.000Z",
        products_apps: [
          { sku: "b", product_url: "https://shop.example/b" },
          { sku: "a", product_url: "https://shop.example/a" },
        ],
      },
    });
  });

  it.each([
    "Tea & coffee",
    "cups/mugs",
    '100 % "best" ?a=b#c',
    "thé 茶 🫖",
    "a+b;c,d",
    "name.json",
    "%2F%20",
    "mass_create",
    "7",
    "x".repeat(255),
    "茶".repeat(255),
  ])("finds, updates, and deletes a group by the name %j", async (group_name) => {
    const account = await withProducts(harness(), "a");
    const { groups } = account.service;
    await groups.create({ group_name });
    await groups.update({ group_name, product_ids_to_add: ["a"] });
    const { products_group } = await groups.get({ group_name });
    expect(products_group).toMatchObject({ display_name: group_name, products_apps: [{ sku: "a" }] });
    await groups.update({ group_name, product_ids_to_remove: ["a"] });
    expect(await groups.delete({ group_name })).toEqual({});
    expect(await groups.list({})).toEqual({ products_groups: [] });
  });

  it("does not find another name, another case, or another account's group", async () => {
    const [one, other] = [await harness().newAccount(), await harness().newAccount()];
    await one.service.groups.create({ group_name: "Pots" });
    await expect(one.service.groups.get({ group_name: "pots" })).rejects.toMatchObject(unknown("pots"));
    await expect(other.service.groups.get({ group_name: "Pots" })).rejects.toMatchObject(unknown("Pots"));
    const mismatched = harness().service({ appKey: one.caller.appKey, utoken: other.caller.utoken });
    await expect(mismatched.groups.get({ group_name: "Pots" })).rejects.toMatchObject({ kind: "unauthorized" });
    expect(await one.service.groups.get({ group_name: " Pots " })).toMatchObject({
      products_group: { display_name: "Pots" },
    });
  });
});

describeBackends("groups.update", (harness) => {
  it("adds and removes products, ignores changes already made, and accepts numeric IDs", async () => {
    const account = await withProducts(harness(), "1", "2", "3");
    const { groups } = account.service;
    await groups.create({ group_name: "G" });
    expect(await groups.update({ group_name: "G", product_ids_to_add: ["1", 2, "1"] })).toEqual({});
    expect(await skusOf(account, "G")).toEqual(["1", "2"]);
    await groups.update({ group_name: "G", product_ids_to_add: ["2", "3"], product_ids_to_remove: ["1", "none", "1"] });
    expect(await skusOf(account, "G")).toEqual(["2", "3"]);
    await groups.update({ group_name: "G" });
    await groups.update({ group_name: "G", product_ids_to_add: [], product_ids_to_remove: [] });
    expect(await skusOf(account, "G")).toEqual(["2", "3"]);
  });

  it.each(["product_ids_to_add", "product_ids_to_remove"])("accepts at most 500 %s", async (field) => {
    const account = await withProducts(harness(), "a");
    await account.service.groups.create({ group_name: "G" });
    const change = (count: number) =>
      account.service.groups.update({ group_name: "G", [field]: Array<string>(count).fill("a") });
    await change(500);
    await expect(change(501)).rejects.toMatchObject(invalidField(field, 500));
  });

  it("rejects a product that is both added and removed", async () => {
    const account = await withProducts(harness(), "a");
    await account.service.groups.create({ group_name: "G" });
    await expect(
      account.service.groups.update({ group_name: "G", product_ids_to_add: ["a"], product_ids_to_remove: ["a"] }),
    ).rejects.toMatchObject(invalidField("product_ids_to_add", "product_ids_to_remove", "a"));
    expect(await skusOf(account, "G")).toEqual([]);
  });

  it("moves a product from another group, and does not remove a product of another group", async () => {
    const account = await withProducts(harness(), "a", "b");
    const { groups } = account.service;
    await groups.create({ group_name: "One" });
    await groups.create({ group_name: "Two" });
    await groups.update({ group_name: "One", product_ids_to_add: ["a", "b"] });
    await groups.update({ group_name: "Two", product_ids_to_remove: ["a"] });
    expect(await skusOf(account, "One")).toEqual(["a", "b"]);
    await groups.update({ group_name: "Two", product_ids_to_add: ["a"] });
    expect([await skusOf(account, "One"), await skusOf(account, "Two")]).toEqual([["b"], ["a"]]);
  });

  it("updates updated_at only of the groups whose products changed", async () => {
    const account = await withProducts(harness(), "a", "b");
    const { groups } = account.service;
    const changes = async (group_name: string) => (await groups.get({ group_name })).products_group.updated_at;
    for (const group_name of ["One", "Two", "Three"]) await groups.create({ group_name });
    await groups.update({ group_name: "One", product_ids_to_add: ["a"] });
    harness().clock.advance(1_000);
    await groups.update({ group_name: "Three", product_ids_to_remove: ["a"] });
    await groups.update({ group_name: "Two", product_ids_to_add: ["a"] });
    const before = "2026-03-15T12:00:00.000Z";
    const after = "2026-03-15T12:00:01.000Z";
    expect([await changes("One"), await changes("Two"), await changes("Three")]).toEqual([after, after, before]);
  });
});

describeBackends("groups and reviews", (harness) => {
  const review = async ({ service }: TestAccount, sku: string, review_score: number) =>
    service.reviews.createNow({
      sku,
      product_title: "Teapot",
      product_url: "https://shop.example/teapot",
      display_name: "Ann",
      email: "ann@mail.example",
      review_title: "Good",
      review_content: "A good pot",
      review_score,
    });

  async function scoresOf({ service }: TestAccount, product_id: string) {
    const { reviews, bottomline } = await service.reviews.widget({ product_id });
    const scores = reviews.map(({ score }) => score).toSorted((a, b) => a - b);
    return [scores, bottomline.total_review, bottomline.average_score];
  }

  it("shares reviews among the products of a group while they are members", async () => {
    const account = await withProducts(harness(), "a", "b", "c");
    const { groups } = account.service;
    await review(account, "a", 5);
    await review(account, "b", 3);
    await review(account, "c", 1);
    await groups.create({ group_name: "One" });
    await groups.create({ group_name: "Two" });
    await groups.update({ group_name: "One", product_ids_to_add: ["a", "b"] });
    await groups.update({ group_name: "Two", product_ids_to_add: ["c"] });
    await review(account, "b", 4);
    for (const id of ["a", "b"]) expect(await scoresOf(account, id)).toEqual([[3, 4, 5], 3, 4]);
    await groups.update({ group_name: "Two", product_ids_to_add: ["a"] });
    for (const id of ["a", "c"]) expect(await scoresOf(account, id)).toEqual([[1, 5], 2, 3]);
    expect(await scoresOf(account, "b")).toEqual([[3, 4], 2, 3.5]);
    await groups.update({ group_name: "Two", product_ids_to_remove: ["a"] });
    expect(await scoresOf(account, "a")).toEqual([[5], 1, 5]);
    expect(await scoresOf(account, "c")).toEqual([[1], 1, 1]);
  });
});

describeBackends("the widget of a grouped product", (harness) => {
  it("names the product first, then the others of its group", async () => {
    const account = await withProducts(harness(), "a", "b", "c", "d");
    const { groups, reviews } = account.service;
    const namesOf = async (product_id: string) => {
      const { products } = await reviews.widget({ product_id });
      return products.map(({ domain_key, product_link }) => [domain_key, product_link.split("/").at(-1)]);
    };
    await groups.create({ group_name: "One" });
    await groups.create({ group_name: "Two" });
    await groups.update({ group_name: "One", product_ids_to_add: ["c", "b", "a"] });
    expect(await namesOf("b")).toEqual([
      ["b", "b"],
      ["a", "a"],
      ["c", "c"],
    ]);
    await groups.update({ group_name: "Two", product_ids_to_add: ["a", "d"] });
    expect(await namesOf("a")).toEqual([
      ["a", "a"],
      ["d", "d"],
    ]);
    await groups.update({ group_name: "Two", product_ids_to_remove: ["a"] });
    expect([await namesOf("a"), await namesOf("d"), await namesOf("none")]).toEqual([[["a", "a"]], [["d", "d"]], []]);
  });
});

describeBackends("groups.delete", (harness) => {
  it("frees the name for a new group with a new ID", async () => {
    const { service } = await harness().newAccount();
    await service.groups.create({ group_name: "G" });
    const [first] = (await service.groups.list({})).products_groups;
    await service.groups.delete({ group_name: "G" });
    await service.groups.create({ group_name: "G" });
    const [second] = (await service.groups.list({})).products_groups;
    expect(second?.id).toBeGreaterThan(first?.id ?? 0);
  });
});
