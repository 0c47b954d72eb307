import { randomBytes } from "node:crypto";
import sharp from "sharp";
import { expect, it } from "vitest";
import { photoLimits, type PhotoSize } from "../../src/contract/index.ts";
import { createPhotoJob } from "../../src/worker/cleanup-jobs.ts";
import { cleanupSettings } from "../support/cleanup.ts";
import { describeIsolated, type Harness, type TestAccount } from "../support/backends.ts";
import { aReview } from "../support/builders.ts";
import { lastToken } from "../support/emails.ts";
import { takePhoto, tinyPng } from "../support/photos.ts";

const noStop = new AbortController().signal;
const overhead = 4_096;

async function drawNoise(edge: number): Promise<string> {
  const raw = { width: edge, height: edge, channels: 3 } as const;
  const photo = await sharp(randomBytes(edge * edge * 3), { raw })
    .jpeg({ quality: 80 })
    .toBuffer();
  return photo.toString("base64");
}

/** The space that the account is charged for, and what its rows add up to. */
async function readSpace({ database: { db }, newestAccountId }: Harness): Promise<readonly [number, number]> {
  const accountId = await newestAccountId();
  const { photo_bytes } = await db
    .selectFrom("account_versions")
    .select("photo_bytes")
    .where("account_id", "=", accountId)
    .executeTakeFirstOrThrow();
  const rows = await db
    .selectFrom("review_images")
    .select(["photo_size", "thumb_size", "photo", "thumb", "webp_160", "webp_480", "webp_1200"])
    .where("account_id", "=", accountId)
    .execute();
  for (const { photo_size, thumb_size, thumb, ...sizes } of rows) {
    const bytes = Object.values(sizes).reduce((sum, size) => sum + (size?.length ?? 0), 0);
    expect([photo_size ?? 0, thumb_size ?? 0]).toEqual([bytes, thumb?.length ?? 0]);
  }
  const sizes = rows.map(({ photo_size, thumb_size }) =>
    photo_size === null ? 0 : photo_size + (thumb_size ?? 0) + overhead,
  );
  return [photo_bytes, sizes.reduce((sum, size) => sum + size, 0)];
}

const newToken = async ({ service }: TestAccount, fields = {}): Promise<string> =>
  (await service.reviews.create(aReview(fields))).image_upload_token;

/** Stores a photo as earlier versions did. */
async function storeText(
  { database: { db }, newestAccountId }: Harness,
  review_row: number,
  text: string,
  type: string,
) {
  const account_id = await newestAccountId();
  const row = { account_id, review_row, content_type: type, base64: text, created_at: 0, url: null };
  const { id } = await db
    .insertInto("review_images")
    .values({ ...row, thumb_base64: null })
    .returning("id")
    .executeTakeFirstOrThrow();
  await db
    .insertInto("public_ids")
    .values({ kind: "image", id, account_id })
    .execute()
    .catch(() => "a view in a file");
  return id;
}

