import sharp from "sharp";
import { expect, test } from "vitest";
import { convertPhoto } from "../../../../src/engine/reviews/photo-codec.ts";
import { processPhoto } from "../../../../src/engine/reviews/photo.ts";
import { takePhoto, tinyPng } from "../../../support/photos.ts";

test("a photo is refused if the codec is not installed", async () => {
  const photo = await takePhoto({ width: 40, height: 30 });
  const missing = () => Promise.reject(new Error("not installed"));
  await expect(convertPhoto(photo, "image/jpeg", missing)).resolves.toEqual({ isMissing: true });
});

test("photos are processed in a separate process, also after one that is damaged", async () => {
  const photo = await takePhoto({ width: 40, height: 30 });
  const damaged = processPhoto(photo.subarray(0, 100), "image/jpeg");
  const intact = processPhoto(photo, "image/jpeg");
  await expect(damaged).rejects.toMatchObject({ kind: "invalidParams", field: "image" });
  await expect(intact).resolves.toMatchObject({ photo_type: "image/webp" });
});

test("a small photo is not enlarged", async () => {
  const { photo, thumb } = await processPhoto(Buffer.from(tinyPng, "base64"), "image/png");
  for (const image of [photo, thumb])
    expect(await sharp(image ?? undefined).metadata()).toMatchObject({ format: "webp", width: 1 });
});
