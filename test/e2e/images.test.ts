import { writeFileSync } from "node:fs";
import { join } from "node:path";
import sharp from "sharp";
import { afterAll, describe, expect, test } from "vitest";
import { imageLimits } from "../../src/contract/index.ts";
import { takePhoto } from "../support/photos.ts";
import { type Home, Homes, remoteEnv } from "../support/starpost.ts";

const homes = new Homes();
afterAll(() => homes.remove());

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