describeIsolated("stored photos", (harness) => {
  const anonymous = () => harness().service({});

  it("have a bounded number of bytes and pixels", async () => {
    const image_upload_token = await newToken(await harness().newAccount());
    const { image } = await anonymous().images.upload({ image_upload_token, image: await drawNoise(2_500) });
    for (const [size, edge] of [
      ["original", 1_200],
      ["1200", 1_200],
      ["thumb", 480],
      ["480", 480],
      ["160", 160],
    ] as const) {
      const read = await anonymous().images.get({ image_id: image.id, size });
      expect(read.content_type).toBe("image/webp");
      expect(read.bytes.length).toBeLessThanOrEqual(photoLimits.sizes[edge]);
      const { format, width, height } = await sharp(read.bytes).metadata();
      expect([format, width <= edge, width]).toEqual(["webp", true, height]);
    }
  });

  it("that take more memory to decode have fewer pixels", async () => {
    const image_upload_token = await newToken(await harness().newAccount());
    const large = sharp({ create: { width: 5_100, height: 5_000, channels: 3, background: "red" } });
    const upload = async (photo: Buffer) =>
      anonymous().images.upload({ image_upload_token, image: photo.toString("base64") });
    const refused = { kind: "invalidParams", message: expect.stringContaining("25 megapixels") };
    await expect(upload(await large.clone().jpeg({ progressive: true }).toBuffer())).rejects.toMatchObject(refused);
    await expect(upload(await large.clone().webp({ effort: 0 }).toBuffer())).rejects.toMatchObject(refused);
    const deep = large.clone().toColourspace("rgb16").png();
    await expect(upload(await deep.toBuffer())).rejects.toMatchObject(refused);
    await expect(upload(await large.clone().png().toBuffer())).resolves.toBeDefined();
  });

  it("are public only once the review is confirmed or published", async () => {
    const account = await harness().newAccount();
    const shopper = harness().service({ appKey: account.caller.appKey });
    const show = async (image_id: number) => {
      const { reviews } = await shopper.reviews.widget({ product_id: "teapot" });
      const { reviews: top } = await shopper.reviews.top({});
      const got = anonymous().images.get({ image_id });
      const isShown = await got.then(
        () => true,
        () => false,
      );
      return [reviews[0]?.images_data?.length, top[0]?.image, top[0]?.featured_image_id, isShown];
    };
    for (const way of ["confirm", "publish"] as const) {
      const { image_upload_token } = await shopper.reviews.create(aReview({ email: `${way}@mail.example` }));
      const { image } = await anonymous().images.upload({ image_upload_token, image: tinyPng });
      expect(await show(image.id)).toEqual([0, 0, null, false]);
      const { reviews } = await account.service.reviews.list({ details: true });
      const review_id = reviews.at(-1)?.id ?? 0;
      // The store sees what waits.
      expect(reviews.at(-1)?.images).toHaveLength(1);
      if (way === "confirm") await anonymous().links.follow({ token: await lastToken(harness(), "verify_url") });
      else await account.service.reviews.setPublished({ review_id, published: true, reason: "good" });
      expect(await show(image.id)).toEqual([1, 1, image.id, true]);
      await account.service.reviews.setPublished({ review_id, published: false, reason: "bad" });
      await expect(anonymous().images.get({ image_id: image.id })).rejects.toMatchObject({ kind: "recordNotFound" });
    }
  });

  it("that earlier versions stored as text are converted one by one, and can be read meanwhile", async () => {
    const account = await harness().newAccount();
    await newToken(account);
    const { id } = await harness().database.db.selectFrom("reviews").select("id").executeTakeFirstOrThrow();
    await harness().database.db.updateTable("reviews").set({ images: 4 }).execute();
    const photo = (await takePhoto({ type: "png" })).toString("base64");
    const huge = Buffer.alloc(6 * 1_024 ** 2, 7).toString("base64");
    const damaged = Buffer.from("\x89PNG damaged", "latin1").toString("base64");
    const ids: number[] = [];
    for (const [text, type] of [
      [photo, "image/png"],
      [damaged, "image/png"],
      [huge, "image/gif"],
      [photo, "image/png"],
    ] as const) {
      ids.push(await storeText(harness(), id, text, type));
    }
    const get = (nth: number) => anonymous().images.get({ image_id: ids[nth] ?? 0, size: "thumb" });
    const text = async (nth: number) => Buffer.from((await get(nth)).bytes).toString("base64");
    expect([await text(0), await text(1)]).toEqual([photo, damaged]);
    await expect(get(2)).rejects.toMatchObject({ kind: "unavailable", retryAfterMs: 60_000 });
    expect(await readSpace(harness())).toEqual([0, 0]);

    // Stopped after the first photo.
    const stop = new AbortController();
    const { read } = harness().work;
    const work = {
      read,
      write: async <T>(...args: Parameters<Harness["work"]["write"]>) => {
        if (args[0] !== undefined) stop.abort();
        return harness().work.write(...args) as Promise<T>;
      },
    };
    expect(await createPhotoJob({ ...cleanupSettings(harness()), work }).runDue(stop.signal)).toEqual({
      counts: { converted: 1 },
    });
    expect((await get(0)).content_type).toBe("image/webp");
    expect((await get(3)).content_type).toBe("image/png");

    const job = createPhotoJob(cleanupSettings(harness()));
    expect(await job.runDue(noStop)).toEqual({ counts: { converted: 3 } });
    expect(await job.runDue(noStop)).toEqual({ counts: { converted: 0 } });
    expect(await sharp((await get(3)).bytes).metadata()).toMatchObject({ format: "webp", width: 480 });
    expect([await text(1), await text(2)]).toEqual([damaged, huge]);
    expect((await get(1)).content_type).toBe("image/png");
    const rows = await harness()
      .database.db.selectFrom("review_images")
      .select(["content_type", "base64", "thumb_base64"])
      .execute();
    expect(rows).toEqual(rows.map(() => ({ content_type: "", base64: "", thumb_base64: null })));
    const [counted, total] = await readSpace(harness());
    expect([counted, counted > 0]).toEqual([total, true]);
  });

  it("that an earlier version stored as bytes are converted, which replaces these bytes", async () => {
    const account = await harness().newAccount();
    const image_upload_token = await newToken(account);
    const { db } = harness().database;
    const photo = await takePhoto({ type: "webp", width: 2_048, height: 1_536 });
    const thumb = await takePhoto({ type: "webp", width: 300, height: 225 });
    const damaged = Buffer.from("GIF89a damaged");
    const ids: number[] = [];
    for (const [photo_type, bytes, itsThumb] of [
      ["image/webp", photo, thumb],
      ["image/gif", damaged, null],
    ] as const) {
      const { image } = await anonymous().images.upload({ image_upload_token, image: tinyPng });
      const sizes = { photo_size: bytes.length, thumb_size: itsThumb && itsThumb.length };
      const noSizes = { width: null, height: null, color: null, webp_160: null, webp_480: null, webp_1200: null };
      await db
        .updateTable("review_images")
        .set({ photo_type, photo: bytes, thumb: itsThumb, ...sizes, ...noSizes })
        .where("id", "=", image.id)
        .execute();
      ids.push(image.id);
    }
    // Charged as before.
    const charged = photo.length + thumb.length + damaged.length + 2 * overhead;
    await db.updateTable("account_versions").set({ photo_bytes: charged }).execute();
    const get = (nth: number, size: PhotoSize) => anonymous().images.get({ image_id: ids[nth] ?? 0, size });
    const bytesOf = async (nth: number, size: PhotoSize) => Buffer.from((await get(nth, size)).bytes);
    expect([await bytesOf(0, "thumb"), await bytesOf(0, "1200")]).toEqual([thumb, photo]);
    expect(await bytesOf(1, "160")).toEqual(damaged);

    const job = createPhotoJob(cleanupSettings(harness()));
    expect(await job.runDue(noStop)).toEqual({ counts: { converted: 2 } });
    expect(await job.runDue(noStop)).toEqual({ counts: { converted: 0 } });
    for (const [size, width, height] of [
      ["original", 1_200, 900],
      ["thumb", 480, 360],
      ["160", 160, 120],
    ] as const) {
      expect(await sharp(await bytesOf(0, size)).metadata()).toMatchObject({ format: "webp", width, height });
    }
    expect([await bytesOf(1, "thumb"), (await get(1, "original")).content_type]).toEqual([damaged, "image/gif"]);
    const columns = ["width", "height", "thumb", "thumb_size"] as const;
    const rows = await db.selectFrom("review_images").select(columns).select("photo").orderBy("id").execute();
    expect(rows).toEqual([
      { width: 1_200, height: 900, photo: null, thumb: null, thumb_size: null },
      { width: 0, height: 0, photo: expect.anything(), thumb: null, thumb_size: null },
    ]);
    const [counted, total] = await readSpace(harness());
    expect([counted, counted < charged]).toEqual([total, true]);
  });
});

