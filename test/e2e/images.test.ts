import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { execa } from "execa";
import sharp from "sharp";
import { afterAll, describe, expect, test } from "vitest";
import { imageLimits } from "../../src/contract/index.ts";
import { type Loopback, startLoopback } from "../support/loopback.ts";
import { takePhoto } from "../support/photos.ts";
import { type Home, Homes, remoteEnv } from "../support/starpost.ts";

const homes = new Homes();
const hosts: Loopback[] = [];
afterAll(async () => {
  homes.remove();
  await Promise.all(hosts.map((host) => host.close()));
});

interface Uploaded {
  readonly id: number;
  readonly thumb_url: string;
  readonly original_url: string;
}

async function createReview(home: Home, env: Record<string, string>): Promise<string> {
  const fields = {
    sku: "teapot",
    product_title: "Teapot",
    product_url: "https://shop.example/teapot",
    display_name: "Ann",
    email: "ann@mail.example",
    review_content: "Pours well",
    review_title: "Good",
    review_score: 5,
  };
  const file = join(home.folder, "review.json");
  writeFileSync(file, JSON.stringify(fields));
  const { data } = await home.json<{ image_upload_token: string }>(["reviews", "create", "--input", file], { env });
  return data.image_upload_token;
}

describe.each(["locally", "over HTTP"])("images upload %s", (place) => {
  test("stores a photo upright, without its metadata, and with a thumbnail", async () => {
    const home = homes.open();
    const server = await home.serve();
    const env = place === "locally" ? {} : remoteEnv(server);
    const token = await createReview(home, env);
    const file = join(home.folder, "photo.jpg");
    const photo = await takePhoto({ width: 1_200, height: 900, orientation: 6 });
    writeFileSync(file, photo);
    const upload = ["images", "upload", "--image-upload-token", token, "--image-file"];
    const { data, exitCode, stderr } = await home.json<Uploaded>([...upload, file], { env });
    expect(exitCode, stderr).toBe(0);
    for (const [url, width, height] of [
      [data.original_url, 900, 1_200],
      [data.thumb_url, 360, 480],
    ] as const) {
      const { pathname, search } = new URL(url);
      const call = await fetch(server.url + pathname + search);
      expect(call.status).toBe(200);
      const stored = Buffer.from(await call.arrayBuffer());
      const { exif, ...size } = await sharp(stored).metadata();
      expect([size.width, size.height, exif]).toEqual([width, height, undefined]);
    }

    const huge = join(home.folder, "huge.jpg");
    writeFileSync(huge, Buffer.alloc(imageLimits.bytes + 1, 1));
    const text = join(home.folder, "photo.txt");
    writeFileSync(text, "no photo");
    for (const [given, status, message] of [
      [huge, 2, /huge\.jpg is larger than 5\.2 MB/],
      [join(home.folder, "missing.jpg"), 2, /--image-file: .*missing\.jpg/],
      [text, 1, /image is not a JPEG, PNG, GIF, or WebP image/],
    ] as const) {
      const refused = await home.run([...upload, given], { env });
      expect([refused.exitCode, refused.stdout]).toEqual([status, ""]);
      expect(refused.stderr).toMatch(message);
    }
    await server.stop();
  });
});

test("a server answers other calls while it processes a large photo", async () => {
  const home = homes.open();
  const server = await home.serve();
  const env = remoteEnv(server);
  const token = await createReview(home, env);
  const noise = Buffer.alloc(3_000 * 4_000 * 3, 90);
  for (let at = 0; at < noise.length; at += 7) noise[at] = at % 251;
  const photo = await sharp(noise, { raw: { width: 4_000, height: 3_000, channels: 3 } })
    .jpeg({ quality: 60 })
    .toBuffer();
  expect(photo.length).toBeLessThan(imageLimits.bytes);
  const progress = { isDone: false };
  const uploaded = fetch(`${server.url}/starpost/v1/images`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ image_upload_token: token, image: photo.toString("base64") }),
  }).finally(() => (progress.isDone = true));
  let answered = 0;
  while (!progress.isDone) {
    const { status } = await fetch(`${server.url}/products/${server.app_key}/teapot/bottomline`);
    expect(status).toBe(200);
    answered += 1;
  }
  expect((await uploaded).status).toBe(200);
  // Blocked for the whole time, the server would answer one call before and one after.
  expect(answered).toBeGreaterThan(5);
  await server.stop();
});

