import { takePhoto } from "../support/photos.ts";
import { describe, expect, it } from "vitest";
import { findFaults, readJsonLd } from "../support/html.ts";
import { hostileTexts } from "../support/hostile-texts.ts";
import { aReview, createReview, notFound } from "../support/wire-steps.ts";
import { useWire } from "../support/wire.ts";

const wire = useWire();

const html = "text/html; charset=utf-8";
const form = { "content-type": "application/x-www-form-urlencoded" };

describe("GET /starpost/v1/pages/{app_key}/products/{product_id}", () => {
  const path = (product = "teapot") => `/starpost/v1/pages/${wire().appKey}/products/${product}`;

  it("serves the SEO page's URL", async () => {
    await createReview(wire());
    const { body } = await wire().request("GET", `/v1/seo_pages/url/${wire().appKey}/teapot`);
    const { seo_page_url } = (body as { response: { seo_page_url: string } }).response;
    expect(new URL(seo_page_url).pathname).toBe(path());
    const { status, headers, text } = await wire().raw("GET", path());
    expect([status, headers.get("content-type")]).toEqual([200, html]);
    expect(await findFaults(text)).toEqual([]);
    for (const shown of ["Teapot", "Good pot", "It pours well.", "Jane D."]) expect(text).toContain(shown);
    for (const hidden of ["jane@mail.example", "Jane Doe", wire().secret]) expect(text).not.toContain(hidden);
    expect(readJsonLd(text)).toMatchObject({
      "@type": "Product",
      name: "Teapot",
      sku: "teapot",
      aggregateRating: { ratingValue: 5, reviewCount: 1 },
      review: [{ author: { name: "Jane D." }, datePublished: "2026-03-15T12:00:00.000Z" }],
    });
  });

  it("escapes user-supplied text", async () => {
    await Promise.all(
      hostileTexts.map((text, index) =>
        createReview(wire(), {
          review_title: text,
          review_content: text,
          display_name: text,
          email: `a${index}@mail.example`,
        }),
      ),
    );
    const { text } = await wire().raw("GET", path());
    expect(await findFaults(text)).toEqual([]);
    const { review } = readJsonLd(text) as { review: { reviewBody: string }[] };
    const texts = review.map(({ reviewBody }) => reviewBody);
    // A title with a link is held for moderation.
    const published = hostileTexts.filter((shown) => !shown.includes("http://"));
    expect(texts.toSorted()).toEqual(published.toSorted());
  });

  it("returns 404 as JSON for an unknown product or account", async () => {
    expect(await wire().request("GET", path("pan"))).toMatchObject(
      notFound("Couldn't find ProductsApp with domain_key = pan"),
    );
    expect(await wire().request("GET", "/starpost/v1/pages/nobody/products")).toMatchObject(
      notFound("Couldn't find Account with app_key = nobody"),
    );
  });
});