describeIsolated(
  "the total of the photos of an account",
  (harness) => {
    it("is counted exactly, and refuses more, also of concurrent uploads", async () => {
      const account = await harness().newAccount();
      const image = await drawNoise(600);
      const tokens = [
        await newToken(account),
        await newToken(account, { email: "bea@mail.example" }),
        await newToken(account, { email: "cy@mail.example" }),
      ];
      const upload = (image_upload_token = "") => harness().service({}).images.upload({ image_upload_token, image });
      await upload(tokens[0]);
      const outcomes = await Promise.allSettled(Array.from({ length: 7 }, (_, nth) => upload(tokens[nth % 3])));
      const stored = 1 + outcomes.filter(({ status }) => status === "fulfilled").length;
      const [counted, total] = await readSpace(harness());
      expect([counted, stored < 8]).toEqual([total, true]);
      const limit = 1_024 ** 2;
      expect(counted).toBeLessThanOrEqual(limit);
      expect(counted).toBeGreaterThan(limit - (2 * counted) / stored);
      for (const outcome of outcomes.filter(({ status }) => status === "rejected")) {
        expect(outcome).toMatchObject({
          reason: { kind: "bodyTooLarge", message: expect.stringMatching(/maximum of 1 MB \(photo-storage\)/) },
        });
      }
      // The photos of a customer free their space.
      const { images } = (await account.service.customers.export({ email: aReview().email })).export;
      expect(images.length).toBeGreaterThan(0);
      await account.service.customers.erase({ email: aReview().email, reviews: "delete" });
      const [left, leftTotal] = await readSpace(harness());
      expect([left, left < counted]).toEqual([leftTotal, true]);
    });
  },
  { photoStorageBytes: 1_024 ** 2 },
);
