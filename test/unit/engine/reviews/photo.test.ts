import sharp from "sharp";
import { expect, test } from "vitest";
import { convertPhoto } from "../../../../src/engine/reviews/photo-codec.ts";
import { canProcessPhotos, processPhoto } from "../../../../src/engine/reviews/photo.ts";
import { takePhoto } from "../../../support/photos.ts";

test("a photo is refused if the codec is not installed", async () => {
  const photo = await takePhoto({ width: 40, height: 30 });
  const missing = () => Promise.reject(new Error("not installed"));
  await expect(convertPhoto(photo, "image/jpeg", missing)).resolves.toEqual({ isMissing: true });
  await expect(canProcessPhotos()).resolves.toBe(true);
});

test("photos are processed in a separate process, also after one that is damaged", async () => {
  const photo = await takePhoto({ width: 40, height: 30 });
  const damaged = processPhoto(photo.subarray(0, 100), "image/jpeg");
  const intact = processPhoto(photo, "image/jpeg");
  await expect(damaged).rejects.toMatchObject({ kind: "invalidParams", field: "image" });
  await expect(intact).resolves.toMatchObject({ photo_type: "image/webp" });
});

test.each([
  { edge: 1, stored: ["webp_1200"] },
  { edge: 160, stored: ["webp_1200"] },
  { edge: 161, stored: ["webp_160", "webp_1200"] },
  { edge: 481, stored: ["webp_160", "webp_480", "webp_1200"] },
  { edge: 3_000, stored: ["webp_160", "webp_480", "webp_1200"] },
])("a photo of $edge pixels is stored in the sizes below its own", async ({ edge, stored }) => {
  const { photo_size, width, height, color, photo_type, ...sizes } = await processPhoto(
    await sharp({ create: { width: edge, height: Math.ceil(edge / 3), channels: 3, background: "#123456" } })
      .png()
      .toBuffer(),
    "image/png",
  );
  const present = Object.entries(sizes).flatMap(([name, bytes]) => (bytes === null ? [] : [{ name, bytes }]));
  expect(present.map(({ name }) => name)).toEqual(stored);
  for (const { name, bytes } of present) {
    const longer = Math.min(edge, Number(name.slice(5)));
    const shorter = Math.max(1, Math.round((longer * Math.ceil(edge / 3)) / edge));
    const found = await sharp(bytes).metadata();
    expect(found).toMatchObject({ format: "webp", width: longer, height: shorter });
    if (name === "webp_1200") expect([width, height]).toEqual([longer, shorter]);
    expect([found.exif, found.icc]).toEqual([undefined, undefined]);
  }
  expect([photo_type, color]).toEqual(["image/webp", "#123456"]);
  expect(photo_size).toBe(present.reduce((sum, { bytes }) => sum + bytes.length, 0));
});

test("the average color is that of all pixels, on white where they are transparent", async () => {
  const colorOf = async (photo: Buffer, type: "image/jpeg" | "image/png") => (await processPhoto(photo, type)).color;
  // Half red, half blue.
  expect(await colorOf(await takePhoto(), "image/jpeg")).toMatch(/^#[78].0.[78].$/);
  const create = { width: 20, height: 20, channels: 4, background: { r: 0, g: 0, b: 0, alpha: 0.5 } } as const;
  expect(await colorOf(await sharp({ create }).png().toBuffer(), "image/png")).toMatch(/^#(7f|80){3}$/);
  const gray = sharp({ create: { ...create, channels: 3, background: "#777777" } }).toColourspace("b-w");
  expect(await colorOf(await gray.png().toBuffer(), "image/png")).toBe("#777777");
});
