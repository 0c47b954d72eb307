import { afterEach, expect, it } from "vitest";
import sharp from "sharp";
import { imageDownloadLimits, imageLimits, type ServiceError } from "../../src/contract/index.ts";
import { describeIsolated, type Harness, type TestAccount } from "../support/backends.ts";
import { aReview } from "../support/builders.ts";
import { type Loopback, type Responder, startLoopback } from "../support/loopback.ts";
import { takePhoto } from "../support/photos.ts";

const hosts: Loopback[] = [];
afterEach(async () => {
  await Promise.all(hosts.splice(0).map((host) => host.close()));
});

/** Starts the host of the photos. */
async function startHost(respond: Responder): Promise<Loopback> {
  const host = await startLoopback(respond);
  hosts.push(host);
  return host;
}

async function importReview({ service }: TestAccount, images: readonly string[], fields = {}): Promise<number> {
  const past = { created_at: "2018-08-15T10:11:12.345Z", images: [...images] };
  const { reviews } = await service.reviews.createNow(aReview({ past, ...fields }));
  return reviews[0]?.id ?? 0;
}

async function readSpace({ database: { db }, newestAccountId }: Harness) {
  const accountId = await newestAccountId();
  const account = db.selectFrom("account_versions").select("photo_bytes").where("account_id", "=", accountId);
  return (await account.executeTakeFirstOrThrow()).photo_bytes;
}