describe("/starpost/v1/l/{token}", () => {
  const newestLink = async () => {
    await wire().request("POST", "/v1/widget/reviews", aReview(wire()));
    const token = (await wire().emails()).at(-1)?.linkToken;
    return `/starpost/v1/l/${token}`;
  };
  const isVerified = async () => {
    const { body } = await wire().request("GET", "/reviews/1");
    return (body as { response: { review: { user_type: string } } }).response.review.user_type !== "Anonymous";
  };

  it("shows what the link does, and does it when the button is pressed", async () => {
    const link = await newestLink();
    const shown = await wire().raw("GET", link);
    expect([shown.status, shown.headers.get("content-type")]).toEqual([200, html]);
    expect(await findFaults(shown.text)).toEqual([]);
    expect(shown.text).toContain('<form method="post"><button type="submit">Confirm my review</button></form>');
    await wire().raw("HEAD", link);
    expect(await isVerified()).toBe(false);
    const pressed = await wire().raw("POST", link, "", form);
    expect([pressed.status, pressed.text.includes("is confirmed")]).toEqual([200, true]);
    expect(await isVerified()).toBe(true);
    expect((await wire().raw("GET", link)).text).not.toContain("<form");
  });

  it.each([
    ["form-encoded", "List-Unsubscribe=One-Click", form],
    [
      "as multipart form data",
      '--b\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--b--\r\n',
      { "content-type": "multipart/form-data; boundary=b" },
    ],
    ["with an empty body", undefined, {}],
  ])("accepts the one-click request of an email client, %s (RFC 8058)", async (_how, body, headers) => {
    const link = await newestLink();
    const { status, text } = await wire().raw("POST", link, body, headers);
    expect([status, text.includes("is confirmed")]).toEqual([200, true]);
    expect(await isVerified()).toBe(true);
  });

  it("reports expired and invalid links", async () => {
    const link = await newestLink();
    wire().advance(31 * 24 * 3_600_000);
    for (const path of [link, "/starpost/v1/l/nonsense", `${link}x`]) {
      for (const method of ["GET", "POST"]) {
        const { status, text } = await wire().raw(method, path);
        expect([status, text.includes("This link no longer works")]).toEqual([200, true]);
        expect(await findFaults(text)).toEqual([]);
      }
    }
    expect(await isVerified()).toBe(false);
  });
});

