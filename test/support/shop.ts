import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { PublicLimits } from "../../src/contract/index.ts";
import { createLocalTransport } from "../../src/engine/local-transport.ts";
import { ensureFirstAccount } from "../../src/engine/accounts/first-account.ts";
import { clickUrl, linkUrl, openUrl, reviewUrl } from "../../src/engine/kernel/signed-link.ts";
import { createSealer } from "../../src/engine/kernel/sealer.ts";
import { createServer } from "../../src/server/server.ts";
import { createService, type Service } from "../../src/service/service.ts";
import { openDatabase } from "../../src/storage/database.ts";
import { anOrder, anOrderedProduct, aReview } from "./builders.ts";
import { aQuestion } from "./emails.ts";
import { takePhoto } from "./photos.ts";
import { silentLog } from "./silent-log.ts";

/** User texts that override the defaults. */
export interface ShopTexts {
  readonly product?: string;
  readonly image?: string;
  readonly customer?: string;
  readonly title?: string;
  readonly content?: string;
  readonly question?: string;
  /** The product of the question (default: one of its own). */
  readonly sku?: string;
  /** The language of the order. */
  readonly language?: string;
}

export interface ShopOptions {
  /** Default: none. */
  readonly publicLimits?: PublicLimits;
}

/** A store behind a server, and the URLs that its emails contain. */
export interface Shop {
  readonly url: string;
  readonly appKey: string;
  readonly service: Service;
  /** The page to review the product of a new order. */
  readonly reviewAddress: (texts?: ShopTexts) => Promise<string>;
  readonly testReviewAddress: () => Promise<string>;
  readonly verifyAddress: (texts?: ShopTexts) => Promise<string>;
  readonly confirmAddress: (texts?: ShopTexts) => Promise<string>;
  readonly unsubscribeAddress: () => Promise<string>;
  /** The page of somebody who has written a review with photos, a comment, and a question. */
  readonly myReviewsAddress: (texts?: ShopTexts) => Promise<string>;
  /** Enables open and click tracking, and returns the values of a new email. */
  readonly trackedAddresses: (target: string) => Promise<{ readonly open: string; readonly click: string }>;
  /** Returns the totals of all email counters. */
  readonly counts: () => Promise<Readonly<Record<string, number>>>;
  /** The link of a name in the newest email. */
  readonly lastLink: (name: string) => Promise<string>;
  readonly signInAddress: () => Promise<string>;
  /** The page of a product with reviews, photos, and questions, which are added once for each set of texts. */
  readonly reviewsAddress: (texts?: ShopTexts) => Promise<string>;
  readonly close: () => Promise<void>;
}

/** A wide photo, and one that is nearly square. They are small, because each page of the tests needs its own. */
const takePhotos = () => Promise.all([takePhoto({ width: 400, height: 200 }), takePhoto({ width: 320, height: 280 })]);

