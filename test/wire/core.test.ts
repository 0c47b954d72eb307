import { describe, expect, it } from "vitest";
import { useWire } from "../support/wire.ts";
import { mentioning } from "../support/service-errors.ts";

const wire = useWire();

/** 12:00 UTC, in Unix seconds. */
const noon = 1_773_576_000;

const list = async (query = "", token?: string) => {
  const { appKey, utoken, request } = wire();
  const { status, body, headers } = await request("GET", `/core/v3/stores/${appKey}/products${query}`, undefined, {
    "X-Service-Token": token ?? utoken,
  });
  return { status, body, limit: [headers.get("RateLimit-Remaining"), headers.get("RateLimit-Reset")], headers };
};

describe("GET /core/v3/stores/{store_id}/products", () => {
  it("lists products", async () => {
    await wire().own("POST", "/apps/{app}/products/mass_create", {
      products: { pot: { name: "Pot", url: "https://shop.example/pot", specs: { upc: "4711", sku: "S-1" } } },
    });
    const { status, body } = await list("?limit=100&updated_at_min=2026-03-15T00:00:00Z");
    expect([status, body]).toEqual([
      200,
      {
        products: [
          {
            id: 1,
            external_id: "pot",
            name: "Pot",
            description: null,
            url: "https://shop.example/pot",
            image_url: null,
            price: null,
            currency: null,
            brand: null,
            sku: "S-1",
            mpn: null,
            gtins: [{ declared_type: "UPC", value: "4711" }],
            status: "active",
            created_at: "2026-03-15T12:00:00.000Z",
            updated_at: "2026-03-15T12:00:00.000Z",
          },
        ],
        pagination: { next_page_info: null },
      },
    ]);
  });

  it("returns at most 100 products per page", async () => {
    const products = Object.fromEntries(
      Array.from({ length: 103 }, (_, at) => [`p${at}`, { name: "P", url: "http://p.example" }]),
    );
    await wire().own("POST", "/apps/{app}/products/mass_create", { products });
    interface Page {
      readonly products: readonly { readonly external_id: string }[];
      readonly pagination: { readonly next_page_info: string | null };
    }
    const read = async (query: string) => (await list(query)).body as Page;
    const first = await read("?limit=100");
    expect(first.products).toHaveLength(100);
    const next = encodeURIComponent(first.pagination.next_page_info ?? "");
    const second = await read(`?limit=100&page_info=${next}`);
    expect(second.products).toHaveLength(3);
    expect(second.pagination.next_page_info).toBeNull();
    const ids = [...first.products, ...second.products].map(({ external_id }) => external_id);
    expect(new Set(ids).size).toBe(103);
    const more = await list("?limit=101");
    if (more.status === 200) expect((more.body as Page).products.length).toBeLessThanOrEqual(100);
    else expect(more.status).toBe(400);
  });

  it("allows five requests a second and returns the remaining number", async () => {
    for (const remaining of ["4", "3", "2", "1", "0"]) {
      expect(await list()).toMatchObject({ status: 200, limit: [remaining, `${noon + 1}`] });
    }
    const { status, body, limit, headers } = await list();
    expect([status, body, limit]).toEqual([429, { errors: [{ message: "Too Many Requests" }] }, ["0", `${noon + 1}`]]);
    expect(headers.get("Retry-After")).toBe("1");
    wire().advance(1_000);
    expect(await list()).toMatchObject({ status: 200, limit: ["4", `${noon + 2}`] });
  });

  it("rejects an invalid token, and does not count the request", async () => {
    for (let request = 0; request < 19; request += 1) {
      expect(await list("", "wrong")).toMatchObject({
        status: 401,
        body: { errors: [{ message: "You are not authorized to access this page." }] },
        limit: ["5", `${noon + 1}`],
      });
    }
    expect(await list()).toMatchObject({ status: 200, limit: ["4", `${noon + 1}`] });
  });

  it("does not accept a token in the query", async () => {
    expect((await wire().own("GET", "/core/v3/stores/{app}/products")).status).toBe(401);
  });

  it("rejects an invalid timestamp", async () => {
    expect(await list("?updated_at_min=yesterday")).toMatchObject({
      status: 400,
      body: { errors: [{ message: mentioning("updated_at_min") }] },
      limit: ["4", `${noon + 1}`],
    });
  });

  it("returns 404 for an unknown store", async () => {
    const { utoken, request } = wire();
    const response = await request("GET", "/core/v3/stores/nobody/products", undefined, { "X-Service-Token": utoken });
    expect(response).toMatchObject({
      status: 404,
      body: { errors: [{ message: "Couldn't find Account with app_key = nobody" }] },
    });
  });
});

describe("every response of the core API", () => {
  it("returns the remaining number of requests, even if the request is rejected before it is counted", async () => {
    const { appKey, request } = wire();
    const products = `/core/v3/stores/${appKey}/products`;
    for (const [method, path, body, status] of [
      ["GET", "/core/v3/stores/nobody/products", undefined, 404],
      ["GET", "/core/v3/nothing", undefined, 404],
      ["PUT", products, undefined, 405],
      ["POST", `/core/v3/stores/${appKey}/access_tokens`, "{", 400],
    ] as const) {
      const answered = await request(method, path, body);
      expect([path, answered.status]).toEqual([path, status]);
      expect(answered.headers.get("RateLimit-Remaining"), path).toBe("5");
      expect(answered.headers.get("RateLimit-Reset"), path).toBe(String(noon + 1));
    }
  });
});