describe("browsers", () => {
  const browser = { accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8" };
  const navigate = (path: string, headers: Readonly<Record<string, string>> = {}, method = "GET") =>
    wire().raw(method, path, undefined, { ...browser, ...headers });

  it.each<[method: string, path: string, status: number, title: string]>([
    ["GET", "/starpost/v1/pages/{app}/products/pan", 404, "This page does not exist"],
    ["GET", "/starpost/v1/pages/nobody/products", 404, "This page does not exist"],
    ["GET", "/nowhere", 404, "This page does not exist"],
    ["GET", "/starpost/v1/images/999", 404, "This page does not exist"],
    ["GET", "/v1/apps/{app}/reviews", 401, "You cannot open this page"],
    ["GET", "/v1/widget/{app}/products/pot/reviews.json?page=x", 400, "This address does not work"],
    ["DELETE", "/starpost/v1/pages/{app}/products", 405, "This address does not work"],
  ])("get the error of %s %s as a page that caches do not store", async (method, path, expected, title) => {
    const { status, headers, text } = await navigate(path.replace("{app}", wire().appKey), {}, method);
    expect([status, headers.get("content-type"), headers.get("cache-control")]).toEqual([expected, html, "no-store"]);
    expect(headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(text).toContain(`<h1>${title}</h1>`);
    expect(text).toContain(`<bdi>${headers.get("x-request-id")}</bdi>`);
    expect(text).not.toMatch(/Exceptions|Couldn't/);
    expect(await findFaults(text)).toEqual([]);
  });

  it("get errors in their language, even without XHTML on the paths of pages", async () => {
    const path = `/starpost/v1/pages/${wire().appKey}/products/pan`;
    const { text } = await navigate(path, { accept: "text/html", "accept-language": "ar-EG, de;q=0.5" });
    expect(text).toContain('<html lang="ar" dir="rtl">');
    expect((await wire().raw("GET", path, undefined, { accept: "*/*" })).text).toContain("Exceptions::RecordNotFound");
  });

  it("are the only ones: programs that accept HTML get JSON from the paths of calls", async () => {
    const { headers } = await navigate("/starpost/v1/images/999", { accept: "text/html, image/gif, */*; q=.2" });
    expect(headers.get("content-type")).toBe("application/json; charset=utf-8");
  });
});

describe("the sign-in URL", () => {
  it("shows who is signed in until it expires", async () => {
    const { appKey, secret, request, raw, advance } = wire();
    const { body } = await request("GET", `/users/b2blogin.json?app_key=${appKey}&secret=${secret}`);
    const { code, signin_url } = (body as { response: { code: string; signin_url: string } }).response;
    const path = new URL(signin_url).pathname;
    expect(path).toBe(`/starpost/v1/admin/${code}`);
    const { status, headers, text } = await raw("GET", path);
    expect([status, headers.get("content-type"), headers.get("cache-control")]).toEqual([200, html, "no-store"]);
    expect(text).toContain(appKey);
    expect(text).not.toContain(secret);
    expect(await findFaults(text)).toEqual([]);
    advance(5 * 60_000);
    expect((await raw("GET", path)).text).toContain("no longer works");
  });
});

describe("GET /starpost/v1/images/{image_id}", () => {
  it("returns the image", async () => {
    const { request } = wire();
    const created = await request("POST", "/v1/widget/reviews", { ...aReview(wire()), utoken: wire().utoken });
    const { image_upload_token } = created.body as { image_upload_token: string };
    const { body } = await request("POST", "/starpost/v1/images", {
      image_upload_token,
      image: (await takePhoto({ type: "png" })).toString("base64"),
    });
    const { image } = (body as { response: { image: Record<"original_url" | "thumb_url", string> } }).response;
    const path = ({ pathname, search }: URL) => pathname + search;
    const thumb = await wire().raw("GET", path(new URL(image.thumb_url)));
    const { status, headers, text } = await wire().raw("GET", path(new URL(image.original_url)));
    expect([status, headers.get("content-type"), headers.get("x-content-type-options")]).toEqual([
      200,
      "image/webp",
      "nosniff",
    ]);
    expect(headers.get("content-security-policy")).toBe("default-src 'none'");
    for (const one of [headers, thumb.headers]) expect(Number(one.get("content-length"))).toBeGreaterThan(100);
    expect(Number(thumb.headers.get("content-length"))).toBeLessThan(Number(headers.get("content-length")));
    expect([text.slice(1, 4), thumb.text.slice(1, 4)]).toEqual(["IFF", "IFF"]);
  });
});

describe("OPTIONS", () => {
  it("returns the methods that a path allows", async () => {
    const { status, headers, text } = await wire().raw("OPTIONS", "/apps/key/purchases");
    expect([status, headers.get("allow"), text]).toEqual([204, "POST, GET, DELETE, HEAD, OPTIONS", ""]);
  });
});

describe("cross-origin requests", () => {
  it("are allowed only for the endpoints that a shopper's browser calls", async () => {
    const { appKey, utoken, raw } = wire();
    const allowed = async (method: string, path: string, body?: unknown) =>
      (await raw(method, path, body)).headers.get("access-control-allow-origin");
    expect(await allowed("GET", `/v1/widget/${appKey}/products/pot/reviews.json`)).toBe("*");
    expect(await allowed("GET", "/reviews/999")).toBe("*");
    expect(await allowed("POST", "/v1/widget/reviews", { appkey: appKey })).toBe("*");
    expect(await allowed("GET", `/apps/${appKey}/coupons/unique?utoken=${utoken}`)).toBeNull();
    expect(await allowed("POST", "/oauth/token", {})).toBeNull();
    expect(await allowed("POST", "/users", {})).toBeNull();
    const preflight = await raw("OPTIONS", "/v1/widget/reviews");
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-headers")).toBe("content-type");
    expect(preflight.headers.get("access-control-allow-methods")).toContain("POST");
    expect((await raw("OPTIONS", "/users")).headers.get("access-control-allow-origin")).toBeNull();
  });

  it("receive no secrets from a cache", async () => {
    const { appKey, secret, raw } = wire();
    for (const path of [`/users/b2blogin.json?app_key=${appKey}&secret=${secret}`]) {
      expect((await raw("GET", path)).headers.get("cache-control")).toBe("no-store");
    }
    const preflight = await raw("POST", `/core/v3/stores/${appKey}/access_tokens`, { secret });
    expect([preflight.status, preflight.headers.get("cache-control")]).toEqual([200, "no-store"]);
  });
});
