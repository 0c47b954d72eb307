import sharp from "sharp";
import { expect, test } from "vitest";
import { ServiceError } from "../../../../src/contract/index.ts";
import { processPhoto } from "../../../../src/engine/reviews/photo.ts";
import { takePhoto, tinyPng } from "../../../support/photos.ts";

test("a photo is refused if the codec is not installed, and the next one is processed", async () => {
  const photo = await takePhoto({ width: 40, height: 30 });
  const missing = () => Promise.reject(new ServiceError("featureDisabled", "not installed"));
  await expect(processPhoto(photo, "image/jpeg", missing)).rejects.toMatchObject({ kind: "featureDisabled" });
  await expect(processPhoto(photo, "image/jpeg")).resolves.toMatchObject({ photo_type: "image/webp" });
});

test("a small photo is not enlarged", async () => {
  const { photo, thumb } = await processPhoto(Buffer.from(tinyPng, "base64"), "image/png");
  for (const image of [photo, thumb])
    expect(await sharp(image ?? undefined).metadata()).toMatchObject({ format: "webp", width: 1 });
});