describeIsolated(
  "copies of imported images",
  (harness) => {
    it("are stored like uploads, keep their source, and are not listed again", async () => {
      const photo = await takePhoto({ width: 1_600, height: 1_200, orientation: 6 });
      const host = await startHost((response, _, { url }) => {
        if (url === "/moved.jpg") response.writeHead(301, { location: "/photo.jpg" }).end();
        // The type is detected from the content.
        else response.writeHead(200, { "content-type": "text/plain" }).end(photo);
      });
      const account = await harness().newAccount();
      const { images, reviews, storefront } = account.service;
      const urls = [`${host.url}/photo.jpg`, `${host.url}/moved.jpg`];
      const review_id = await importReview(account, urls);
      const listed = await images.linked({});
      expect(listed).toEqual({
        images: urls.map((url) => ({ id: expect.any(Number), review_id, product_id: "teapot", url })),
        total_images: 2,
        pagination: { next_page_info: null },
      });
      const before = await storefront.photos({ product_id: "teapot" });
      expect(before.photos[0]).toMatchObject({ width: null, height: null, color: null, sizes: { "1200": urls[0] } });
      await expect(images.get({ image_id: listed.images[0]?.id ?? 0 })).rejects.toMatchObject({
        kind: "recordNotFound",
      });

      for (const [nth, { id }] of listed.images.entries()) {
        const { image } = await images.fetch({ image_id: id });
        const original_url = expect.stringMatching(new RegExp(`/starpost/v1/images/${id}$`));
        expect(image).toMatchObject({ id, source_url: urls[nth], original_url, problem: null });
      }
      expect(host.received).toHaveLength(3);
      expect(await images.linked({})).toMatchObject({ images: [], total_images: 0 });
      // Repeated, it downloads nothing.
      const image_id = listed.images[0]?.id ?? 0;
      expect((await images.fetch({ image_id })).image.problem).toBeNull();
      expect(host.received).toHaveLength(3);

      for (const [size, width, height] of [
        ["original", 900, 1_200],
        ["160", 120, 160],
      ] as const) {
        const stored = Buffer.from((await harness().service({}).images.get({ image_id, size })).bytes);
        const { exif, ...found } = await sharp(stored).metadata();
        expect([found.format, found.width, found.height, exif]).toEqual(["webp", width, height, undefined]);
      }
      const { photos } = await storefront.photos({ product_id: "teapot" });
      expect(photos[0]).toMatchObject({ width: 900, height: 1_200, color: expect.stringMatching(/^#/) });
      expect(Object.values(photos[0]?.sizes ?? {})).toEqual(
        [160, 480, 1_200].map((edge) =>
          expect.stringMatching(new RegExp(`/starpost/v1/images/${image_id}\\?size=${edge}$`)),
        ),
      );
      const [exported] = (await reviews.list({ details: true })).reviews;
      expect(exported?.images?.[0]).toMatch(/\/starpost\/v1\/images\/\d+$/);
      expect(exported?.image_sources).toEqual(urls);
      const { images: ofCustomer } = (await account.service.customers.export({ email: aReview().email })).export;
      expect(ofCustomer[0]).toMatchObject({ content_type: "image/webp", base64: expect.stringMatching(/^UklGR/) });

      // Imported again, with the URLs of the previous service or of an export, the copies stay.
      await reviews.update({ review_id, past: { images: urls } });
      expect((await storefront.photos({ product_id: "teapot" })).photos).toEqual(photos);
      await reviews.update({ review_id, past: { images: exported?.images ?? [] } });
      expect((await storefront.photos({ product_id: "teapot" })).photos).toEqual(photos);
      const used = await readSpace(harness());
      expect(used).toBeGreaterThan(2 * 4_096);
      // With others, they are replaced, and free their space.
      await reviews.update({ review_id, past: { images: [`${host.url}/other.jpg`] } });
      expect(await readSpace(harness())).toBe(0);
      expect(await images.linked({})).toMatchObject({ images: [{ url: `${host.url}/other.jpg` }] });
    });

    it("are downloaded a few at a time, so that a slow host takes little memory", async () => {
      let [open, most] = [0, 0];
      const host = await startHost((response) => {
        open += 1;
        most = Math.max(most, open);
        setTimeout(() => {
          open -= 1;
          response.writeHead(404).end();
        }, 300);
      });
      const { perAccount, inTotal } = imageDownloadLimits;
      const download = async (account: TestAccount) => {
        const { images } = await account.service.images.linked({});
        return Promise.all(
          images.map(async ({ id }) =>
            account.service.images.fetch({ image_id: id }).then(
              ({ image }) => image.problem,
              ({ kind }: ServiceError) => kind,
            ),
          ),
        );
      };
      const accounts = [await harness().newAccount(), await harness().newAccount(), await harness().newAccount()];
      const urls = Array.from({ length: perAccount + 4 }, (_, nth) => `${host.url}/${nth}.jpg`);
      for (const account of accounts) await importReview(account, urls);
      const [first] = accounts;
      if (first) await download(first);
      expect(most).toBe(perAccount);
      // Each of the others has one, even if the first ones have many.
      const outcomes = await Promise.all(accounts.map(download));
      expect(most).toBeLessThanOrEqual(inTotal + accounts.length - 1);
      for (const outcome of outcomes) expect(outcome).toContain("HTTP 404");
      // A client over HTTP tries again what was refused.
      for (const problem of outcomes.flat()) expect(["HTTP 404", "unavailable"]).toContain(problem);
    });

    it("are refused if the host does not return an acceptable photo, which keeps the URL", async () => {
      const bomb = await sharp({ create: { width: 8_000, height: 8_000, channels: 3, background: "red" } })
        .png({ compressionLevel: 9 })
        .toBuffer();
      const bodies: Readonly<Record<string, readonly [number, Buffer | string]>> = {
        "/404.jpg": [404, "not found"],
        "/500.jpg": [500, "broken"],
        "/page.jpg": [200, "<html>Sign in</html>"],
        "/svg.svg": [200, "<svg xmlns='http://www.w3.org/2000/svg'/>"],
        "/empty.jpg": [200, ""],
        "/heic.heic": [200, Buffer.from("\0\0\0\u0018ftypheic\0\0\0\0")],
        "/damaged.png": [200, Buffer.from("\x89PNG\r\n\x1A\n damaged", "latin1")],
        "/large.jpg": [200, Buffer.alloc(imageLimits.bytes + 1, 7)],
        "/bomb.png": [200, bomb],
      };
      const host = await startHost((response, _, { url = "" }) => {
        if (url === "/loop.jpg") return response.writeHead(302, { location: url }).end();
        if (url === "/file.jpg") return response.writeHead(302, { location: "file:///etc/passwd" }).end();
        const [status, body] = bodies[url] ?? [500, ""];
        return response.writeHead(status).end(body);
      });
      const account = await harness().newAccount();
      const problems: Readonly<Record<string, RegExp>> = {
        "/404.jpg": /^HTTP 404$/,
        "/500.jpg": /^HTTP 500$/,
        "/page.jpg": /^image is not a JPEG, PNG, GIF, or WebP image$/,
        "/svg.svg": /^image is not a JPEG/,
        "/empty.jpg": /^image is not a JPEG/,
        "/heic.heic": /HEIC/,
        "/damaged.png": /damaged/,
        "/large.jpg": /larger than 5242880 bytes/,
        "/bomb.png": /megapixels/,
        "/loop.jpg": /more than 5 redirects/,
        "/file.jpg": /target of a redirect must use http or https/,
      };
      await importReview(
        account,
        Object.keys(problems).map((path) => host.url + path),
      );
      const { images } = await account.service.images.linked({});
      for (const { id, url } of images) {
        const { image } = await account.service.images.fetch({ image_id: id });
        expect(image).toEqual({
          id,
          thumb_url: url,
          original_url: url,
          source_url: url,
          problem: expect.stringMatching(problems[url.slice(host.url.length)] ?? /^$/),
        });
      }
      expect(await account.service.images.linked({})).toMatchObject({ total_images: images.length });
      expect(await readSpace(harness())).toBe(0);
    });

    it("are listed page by page, for a product if one is given, and copied only by the store", async () => {
      const photo = await takePhoto({ width: 40, height: 30 });
      const host = await startHost((response) => response.end(photo));
      const account = await harness().newAccount();
      for (const nth of [1, 2, 3]) {
        const sku = nth === 3 ? "pan" : "teapot";
        await importReview(account, [`${host.url}/${nth}a`, `${host.url}/${nth}b`], {
          sku,
          email: `${nth}@mail.example`,
        });
      }
      const { images } = account.service;
      const first = await images.linked({ limit: 4 });
      expect(first.images.map(({ url }) => url.slice(-2))).toEqual(["1a", "1b", "2a", "2b"]);
      // What is copied meanwhile does not move the next page.
      await images.fetch({ image_id: first.images[0]?.id ?? 0 });
      const second = await images.linked({ limit: 4, page_info: first.pagination.next_page_info ?? "" });
      expect(second.images.map(({ url }) => url.slice(-2))).toEqual(["3a", "3b"]);
      expect([first.total_images, second.total_images, second.pagination.next_page_info]).toEqual([6, undefined, null]);
      expect(await images.linked({ product_id: "pan" })).toMatchObject({ total_images: 2, images: second.images });

      const image_id = first.images[1]?.id ?? 0;
      const other = await harness().newAccount();
      await expect(other.service.images.fetch({ image_id })).rejects.toMatchObject({ kind: "recordNotFound" });
      expect(await other.service.images.linked({})).toMatchObject({ images: [], total_images: 0 });
      const shopper = harness().service({ appKey: account.caller.appKey });
      await expect(shopper.images.fetch({ image_id })).rejects.toMatchObject({ kind: "unauthorized" });
      expect(host.received).toHaveLength(1);
    });

    it("count once if two calls copy the same image, and not beyond the space of the account", async () => {
      const photo = await takePhoto({ width: 900, height: 900 });
      const host = await startHost((response) => response.end(photo));
      const account = await harness().newAccount();
      await importReview(account, [`${host.url}/a.jpg`, `${host.url}/b.jpg`]);
      const { images } = await account.service.images.linked({});
      const [image_id = 0, other = 0] = images.map(({ id }) => id);
      const fetch = (id: number) => account.service.images.fetch({ image_id: id });
      const both = await Promise.all([fetch(image_id), fetch(image_id)]);
      expect(both.map(({ image }) => image.problem)).toEqual([null, null]);
      const { photo_size } = await harness()
        .database.db.selectFrom("review_images")
        .select("photo_size")
        .where("id", "=", image_id)
        .executeTakeFirstOrThrow();
      expect(await readSpace(harness())).toBe((photo_size ?? 0) + 4_096);
      await harness()
        .database.db.updateTable("account_versions")
        .set({ photo_bytes: 3 * 1_024 ** 2 })
        .execute();
      await expect(fetch(other)).rejects.toMatchObject({ kind: "bodyTooLarge" });
    });
  },
  { allowsPrivateWebhooks: true, photoStorageBytes: 3 * 1_024 ** 2 },
);

describeIsolated("copies of imported images with private addresses", (harness) => {
  it("are refused without a request, unless the operator allows them for the account", async () => {
    const host = await startHost((response) => response.end("secret"));
    const account = await harness().newAccount();
    const urls = [`${host.url}/a.jpg`, host.url.replace("127.0.0.1", "localhost"), "http://10.0.0.1/a.jpg"];
    await importReview(account, urls);
    const { images } = await account.service.images.linked({});
    for (const { id } of images) {
      const { image } = await account.service.images.fetch({ image_id: id });
      expect(image.problem).toMatch(
        /^the URL is not allowed: .+ is a (loopback address|name in a private|private address)/,
      );
    }
    expect(host.received).toEqual([]);
  });
});
