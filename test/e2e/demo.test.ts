import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { languages } from "../../src/contract/brand/brand.ts";
import { sentEmailCategories } from "../../src/contract/emails/categories.ts";
import type { StorefrontPhotos, StorefrontReviews } from "../../src/contract/storefront/storefront.ts";
import { Homes } from "../support/starpost.ts";

const homes = new Homes();
afterAll(() => homes.remove());

/** Settings of the user, none of which the demo may use. */
const hostile = {
  STARPOST_DATABASE: "/nonexistent/shop.db",
  STARPOST_PUBLIC_URL: "https://reviews.shop.example",
  STARPOST_SMTP_URL: "smtp://mail.shop.example",
  STARPOST_PROFILE: "unknown",
};

async function startDemo() {
  const home = homes.open();
  const temporary = join(home.folder, "tmp");
  mkdirSync(temporary);
  const ran = home.start(["demo", "--json"], { env: { ...hostile, TMPDIR: temporary } });
  const line = await new Promise<string>((found, failed) => {
    ran.stdout?.once("data", (data: Buffer) => found(data.toString()));
    void ran.then((ended) => failed(new Error(`demo ended: ${String(ended.stderr)}`)));
  });
  const event = JSON.parse(line) as { url: string; service_url: string; app_key: string };
  const shop = `${event.service_url}/starpost/v1/shop/${event.app_key}`;
  const read = async <T>(path: string): Promise<T> => {
    const response = await fetch(`${shop}${path}`);
    return ((await response.json()) as { response: T }).response;
  };
  const leftovers = () => [readdirSync(temporary), readdirSync(home.folder)];
  return { ...event, ran, read, temporary, leftovers };
}

type Demo = Awaited<ReturnType<typeof startDemo>>;

async function readPages<T>(demo: Demo, path: string, pick: (page: T) => readonly unknown[]): Promise<unknown[]> {
  const all: unknown[] = [];
  for (let page = 1; ; page += 1) {
    const found = pick(await demo.read<T>(`${path}?per_page=50&page=${page}`));
    all.push(...found);
    if (found.length < 50) return all;
  }
}

describe("demo", () => {
  test("serves a shop with 400 reviews in 13 languages, 60 photos, 40 questions, and all emails", async () => {
    const demo = await startDemo();
    const pages = ["/", "/products", "/de/", "/ja/products/mug", "/ar/products", "/emails"];
    for (const path of pages) {
      const response = await fetch(demo.url + path);
      expect([path, response.status, response.headers.get("content-security-policy")]).toEqual([
        path,
        200,
        expect.stringContaining("require-trusted-types-for 'script'"),
      ]);
    }
    const collection = await (await fetch(`${demo.url}/products`)).text();
    const ids = [...collection.matchAll(/<starpost-rating product="(\w+)"/g)].map(([, id]) => id ?? "");
    expect(ids).toHaveLength(8);
    const targets = [...ids, "service_site_reviews"];
    const reviews = (
      await Promise.all(
        targets.map((id) => readPages<StorefrontReviews>(demo, `/products/${id}/reviews`, (page) => page.reviews)),
      )
    ).flat() as StorefrontReviews["reviews"];
    expect(reviews).toHaveLength(400);
    expect(new Set(reviews.map(({ content }) => content)).size).toBeGreaterThan(350);
    const scripts = [/\p{Script=Arabic}/u, /\p{Script=Han}/u, /\p{Script=Hebrew}/u, /\p{Script=Hiragana}/u, /ł/, /ß/];
    for (const script of scripts)
      expect(
        reviews.some(({ content }) => script.test(content)),
        String(script),
      ).toBe(true);
    expect(readdirSync("src/demo/assets/reviews").toSorted()).toEqual(languages.map((one) => `${one}.json`).toSorted());
    expect(new Set(reviews.map(({ score }) => score))).toEqual(new Set([1, 2, 3, 4, 5]));
    const photos = (
      await Promise.all(
        ids.map((id) => readPages<StorefrontPhotos>(demo, `/products/${id}/photos`, (page) => page.photos)),
      )
    ).flat() as StorefrontPhotos["photos"];
    expect(photos).toHaveLength(60);
    const [photo] = photos;
    for (const url of Object.values(photo?.sizes ?? {})) {
      const image = await fetch(url);
      expect([image.status, image.headers.get("content-type")]).toEqual([200, "image/webp"]);
    }
    const totals = await Promise.all(
      ids.map(
        async (id) =>
          (await demo.read<{ pagination: { total: number } }>(`/products/${id}/questions`)).pagination.total,
      ),
    );
    expect(totals.reduce((sum, total) => sum + total)).toBe(40);
    for (const category of sentEmailCategories) {
      expect([category, (await fetch(`${demo.url}/emails/${category}.html`)).status]).toEqual([category, 200]);
    }
    const missing = ["/x", "/products/x", "/images/../shop.json", "/images/%2e%2e%2fshop.webp", "/emails/x.html"];
    // Any page in the user's browser can request these.
    const odd = ["//[", "//a:b@shop.example:99999/"];
    for (const path of [...missing, ...odd]) expect((await fetch(demo.url + path)).status, path).toBe(404);
    demo.ran.kill("SIGTERM");
    expect((await demo.ran).exitCode).toBe(0);
    expect(demo.leftovers()).toEqual([[], ["tmp"]]);
  });

  test("deletes everything when it is interrupted", async () => {
    const demo = await startDemo();
    expect(readdirSync(demo.temporary)).toHaveLength(1);
    demo.ran.kill("SIGINT");
    expect((await demo.ran).exitCode).toBe(0);
    expect(demo.leftovers()).toEqual([[], ["tmp"]]);
  });

  test("reports a port that is in use", async () => {
    const demo = await startDemo();
    const { port } = new URL(demo.url);
    const second = await homes.open().runProcess(["demo", "--port", port]);
    expect(second).toMatchObject({ exitCode: 1, stdout: "" });
    expect(second.stderr).toContain("address already in use");
    demo.ran.kill("SIGTERM");
    await demo.ran;
  });
});