/** Opens a new store that uses the real clock. */
export async function openShop({ publicLimits }: ShopOptions = {}): Promise<Shop> {
  const folder = await mkdtemp(join(tmpdir(), "starpost-shop-"));
  const clock = () => Date.now();
  const database = await openDatabase(join(folder, "starpost.db"), { nowMs: clock() });
  const sealer = createSealer(randomBytes(32));
  const { appKey, secret } = await ensureFirstAccount(database, { sealer, clock, random: randomBytes });
  const place = { url: "" };
  const transport = createLocalTransport({
    database,
    clock,
    random: randomBytes,
    sealer,
    enforceLimits: false,
    publicLimits,
    publicUrl: () => place.url,
  });
  const server = createServer(transport, { logger: silentLog });
  place.url = (await server.listen({ host: "127.0.0.1", port: 0 })).url;
  const grant = { client_id: appKey, client_secret: secret, grant_type: "client_credentials" };
  const { access_token: utoken } = await createService(transport, {}).tokens.create(grant);
  const service = createService(transport, { appKey, utoken });
  await service.emailRules.set({ name: "one_mail_per", value: "product" });
  const context = () => ({ sealer, nowMs: clock(), publicUrl: place.url });
  const lastMail = () =>
    database.db
      .selectFrom("mails")
      .select(["id as mailId", "account_id as accountId", "product_row", "data"])
      .orderBy("id", "desc")
      .executeTakeFirstOrThrow();
  const lastLink = async (name: string) => (JSON.parse((await lastMail()).data) as Record<string, string>)[name] ?? "";
  let orders = 0;
  const order = async ({ product = "A teapot", image = "", customer = "Ann Tea", language }: ShopTexts = {}) => {
    orders += 1;
    const products = { [`pot${orders}`]: anOrderedProduct({ name: product, image }) };
    const head = { order_id: `o${orders}`, email: `ann${orders}@mail.example`, customer_name: customer, language };
    const today = new Date(clock()).toISOString().slice(0, 10);
    await service.orders.massCreate({
      platform: "general",
      orders: [anOrder({ ...head, order_date: today, products })],
    });
    return lastMail();
  };
  const review = ({
    product = "A teapot",
    customer = "Ann Tea",
    title = "Pours well",
    content = "No drips.\nNone.",
  }: ShopTexts = {}) =>
    aReview({
      sku: "pot",
      product_title: product,
      display_name: customer,
      review_title: title,
      review_content: content,
    });
  const askAndAnswer = async ({ customer = "Ann Asker", question = "Does it pour well?", content }: ShopTexts = {}) => {
    orders += 1;
    const asker = { display_name: customer, email: `asker${orders}@mail.example` };
    await service.questions.sendConfirmation(aQuestion({ ...asker, product_id: "pot", review_content: question }));
    await service.links.follow({ token: (await lastLink("confirm_url")).split("/").at(-1) ?? "" });
    const { questions } = await service.questions.list({ sku: "pot", count: 1 });
    await service.answers.create({ question_id: questions[0]?.id ?? 0, content: content ?? "Yes." });
    await service.answers.create({ ...asker, question_id: questions[0]?.id ?? 0, content: content ?? "It does." });
  };
  const added = new Map<string | undefined, Promise<string>>();
  const addIllustrated = async (texts?: ShopTexts) => {
    const { image_upload_token } = await service.reviews.create(review(texts));
    await service.reviews.createNow(aReview({ ...review(texts), review_score: 3 }));
    const [latest, illustrated] = (await service.reviews.widget({ product_id: "pot", per_page: 2 })).reviews;
    for (const taken of await takePhotos()) {
      await service.images.upload({ image_upload_token, image: taken.toString("base64") });
    }
    const [review_id, other = review_id] = [illustrated?.id ?? 0, latest?.id];
    await service.reviews.setPublished({ review_id, published: true, reason: "checked" });
    await service.reviews.vote({ review_id: other, vote_type: "up" });
    await service.reviews.comment({ review_id, content: texts?.content ?? "Thank you!" });
    await askAndAnswer(texts);
    return `${place.url}/starpost/v1/pages/${appKey}/products/pot`;
  };
  return {
    url: place.url,
    appKey,
    service,
    lastLink,
    reviewAddress: async (texts) => {
      const { product_row, ...mail } = await order(texts);
      return reviewUrl({ ...mail, productRow: product_row ?? 0 }, context());
    },
    testReviewAddress: async () => {
      await service.emails.sendTest({ email: "me@shop.example" });
      return reviewUrl({ ...(await lastMail()), productRow: 0 }, context());
    },
    verifyAddress: async (texts) => {
      await service.reviews.create(review(texts));
      return lastLink("verify_url");
    },
    confirmAddress: async ({
      product = "A teapot",
      customer = "Ann Asker",
      question = "Does it pour well?",
      sku,
    } = {}) => {
      const asked = { product_title: product, display_name: customer, review_content: question };
      await service.questions.sendConfirmation(aQuestion({ ...asked, product_id: sku ?? `q${orders}` }));
      return lastLink("confirm_url");
    },
    unsubscribeAddress: async () => {
      const { mailId, accountId } = await order();
      return linkUrl({ kind: "unsubscribe", id: mailId, mailId, accountId }, context());
    },
    myReviewsAddress: async ({ product = "A teapot", question = "Does it pour well?", ...texts } = {}) => {
      orders += 1;
      const written = { ...review({ product, ...texts }), sku: `pot${orders}`, email: `me${orders}@mail.example` };
      const { image_upload_token } = await service.reviews.create(written);
      for (const taken of await takePhotos()) {
        await service.images.upload({ image_upload_token, image: taken.toString("base64") });
      }
      const follow = async (name: string) => {
        await service.links.follow({ token: (await lastLink(name)).split("/").at(-1) ?? "" });
      };
      await follow("verify_url");
      const { mailId, accountId } = await lastMail();
      const token = linkUrl({ kind: "my_reviews", id: mailId, mailId, accountId, person: written.email }, context());
      const asked = { product_id: written.sku, product_title: product, review_content: question };
      await service.questions.sendConfirmation(aQuestion({ ...asked, email: written.email }));
      await follow("confirm_url");
      const { page } = await service.myReviews.show({ token: token.split("/").at(-1) ?? "" });
      const review_id = page.reviews[0]?.id ?? 0;
      await service.reviews.comment({ review_id, content: texts.content ?? "Thank you!" });
      return token;
    },
    trackedAddresses: async (target) => {
      for (const name of ["track_opens", "track_clicks"] as const) {
        await service.emailRules.set({ name, value: true });
      }
      const mail = await order();
      return { open: openUrl(mail, context()), click: clickUrl(mail, target, context()) };
    },
    counts: async () => {
      // One row per day and kind of email.
      const rows = await database.db
        .selectFrom("mail_counts")
        .select(({ fn }) => ["counter", fn.sum<number>("mails").as("mails")])
        .groupBy("counter")
        .execute();
      return Object.fromEntries(rows.map(({ counter, mails }) => [counter, mails]));
    },
    signInAddress: async () => {
      const { code } = await service.users.signIn({ secret });
      return `${place.url}/starpost/v1/admin/${code}`;
    },
    reviewsAddress: (texts) => {
      const key = JSON.stringify(texts);
      const made = added.get(key) ?? addIllustrated(texts);
      added.set(key, made);
      return made;
    },
    close: async () => {
      await server.close();
      await transport.close();
      await rm(folder, { recursive: true });
    },
  };
}
