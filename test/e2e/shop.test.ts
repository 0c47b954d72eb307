import { createHash } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { Check } from "../../src/doctor/check.ts";
import type { Diagnosis } from "../../src/doctor/doctor.ts";
import { aReview } from "../support/builders.ts";
import { type Loopback, startLoopback } from "../support/loopback.ts";
import { type Home, Homes, noticesOf } from "../support/starpost.ts";

const homes = new Homes();
afterAll(() => homes.remove());

const service = "https://reviews.shop.example";
let home: Home;
let appKey = "";
beforeAll(async () => {
  home = homes.open({ STARPOST_PUBLIC_URL: service });
  appKey = (await home.init()).app_key;
  const { sku, ...review } = aReview();
  const flags = { ...review, sku: "teapot" };
  const args = Object.entries(flags).flatMap(([name, value]) => [`--${name.replaceAll("_", "-")}`, String(value)]);
  const { exitCode, stderr } = await home.run(["reviews", "create", ...args]);
  if (exitCode !== 0 || sku === "") throw new Error(stderr);
});

interface Snippet {
  readonly for: string;
  readonly app_key: string;
  readonly parts: readonly { readonly title: string; readonly code: string }[];
  readonly policy: readonly { readonly directive: string; readonly sources: readonly string[] }[];
}

describe("shop snippet", () => {
  const platforms = ["html", "shopify", "woocommerce", "react"];
  test.each(platforms)("prints the script, the elements, and the policy for %s", async (platform) => {
    const { exitCode, data } = await home.json<Snippet>(["shop", "snippet", "--for", platform]);
    expect({ exitCode, platform: data.for, appKey: data.app_key }).toEqual({ exitCode: 0, platform, appKey });
    const code = data.parts.map((part) => part.code).join("\n");
    expect(code).toContain(`"${service}/starpost/v1/elements.js?app_key=${appKey}"`);
    for (const name of ["rating", "reviews", "review-form", "questions", "photos"]) {
      expect(code).toContain(`<starpost-${name} `);
    }
    const sources = Object.fromEntries(data.policy.map(({ directive, sources: given }) => [directive, given]));
    expect(sources).toEqual({ "script-src": [service], "connect-src": [service], "img-src": [service] });
  });

  test("prints the code for copying, without wrapping it", async () => {
    const { stdout } = await home.run(["shop", "snippet", "--for", "html", "--product", 'a"b<c']);
    expect(stdout.split("\n")).toContain('<starpost-rating product="a&quot;b&lt;c" href="#reviews"></starpost-rating>');
  });

  test("uses the variables of the platforms, or the given product", async () => {
    const codeOf = async (...args: string[]) =>
      (await home.json<Snippet>(["shop", "snippet", ...args])).data.parts.map(({ code }) => code).join("\n");
    expect(await codeOf("--for", "shopify")).toContain('<starpost-reviews id="reviews" product="{{ product.id }}"');
    expect(await codeOf("--for", "woocommerce")).toContain("esc_attr( $product->get_id() )");
    expect(await codeOf("--for", "woocommerce", "--product", "it's")).toContain("esc_attr( 'it\\'s' )");
    expect(await codeOf("--for", "react", "--product", "7")).toContain('<ProductStars product={"7"} />');
  });

  test("pins the files that the service serves, and allows their list in the policy", async () => {
    const server = await home.serve();
    try {
      const args = ["--for", "html", "--pinned", "--public-url", server.url];
      const { parts, policy } = (await home.json<Snippet>(["shop", "snippet", ...args])).data;
      const [, list = "", url = "", integrity] =
        /importmap">(.+?)<\/script>.+src="(.+?)\?.+integrity="(.+?)"/s.exec(parts[0]?.code ?? "") ?? [];
      const files = { ...(JSON.parse(list) as { integrity: Record<string, string> }).integrity, [url]: integrity };
      const hashOf = (algorithm: string, bytes: string) =>
        `${algorithm}-${createHash(algorithm).update(bytes).digest("base64")}`;
      const served = Object.keys(files).map(async (file) => [file, hashOf("sha384", await (await fetch(file)).text())]);
      expect(Object.fromEntries(await Promise.all(served))).toEqual(files);
      expect(Object.keys(files).length).toBeGreaterThan(20);
      expect(policy[0]?.sources).toEqual([server.url, `'${hashOf("sha256", list)}'`]);
    } finally {
      await server.stop();
    }
  });

  test("fails without a public address, and warns of a local one", async () => {
    const local = homes.open();
    await local.init();
    const failed = await local.run(["shop", "snippet", "--for", "html"]);
    expect(failed).toMatchObject({ exitCode: 2, stdout: "" });
    expect(failed.stderr).toContain("STARPOST_PUBLIC_URL");
    const warned = await local.json(["shop", "snippet", "--for", "html", "--public-url", "http://127.0.0.1:8080"]);
    expect(warned.exitCode).toBe(0);
    expect(noticesOf(warned)).toContain("works on this machine only");
  });
});

