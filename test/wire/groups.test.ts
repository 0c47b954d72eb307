import { describe, expect, it } from "vitest";
import { differences, int, someText, timestamp, url } from "../support/shape.ts";
import { ok } from "../support/wire-shapes.ts";
import { addProducts, refusal } from "../support/wire-steps.ts";
import { useWire } from "../support/wire.ts";

const wire = useWire();
type Fields = Readonly<Record<string, unknown>>;

const send = (method: string, name = "", body: Fields = {}) =>
  wire().request(method, `/v1/apps/${wire().appKey}/products_groups${name && `/${encodeURIComponent(name)}`}`, {
    utoken: wire().utoken,
    ...body,
  });
const get = (name = "") => {
  const path = name && `/${encodeURIComponent(name)}`;
  return wire().own("GET", `/v1/apps/{app}/products_groups${path}`);
};
const create = (group_name: unknown = "pots") => send("POST", "", { group_name });
const skusOf = async (name = "pots") => {
  const { body } = await get(name);
  const { products_group } = (body as { response: { products_group: { products_apps: { sku: string }[] } } }).response;
  return products_group.products_apps.map(({ sku }) => sku).toSorted();
};
const unknown = (status: number, body: unknown) => {
  expect(status).toBe(404);
  expect(body).toMatchObject({ status: { code: 404, error_type: "Exceptions::RecordNotFound" } });
};
const invalid = (status: number, body: unknown, message: unknown) => {
  expect(status).toBe(500);
  expect(body).toEqual(refusal(message as string, 500, "InvalidParams"));
};

describe("POST /v1/apps/{app_key}/products_groups", () => {
  it("creates a group", async () => {
    const { status, body } = await create();
    expect([status, body]).toEqual([200, { status: ok }]);
  });

  it("rejects a duplicate name, a missing name, and a name that is not a string", async () => {
    await create();
    const again = await create();
    invalid(again.status, again.body, expect.any(String));
    const none = await send("POST");
    invalid(none.status, none.body, "Missing group_name");
    const list = await create(["pots"]);
    invalid(list.status, list.body, expect.stringContaining("group_name"));
    expect((await get()).body).toMatchObject({ response: { products_groups: [{ display_name: "pots" }] } });
  });
});

describe("GET /v1/apps/{app_key}/products_groups", () => {
  it("lists the groups", async () => {
    await create();
    await create("Tea & cups / ä");
    const { status, body } = await get();
    expect(status).toBe(200);
    const group = { id: int, display_name: someText, account_id: int };
    expect(differences(body, { status: ok, response: { products_groups: [group, group] } })).toEqual([]);
    const { products_groups } = (body as { response: { products_groups: { display_name: string }[] } }).response;
    expect(products_groups.map(({ display_name }) => display_name).toSorted()).toEqual(["Tea & cups / ä", "pots"]);
  });

  it("returns an empty list for a new account", async () => {
    expect((await get()).body).toEqual({ status: ok, response: { products_groups: [] } });
  });
});

describe("GET /v1/apps/{app_key}/products_groups/{group_name}", () => {
  it("returns a group with its products", async () => {
    await addProducts(wire(), "red", "blue");
    await create("Tea & cups / ä");
    await send("PUT", "Tea & cups / ä", { product_ids_to_add: ["red", "blue"] });
    const { status, body } = await get("Tea & cups / ä");
    expect(status).toBe(200);
    const product = { sku: someText, product_url: url };
    const group = {
      display_name: "Tea & cups / ä",
      created_at: timestamp,
      updated_at: timestamp,
      products_apps: [product, product],
    };
    expect(differences(body, { status: ok, response: { products_group: group } })).toEqual([]);
    expect(await skusOf("Tea & cups / ä")).toEqual(["blue", "red"]);
  });

  it("returns 404 for an unknown group", async () => {
    const { status, body } = await get("pots");
    unknown(status, body);
  });
});

describe("PUT /v1/apps/{app_key}/products_groups/{group_name}", () => {
  it("adds and removes products, with the utoken in the body or in the query", async () => {
    await addProducts(wire(), "red", "blue", "green");
    await create();
    const added = await send("PUT", "pots", { product_ids_to_add: ["red", "blue"] });
    expect([added.status, added.body]).toEqual([200, { status: ok }]);
    expect(await skusOf()).toEqual(["blue", "red"]);
    const { appKey, utoken, request } = wire();
    const changed = await request("PUT", `/v1/apps/${appKey}/products_groups/pots?utoken=${utoken}`, {
      product_ids_to_add: ["green"],
      product_ids_to_remove: ["red", "ghost"],
    });
    expect([changed.status, changed.body]).toEqual([200, { status: ok }]);
    expect(await skusOf()).toEqual(["blue", "green"]);
  });

  it("adds no products if one of them is unknown", async () => {
    await addProducts(wire(), "red");
    await create();
    const { status, body } = await send("PUT", "pots", { product_ids_to_add: ["red", "ghost"] });
    invalid(status, body, expect.stringContaining("ghost"));
    expect(await skusOf()).toEqual([]);
  });

  it("returns 404 for an unknown group", async () => {
    const { status, body } = await send("PUT", "pots", { product_ids_to_add: [] });
    unknown(status, body);
  });

  it("rejects a value that is not a list", async () => {
    await create();
    const { status, body } = await send("PUT", "pots", { product_ids_to_add: { red: true } });
    invalid(status, body, expect.stringContaining("product_ids_to_add"));
  });
});

describe("DELETE /v1/apps/{app_key}/products_groups/{group_name}", () => {
  it("deletes a group that has no products", async () => {
    await addProducts(wire(), "red");
    await create();
    await send("PUT", "pots", { product_ids_to_add: ["red"] });
    const full = await send("DELETE", "pots");
    invalid(full.status, full.body, expect.any(String));
    expect(await skusOf()).toEqual(["red"]);
    await send("PUT", "pots", { product_ids_to_remove: ["red"] });
    const { appKey, utoken, request } = wire();
    const path = `/v1/apps/${appKey}/products_groups/pots?utoken=${utoken}`;
    const { status, body } = await request("DELETE", path);
    expect([status, body]).toEqual([200, { status: ok }]);
    expect((await get()).body).toEqual({ status: ok, response: { products_groups: [] } });
    const again = await request("DELETE", path);
    unknown(again.status, again.body);
  });
});
