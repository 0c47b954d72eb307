import { expect, it } from "vitest";
import { imageLimits } from "../../src/contract/index.ts";
import sharp from "sharp";
import { describeIsolated, type Harness, type TestAccount } from "../support/backends.ts";
import { aReview } from "../support/builders.ts";
import { colorAt, takePhoto, tinyPng } from "../support/photos.ts";
import { mentioning } from "../support/service-errors.ts";

const types = ["jpeg", "png", "webp", "gif"] as const;

/** A text that begins like a PNG and cannot be decoded. */
function aDamagedImage(length = 64): string {
  const image = Buffer.alloc(length, 7);
  Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]).copy(image);
  return image.toString("base64");
}

async function countImages({ database }: Harness): Promise<readonly [rows: number, counted: number | undefined]> {
  const rows = await database.db.selectFrom("review_images").select("id").execute();
  const review = await database.db.selectFrom("reviews").select("images").executeTakeFirst();
  return [rows.length, review?.images];
}

describeIsolated("images", (harness) => {
  const anonymous = () => harness().service({});
  const newToken = async ({ service }: TestAccount): Promise<string> =>
    (await service.reviews.create(aReview())).image_upload_token;

  it("adds photos of every type to a review, detects the type from the content, and returns them", async () => {
    const account = await harness().newAccount();
    const image_upload_token = await newToken(account);
    for (const type of types) {
      const photo = await takePhoto({ type, width: 800, height: 600 });
      const image = `data:image/svg+xml;base64,${photo.toString("base64")}`;
      const added = await anonymous().images.upload({ image_upload_token, image });
      const path = String.raw`^http://127\.0\.0\.1:\d+/starpost/v1/images/${added.image.id}`;
      expect(added).toEqual({
        image: {
          id: added.image.id,
          thumb_url: expect.stringMatching(new RegExp(String.raw`${path}\?size=thumb$`)),
          original_url: expect.stringMatching(new RegExp(`${path}$`)),
        },
      });
      for (const [size, width, height] of [
        [undefined, 800, 600],
        ["original", 800, 600],
        ["thumb", 480, 360],
        ["480", 480, 360],
        ["160", 160, 120],
        ["1200", 800, 600],
      ] as const) {
        const read = await anonymous().images.get({ image_id: added.image.id, ...(size && { size }) });
        expect(read.content_type).toBe("image/webp");
        expect(await sharp(read.bytes).metadata()).toMatchObject({ format: "webp", width, height });
      }
    }
    expect(await countImages(harness())).toEqual([4, 4]);
    const { reviews } = await account.service.reviews.widget({ product_id: "teapot" });
    expect(reviews[0]?.images_data).toHaveLength(4);
    await harness().database.db.updateTable("reviews").set({ moderation: "published" }).execute();
    const { photos } = await account.service.storefront.photos({ product_id: "teapot" });
    const { reviews: shown } = await account.service.storefront.reviews({ product_id: "teapot" });
    expect(photos).toEqual(shown[0]?.photos.map((photo) => expect.objectContaining(photo)));
    for (const { id, width, height, color, sizes } of photos) {
      expect([width, height]).toEqual([800, 600]);
      expect(color).toMatch(/^#[78].0.[78].$/);
      for (const edge of ["160", "480", "1200"] as const) {
        expect(sizes[edge]).toMatch(
          new RegExp(String.raw`^http://127\.0\.0\.1:\d+/starpost/v1/images/${id}\?size=${edge}$`),
        );
      }
    }
  });

  it("turns photos upright, and removes the place and the camera from them", async () => {
    const image_upload_token = await newToken(await harness().newAccount());
    const photo = await takePhoto({ orientation: 6 });
    expect(photo.includes("Camera of Ann")).toBe(true);
    const { image } = await anonymous().images.upload({ image_upload_token, image: photo.toString("base64") });
    for (const size of ["original", "thumb", "160"] as const) {
      const stored = Buffer.from((await anonymous().images.get({ image_id: image.id, size })).bytes);
      const { width, height, orientation, exif, xmp, iptc } = await sharp(stored).metadata();
      expect([width, height]).toEqual({ original: [600, 800], thumb: [360, 480], 160: [120, 160] }[size]);
      expect([orientation, exif, xmp, iptc]).toEqual([undefined, undefined, undefined, undefined]);
      expect(stored.includes("Camera of Ann")).toBe(false);
      // What was on the left is at the top.
      expect([await colorAt(stored, 20, 20), await colorAt(stored, 20, height - 20)]).toEqual(["red", "blue"]);
    }
  });

  it("rejects photos with too many pixels before decoding them, and damaged ones", async () => {
    const image_upload_token = await newToken(await harness().newAccount());
    const upload = (image: Buffer) =>
      anonymous().images.upload({ image_upload_token, image: image.toString("base64") });
    const bomb = await sharp({ create: { width: 8_000, height: 8_000, channels: 3, background: "red" } })
      .png({ compressionLevel: 9 })
      .toBuffer();
    const photo = await takePhoto();
    for (const [image, message] of [
      [bomb, mentioning("image", "megapixels")],
      [photo.subarray(0, 200), mentioning("image", "damaged")],
      [Buffer.concat([photo.subarray(0, 300), Buffer.alloc(3_000, 255)]), mentioning("image", "damaged")],
      [Buffer.from("GIF89a"), mentioning("image", "damaged")],
      [Buffer.from("\0\0\0\x18ftypheic\0\0\0\0"), mentioning("image", "HEIC")],
    ] as const) {
      await expect(upload(image)).rejects.toMatchObject({ kind: "invalidParams", message });
    }
    expect(await countImages(harness())).toEqual([0, 0]);
  });

  it("rejects expired and invalid tokens", async () => {
    const account = await harness().newAccount();
    const image_upload_token = await newToken(account);
    const unauthorized = { kind: "unauthorized" };
    const image = tinyPng;
    for (const invalidToken of ["", "x", `${image_upload_token}AAAA`, account.caller.utoken]) {
      const call = anonymous().images.upload({ image_upload_token: invalidToken, image });
      await expect(call, invalidToken).rejects.toMatchObject(unauthorized);
    }
    const emails = await harness().database.db.selectFrom("mails").select("data").execute();
    const urls = emails.map(({ data }) => (JSON.parse(data) as { verify_url?: string }).verify_url);
    const verify_url = urls.find((url) => url !== undefined) ?? "";
    const emailToken = verify_url.slice(verify_url.lastIndexOf("/") + 1);
    await expect(anonymous().images.upload({ image_upload_token: emailToken, image })).rejects.toMatchObject(
      unauthorized,
    );
    harness().clock.advance(imageLimits.tokenLifetimeMs - 1);
    await anonymous().images.upload({ image_upload_token, image });
    harness().clock.advance(1);
    await expect(anonymous().images.upload({ image_upload_token, image })).rejects.toMatchObject(unauthorized);
    expect(await countImages(harness())).toEqual([1, 1]);
  });

  it("rejects invalid base64, data that is not an image, and images that are too large", async () => {
    const image_upload_token = await newToken(await harness().newAccount());
    const upload = (image: string) => anonymous().images.upload({ image_upload_token, image });
    const png = tinyPng;
    const svg = Buffer.from("<svg xmlns='http://www.w3.org/2000/svg'/>").toString("base64");
    for (const [image, message] of [
      [`${png}\n`, mentioning("image", "base64")],
      [png.slice(0, -1), mentioning("image", "base64")],
      [png.replaceAll("B", "-"), mentioning("image", "base64")],
      [`data:image/png,${png}`, mentioning("image", "base64")],
      [`data:image/png;base64,data:image/png;base64,${png}`, mentioning("image", "base64")],
      ["", mentioning("image", "JPEG, PNG, GIF, or WebP")],
      [`data:image/png;base64,${svg}`, mentioning("image", "JPEG, PNG, GIF, or WebP")],
      [Buffer.from("GIF").toString("base64"), mentioning("image", "JPEG, PNG, GIF, or WebP")],
      [aDamagedImage(imageLimits.bytes + 1), mentioning("image", imageLimits.bytes)],
      [aDamagedImage(imageLimits.bytes + 1_000), mentioning("image", imageLimits.bytes)],
    ] as const) {
      await expect(upload(image), image.slice(0, 80)).rejects.toMatchObject({ kind: "invalidParams", message });
    }
    await expect(anonymous().images.upload({ image_upload_token } as never)).rejects.toMatchObject({
      kind: "invalidParams",
    });
    expect(await countImages(harness())).toEqual([0, 0]);
  });

  it("accepts the maximum number of images per review", async () => {
    const account = await harness().newAccount();
    const image_upload_token = await newToken(account);
    const image = tinyPng;
    for (let at = 0; at < imageLimits.perReview; at += 1) {
      await anonymous().images.upload({ image_upload_token, image });
    }
    await expect(anonymous().images.upload({ image_upload_token, image })).rejects.toMatchObject({
      kind: "invalidParams",
      message: expect.stringContaining(String(imageLimits.perReview)),
    });
    expect(await countImages(harness())).toEqual([imageLimits.perReview, imageLimits.perReview]);
    const another = await newToken(account);
    await expect(anonymous().images.upload({ image_upload_token: another, image })).resolves.toBeDefined();
  });

  it("shows no image of an unpublished or missing review", async () => {
    const { service, ...account } = await harness().newAccount();
    const image_upload_token = await newToken({ service, ...account });
    const { image } = await anonymous().images.upload({ image_upload_token, image: tinyPng });
    const { id } = await harness().database.db.selectFrom("reviews").select("id").executeTakeFirstOrThrow();
    await service.reviews.setPublished({ review_id: id, published: false, reason: "spam" });
    for (const image_id of [image.id, image.id + 1, 0, 999_999_999_999_999]) {
      await expect(anonymous().images.get({ image_id })).rejects.toMatchObject({
        kind: "recordNotFound",
        message: `Couldn't find Image with id = ${image_id}`,
      });
    }
    await anonymous().images.upload({ image_upload_token, image: tinyPng });
    await service.reviews.setPublished({ review_id: id, published: true, reason: "mistaken" });
    expect(await anonymous().images.get({ image_id: image.id })).toMatchObject({ content_type: "image/webp" });
    await harness().database.db.deleteFrom("reviews").execute();
    await expect(anonymous().images.upload({ image_upload_token, image: tinyPng })).rejects.toMatchObject({
      kind: "recordNotFound",
      message: `Couldn't find Review with id = ${id}`,
    });
  });
});