interface Fetched {
  readonly state: string;
  readonly copied: number;
  readonly failed: readonly { readonly url: string; readonly product_id: string; readonly problem: string }[];
}

/** Starts the previous host of photos, of which every fifth is missing, until all are there. */
async function startHost() {
  const photo = await takePhoto({ width: 60, height: 40 });
  const state = { isComplete: false, delayMs: 0 };
  const host = await startLoopback((response, _, { url = "" }) => {
    const isMissing = !state.isComplete && /[05]\.jpg$/.test(url);
    setTimeout(() => (isMissing ? response.writeHead(404).end() : response.end(photo)), state.delayMs);
  });
  hosts.push(host);
  return { host, state };
}

/** Imports reviews with a photo each: half of them of the product `teapot`, the others of `pan`. */
async function importReviews(home: Home, env: Record<string, string>, host: Loopback, count: number): Promise<void> {
  const rows = Array.from({ length: count }, (_, nth) => {
    const product = nth % 2 === 0 ? "teapot" : "pan";
    return `${product},Pours well,5,2024-01-01,Ann,ann${nth}@mail.example,${host.url}/${nth}.jpg`;
  });
  const file = join(home.folder, "reviews.csv");
  const head = "product_id,review_content,review_score,date,display_name,email,image_urls";
  writeFileSync(file, [head, ...rows, ""].join("\n"));
  const products = join(home.folder, "products.csv");
  writeFileSync(
    products,
    "product_id,name,url\nteapot,Teapot,https://shop.example/t\npan,Pan,https://shop.example/p\n",
  );
  for (const args of [
    ["products", "import", products],
    ["reviews", "import", file],
  ]) {
    const { exitCode, stderr } = await home.run([...args, "--yes"], { env });
    expect(exitCode, stderr).toBe(0);
  }
}

