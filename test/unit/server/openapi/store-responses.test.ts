import { describe, expect, it } from "vitest";
import { aReview } from "../../../support/builders.ts";
import { useDocumentedCalls } from "../../../support/documented-calls.ts";

const { wire, call, app, own, signed, withToken } = useDocumentedCalls();

const anOrder = (order_id: string) => ({
  email: "ann@mail.example",
  customer_name: "Ann",
  order_id,
  order_date: "2026-03-01",
  products: {
    teapot: {
      name: "Teapot",
      url: "https://shop.example/teapot",
      image: "",
      price: 12.5,
      specs: { sku: "S-1" },
    },
  },
});

describe("responses to stores match the OpenAPI document", () => {
  it("for accounts, users, and tokens", async () => {
    const { appKey, secret } = wire();
    await call("account.setPlatform", ["POST", `${app()}/account_platform`], {
      body: signed({ account_platform: { shop_domain: "http://shop.example", platform_type_id: "2" } }),
    });
    await call("account.setFeature", ["PUT", `${own()}/features`], {
      body: signed({ feature: "trusted_vendor", enabled: true }),
    });
    await call("account.features", ["GET", withToken(`${own()}/features`)]);
    await call("tokens.create", ["POST", "/oauth/token"], {
      body: { client_id: appKey, client_secret: secret, grant_type: "client_credentials" },
    });
    const user = {
      email: "bo@shop.example",
      display_name: "Bo",
      password: "correct horse",
      url: "https://bo.example",
    };
    const made = await call("users.create", ["POST", "/users"], { body: { user } });
    const { user_id } = made["response"] as { user_id: number };
    await call("users.get", ["GET", `/users/${user_id}`]);
    await call("users.get.alias", ["GET", `/users/${user_id}.json`]);
  });

  it("for sign-in", async () => {
    const { appKey, secret } = wire();
    const path = `/users/b2blogin.json?app_key=${appKey}&secret=${secret}`;
    const signIn = await call("users.signIn", ["GET", path]);
    const { code } = signIn["response"] as { code: string };
    await call("users.signedIn", ["GET", `/starpost/v1/sign_in/${code}`]);
    await call("users.signedIn.html", ["GET", `/starpost/v1/admin/${code}`]);
  });

  it("for products and the core API", async () => {
    const product = {
      name: "Teapot",
      url: "https://shop.example/teapot",
      price: "12.50",
      currency: "EUR",
      specs: { upc: "4711" },
    };
    const products = { teapot: product, "tea pot": product, cup: { ...product, name: "Cup" } };
    const made = await call("products.massCreate", ["POST", `${app()}/products/mass_create`], {
      body: signed({ products }),
    });
    expect(made).toHaveProperty("errors");
    await call("products.massUpdate", ["PUT", `${app()}/products/mass_update`], {
      body: signed({
        products: { teapot: { description: "", blacklisted: false, product_tags: ["tea", "pot"] } },
      }),
    });
    const stores = `/core/v3/stores/${wire().appKey}/products`;
    const headers = { "X-Service-Token": wire().utoken };
    const listed = await call("core.listProducts", ["GET", `${stores}?limit=1&updated_at_min=2026-01-01T00:00:00Z`], {
      headers,
    });
    expect(listed["products"]).toHaveLength(1);
    await call("core.listProducts", ["GET", stores], { status: 401 });
    await call("core.listProducts", ["GET", `${stores}?limit=few`], { headers, status: 400 });
    for (let at = 0; at < 3; at += 1) await call("core.listProducts", ["GET", stores], { headers });
    await call("core.listProducts", ["GET", stores], { headers, status: 429 });
  });

  it("for orders", async () => {
    const path = `${app()}/purchases`;
    await call("orders.create", ["POST", path], {
      body: signed({ ...anOrder("1001"), platform: "general", validate_data: true }),
    });
    const bulk = {
      platform: "shopify",
      validate_data: "true",
      orders: [anOrder("1002"), { ...anOrder("1003"), email: "ann @" }],
    };
    const made = await call("orders.massCreate", ["POST", `${path}/mass_create.json`], {
      body: signed(bulk),
    });
    expect(made["errors"]).toHaveLength(1);
    await call("orders.massCreate.alias", ["POST", `${path}/mass_create`], {
      body: signed({ ...bulk, orders: [] }),
    });
    const listed = await call("orders.list", ["GET", withToken(path, "&count=1&since_date=2026-03-01")]);
    expect(listed["response"]).toMatchObject({ purchases: [{ order_id: "1001" }] });
    await call("orders.cancelEmails", ["DELETE", path], {
      body: signed({ orders: [{ order_id: "1001", skus: ["teapot"] }] }),
    });
  });

  it("for promoted and missed products", async () => {
    const product = { name: "Teapot", url: "https://shop.example/teapot" };
    await call("products.massCreate", ["POST", `${app()}/products/mass_create`], {
      body: signed({ products: { teapot: product } }),
    });
    await call("products.setPromoted", ["PUT", `${own()}/promoted_products`], {
      body: signed({ product_ids: ["teapot"] }),
    });
    const promoted = await call("products.promoted", ["GET", `/v1/widget/${wire().appKey}/products/promoted_products`]);
    expect(promoted["response"]).toMatchObject({ products: [{ domain_key: "teapot" }] });
    await call("orders.create", ["POST", `${app()}/purchases`], {
      body: signed({ ...anOrder("1001"), products: { "tea pot": product }, platform: "general" }),
    });
    const path = `/missed_products/${wire().appKey}/search_drill_down`;
    const missed = await call("products.missed", ["GET", withToken(path, "&missed_products_ids=all&size=5")]);
    expect(missed["response"]).toMatchObject({ missed_products: [{ product_sku: "tea pot" }] });
  });

  it("for core API tokens", async () => {
    const { appKey, secret } = wire();
    const path = `/core/v3/stores/${appKey}`;
    const made = await call("core.createToken", ["POST", `${path}/access_tokens`], { body: { secret } });
    await call("core.createToken", ["POST", `${path}/access_tokens`], { body: { secret: "" }, status: 401 });
    const headers = { "X-Service-Token": String(made["access_token"]) };
    await call("core.listProducts", ["GET", `${path}/products`], { headers });
  });

  it("for webhooks", async () => {
    const path = `${own()}/webhooks`;
    const made = await call("webhooks.create", ["POST", path], {
      body: signed({ url: "https://shop.example/hook", event_name: "review_create" }),
    });
    await call("webhooks.list", ["GET", withToken(path)]);
    await call("reviews.create", ["POST", "/v1/widget/reviews"], {
      body: { appkey: wire().appKey, ...aReview() },
    });
    const log = `${own()}/webhook_deliveries`;
    const listed = await call("webhookDeliveries.list", ["GET", withToken(log, "&state=queued&count=5")]);
    const { deliveries } = listed["response"] as { deliveries: { id: number }[] };
    const { id } = deliveries[0] ?? {};
    await call("webhookDeliveries.get", ["GET", withToken(`${log}/${id}`)]);
    await call("webhookDeliveries.redeliver", ["POST", `${log}/${id}/redeliver`], { body: signed() });
    await call("webhookDeliveries.attempts", ["GET", withToken(`${own()}/webhook_attempts`, "&since_id=1")]);
    const { webhook } = made["response"] as { webhook: { id: number } };
    await call("webhooks.delete", ["DELETE", `${path}/${webhook.id}`], { body: signed() });
  });
});