interface Page {
  readonly head?: string;
  readonly body?: string;
  readonly policy?: string;
  readonly status?: number;
  readonly location?: string;
  readonly type?: string;
}

const servers: Loopback[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

const script = () => `<script type="module" src="${service}/starpost/v1/elements.js?app_key=${appKey}"></script>`;
const rating = '<starpost-rating product="teapot"></starpost-rating>';

/** Serves a page, or what `pages` has for its path. */
async function serve(page: Page | ((path: string) => Page)): Promise<string> {
  const server = await startLoopback((response, _at, request) => {
    const {
      head = script(),
      body = rating,
      policy,
      status = 200,
      location,
      type = "text/html; charset=utf-8",
    } = typeof page === "function" ? page(request.url ?? "") : page;
    response.writeHead(status, {
      "content-type": type,
      ...(policy !== undefined && { "content-security-policy": policy }),
      ...(location !== undefined && { location }),
    });
    response.end(`<!doctype html><html><head>${head}</head><body>${body}</body></html>`);
  });
  servers.push(server);
  return server.url;
}

async function check(url: string, ...flags: string[]) {
  const { exitCode, data } = await home.json<Diagnosis>(["shop", "check", url, ...flags]);
  const find = (name: string): Check[] => data.checks.filter((one) => one.name === name);
  const problems = data.checks.filter(({ status }) => status === "problem").map(({ name }) => name);
  return { exitCode, problems, find };
}

const checkPage = async (page: Page) => check(await serve(page), "--allow-private");

describe("shop check", () => {
  test("finds no problem in a page with the snippet", async () => {
    const { data } = await home.json<Snippet>(["shop", "snippet", "--for", "html", "--product", "teapot"]);
    const policy = data.policy.map(({ directive, sources }) => `${directive} ${sources.join(" ")}`).join("; ");
    const page = {
      head: data.parts[0]?.code ?? "",
      body: data.parts
        .slice(1)
        .map(({ code }) => code)
        .join("\n"),
      policy: `default-src 'none'; ${policy}; require-trusted-types-for 'script'`,
    };
    const checked = await checkPage(page);
    expect(checked).toMatchObject({ exitCode: 0, problems: [] });
    expect(checked.find("policy")).toMatchObject([{ status: "ok" }]);
  });

  const other = { offers: {}, name: "Teapot", "@context": "https://schema.org" };
  const jsonLd = (data: object) => `<script type="application/ld+json">${JSON.stringify(data)}</script>`;
  const rated = { ...other, "@type": "Product", "@id": "#product", aggregateRating: { ratingValue: 4 } };
  const writer = '<starpost-reviews product="teapot" json-ld></starpost-reviews>';

  test.each<[string, Page | (() => Page), string]>([
    ["a missing script", { head: "" }, "script"],
    ["the app key of another account", () => ({ head: script().replace(appKey, "another") }), "script"],
    ["a script without an app key", () => ({ head: script().replace(/\?app_key=\w+/, "") }), "script"],
    ["a script that is not a module", () => ({ head: script().replace(' type="module"', "") }), "script"],
    ["an unknown product", { body: '<starpost-rating product="kettle"></starpost-rating>' }, "products"],
    ["an element without a product", { body: "<starpost-reviews></starpost-reviews>" }, "elements"],
    [
      "a template that was not filled in",
      { body: '<starpost-photos product="{{ product.id }}"></starpost-photos>' },
      "elements",
    ],
    ["an unknown element", { body: '<starpost-review product="teapot"></starpost-review>' }, "elements"],
    ["a policy that blocks the script", { policy: "script-src 'self'" }, "policy"],
    [
      "a policy in the page",
      () => ({ head: `<meta http-equiv="content-security-policy" content="connect-src 'self'">${script()}` }),
      "policy",
    ],
    ["a policy that blocks photos", { policy: `default-src ${service}; img-src data:` }, "policy"],
    ["one of several policies", { policy: `default-src *, default-src 'self'` }, "policy"],
    ["a second rating", () => ({ head: `${script()}${jsonLd(rated)}`, body: writer }), "structured-data"],
    [
      "a second rating in a graph",
      () => ({ head: `${script()}${jsonLd({ "@graph": [{ mainEntity: rated }] })}`, body: writer }),
      "structured-data",
    ],
    [
      "a Product without an ID",
      () => ({ head: `${script()}${jsonLd({ ...other, "@type": "Product" })}`, body: writer }),
      "structured-data",
    ],
    [
      "microdata",
      {
        body: `${writer}<div itemscope itemtype="https://schema.org/Product"><p itemprop="aggregateRating">4</p></div>`,
      },
      "structured-data",
    ],
    ["several products with json-ld", { body: `${writer}${writer}` }, "structured-data"],
  ])("finds %s", async (_name, page, problem) => {
    const checked = await checkPage(typeof page === "function" ? page() : page);
    expect(checked).toMatchObject({ exitCode: 1, problems: [problem] });
  });

  test("loads the script, which the service may not have", async () => {
    const page = (address: string) => serve({ head: script().replace(`${service}/starpost/v1/elements.js`, address) });
    const find = async (address: string) => {
      const { exitCode, find: found } = await check(await page(address), "--allow-private");
      return [exitCode, found("service")[0]?.status];
    };
    const server = await home.serve();
    try {
      const base = `${server.url}/starpost/v1/elements`;
      expect(await find(`${base}.js`)).toEqual([0, "ok"]);
      expect(await find(`${base}/loader-AAAAAAAA.js`)).toEqual([1, "problem"]);
    } finally {
      await server.stop();
    }
    expect(await find("http://127.0.0.1:1/starpost/v1/elements.js")).toEqual([0, "warning"]);
  });

  test("accepts the page's own Product, which gets the rating", async () => {
    const { aggregateRating: _, ...product } = rated;
    expect(await checkPage({ head: `${script()}${jsonLd(product)}`, body: writer })).toMatchObject({ exitCode: 0 });
  });

  test("ignores templates and comments, and treats a page that JavaScript fills as a warning", async () => {
    const body = `<template>${rating.replace("teapot", "kettle")}</template><!-- <starpost-x> -->`;
    const checked = await checkPage({ body });
    expect(checked).toMatchObject({ exitCode: 0, problems: [] });
    expect(checked.find("script")).toMatchObject([{ status: "warning" }]);
  });

  test("requests private addresses only with the flag, also after redirects", async () => {
    const page = await serve({});
    expect(await check(page)).toMatchObject({ exitCode: 5, problems: ["reachability"] });
    expect(servers.at(-1)?.received).toEqual([]);
    const away = await serve((path) => (path === "/" ? { status: 302, location: `${page}/a` } : {}));
    expect(await check(away, "--allow-private")).toMatchObject({ exitCode: 0 });
  });

  test("has status 5 if the page cannot be reached, and ends", async () => {
    const looping = await serve({ status: 302, location: "/" });
    for (const url of [looping, await serve({ status: 503 }), "http://127.0.0.1:1/"]) {
      expect(await check(url, "--allow-private"), url).toMatchObject({ exitCode: 5, problems: ["reachability"] });
    }
    const huge = await serve({ body: "x".repeat(6_000_000) });
    expect(await check(huge, "--allow-private")).toMatchObject({ exitCode: 5 });
    const silent = await startLoopback(() => {});
    servers.push(silent);
    expect(await check(silent.url, "--allow-private", "--timeout", "1")).toMatchObject({ exitCode: 5 });
  });

  test("ends for hostile pages, without terminal sequences in the output", async () => {
    const deep = await checkPage({ body: "<div>".repeat(900_000) });
    expect(deep).toMatchObject({ exitCode: 1, problems: ["page"] });
    const described = `<script type="application/ld+json">[${'{"@type":"Product"},'.repeat(200_000)}1]</script>`;
    expect(await checkPage({ body: described })).toMatchObject({ exitCode: 0 });
    const names = Array.from({ length: 50_000 }, (_, at) => `<starpost-badge product="x${at}"></starpost-badge>`);
    const long = `<starpost-badge product="${"x".repeat(300)}"></starpost-badge>`;
    for (const body of [names.join(""), long]) {
      const checked = await checkPage({ body });
      expect(checked).toMatchObject({ exitCode: 1, problems: ["products"] });
      expect(checked.find("products")[0]?.message).toContain("the account does not have");
    }
    const evil = "\u001B]0;title\u0007\u009B31m\u202E";
    const body = `<starpost-badge product="${evil}"></starpost-badge><starpost-${evil}></starpost-${evil}>`;
    const url = await serve({ head: `${script()}&app_key=${encodeURIComponent(evil)}`, body });
    const { stdout } = await home.run(["shop", "check", url, "--allow-private"]);
    for (const character of "\u0007\u001B\u009B\u202E") expect(stdout).not.toContain(character);
  });

  test("refuses what is not the address of a page", async () => {
    expect((await home.run(["shop", "check", "teapot"])).exitCode).toBe(2);
    expect(await checkPage({ status: 404 })).toMatchObject({ exitCode: 1, problems: ["page"] });
    expect(await checkPage({ type: "application/json" })).toMatchObject({ exitCode: 1, problems: ["page"] });
  });
});