describe.each(["locally", "over HTTP"])("images fetch %s", (place) => {
  test("copies photos of imported reviews, lists those that fail, and continues where it ended", async () => {
    const home = homes.open();
    const server = await home.serve();
    const env: Record<string, string> = place === "locally" ? {} : remoteEnv(server);
    const { host, state } = await startHost();
    await importReviews(home, env, host, 20);
    const fetchImages = (...flags: string[]) =>
      home.json<Fetched>(["images", "fetch", "--rate", "0", ...flags], { env });

    const refused = await fetchImages("--product", "pan");
    expect([refused.exitCode, refused.data.copied, refused.data.failed.length]).toEqual([3, 0, 10]);
    expect(refused.data.failed[0]?.problem).toBe("the URL is not allowed: 127.0.0.1 is a loopback address");
    expect(host.received).toEqual([]);
    expect((await home.run(["account", "allow-private-webhooks", server.app_key])).exitCode).toBe(0);

    const planned = await home.json(["images", "fetch", "--dry-run"], { env });
    const hostName = new URL(host.url).host;
    expect([planned.exitCode, planned.data]).toEqual([
      0,
      { dry_run: true, images: 20, reviews: 20, hosts: [{ host: hostName, images: 20 }] },
    ]);
    expect(host.received).toEqual([]);
    const unknown = await fetchImages("--product", "unknown");
    expect([unknown.exitCode, unknown.data]).toEqual([0, { state: "finished", copied: 0, failed: [] }]);

    const first = await fetchImages("--product", "teapot");
    expect([first.exitCode, first.data.copied]).toEqual([3, 8]);
    expect(first.data.failed.toSorted((a, b) => a.url.localeCompare(b.url))).toMatchObject(
      [0, 10].map((nth) => ({ url: `${host.url}/${nth}.jpg`, product_id: "teapot", problem: "HTTP 404" })),
    );
    const table = await home.run(["images", "fetch", "--concurrency", "1", "--rate", "0"], { env });
    expect(table.exitCode).toBe(3);
    expect(table.stdout.split("\n").slice(1)).toHaveLength(4);
    expect(table.stdout).toContain(`${host.url}/15.jpg`);
    expect(table.stderr).toContain("Copied 8 photos; 4 failed.");

    state.isComplete = true;
    const last = await fetchImages();
    expect([last.exitCode, last.data]).toEqual([0, { state: "finished", copied: 4, failed: [] }]);
    const downloads = host.received.length;
    const none = await home.run(["images", "fetch"], { env });
    expect([none.exitCode, none.stdout]).toEqual([0, ""]);
    expect(none.stderr).toContain("No photos to copy.");
    expect(host.received).toHaveLength(downloads);
    // The file still has the URLs of the previous host.
    const [newest] = (await home.json<{ import_id: string }[]>(["imports", "list"], { env })).data;
    const verified = await home.run(["imports", "verify", newest?.import_id ?? ""], { env });
    expect(verified.exitCode, verified.stderr + verified.stdout).toBe(0);
    const page = await fetch(`${server.url}/starpost/v1/shop/${server.app_key}/products/teapot/photos`);
    const { response } = (await page.json()) as { response: { photos: { width: number; sizes: object }[] } };
    expect(response.photos).toHaveLength(10);
    for (const { width, sizes } of response.photos) {
      expect([width, JSON.stringify(sizes).includes(host.url)]).toEqual([60, false]);
    }
    await server.stop();
  });
});

test("images fetch stops at a signal after the photos in flight, and continues when it is repeated", async () => {
  const home = homes.open();
  await home.init();
  const { host, state } = await startHost();
  Object.assign(state, { isComplete: true, delayMs: 200 });
  await importReviews(home, {}, host, 12);
  await home.run(["webhooks", "configure", "--allow-private", "on"]);
  const started = home.start(["images", "fetch", "--concurrency", "2", "--json"]);
  while (host.received.length < 4) await new Promise((resolved) => setTimeout(resolved, 20));
  started.kill("SIGINT");
  const { exitCode, stdout } = await started;
  const stopped = JSON.parse(String(stdout)) as Fetched;
  expect([exitCode, stopped.state, stopped.failed]).toEqual([130, "interrupted", []]);
  expect(stopped.copied).toBe(host.received.length);
  const rest = await home.json<Fetched>(["images", "fetch"]);
  expect([rest.exitCode, rest.data.copied]).toEqual([0, 12 - stopped.copied]);
  expect(host.received).toHaveLength(12);
});

test("images fetch copies nothing if sharp is not installed", async () => {
  const home = homes.open();
  await home.init();
  const { host, state } = await startHost();
  state.isComplete = true;
  await importReviews(home, {}, host, 6);
  await home.run(["webhooks", "configure", "--allow-private", "on"]);
  // The built program, with all packages but the codec.
  const program = join(home.folder, "program");
  for (const name of ["bin", "dist", "package.json"]) cpSync(resolve(name), join(program, name), { recursive: true });
  mkdirSync(join(program, "node_modules"));
  for (const name of readdirSync(resolve("node_modules")).filter((one) => one !== "sharp")) {
    symlinkSync(resolve("node_modules", name), join(program, "node_modules", name));
  }
  const args = [join(program, "bin", "starpost.js"), "images", "fetch"];
  const result = await execa(process.execPath, args, { reject: false, extendEnv: false, env: home.env });
  expect([result.exitCode, result.stdout]).toEqual([1, ""]);
  expect(result.stderr).toContain("sharp is not available");
  expect(result.stderr).toContain("Copied 0 photos. 6 left.");
});
