import { createMessageKey } from "../../src/engine/emails/message-key.ts";
import { createWebhookQueue } from "../../src/engine/webhooks/webhook-queue.ts";
import type { Harness, TestAccount } from "./backends.ts";
import { anOrder, anOrderedProduct, aProduct, aReview, bulkOrders } from "./builders.ts";
import { aQuestion, lastToken } from "./emails.ts";
import { tinyPng } from "./photos.ts";
import { signBySecret } from "./provider-events.ts";

/** A part of every text of the victim that is not a name of a record. */
export const marker = "zebra";

/** A key that the victim has used for a call with a secret result. */
export const sharedKey = "a key that two accounts use";

/** The database IDs of the victim's records. */
export interface VictimIds {
  readonly reviewId: number;
  readonly questionId: number;
  readonly answerId: number;
  /** An imported image, which is only a URL. */
  readonly imageId: number;
  readonly mailId: number;
  readonly webhookId: number;
  readonly deliveryId: number;
  readonly credentialId: number;
  readonly campaignId: number;
  /** The secret of the account, which some calls need. */
  readonly accountSecret: string;
}

/**
 * Fills an account with records of every kind. Names that others may use too (SKUs, order IDs, group names, addresses) are
 * ordinary; all other texts contain `marker`.
 */
export async function fillVictim(harness: Harness, account: TestAccount): Promise<VictimIds> {
  const { transport } = harness;
  const { caller, service, secret: accountSecret } = account;
  const url = `https://${marker}.example/teapot`;
  const shown = { name: `Teapot ${marker}`, url, description: marker };
  await service.account.setPlatform({
    account_platform: { shop_domain: `http://${marker}.example`, platform_type_id: "2" },
  });
  await service.account.set({ name: `Shop ${marker}` });
  await service.brand.set({ sender_name: marker, logo: tinyPng });
  await service.messages.set({ language: "en", key: "page.mine.save", text: marker });
  await service.emailRules.set({ name: "one_mail_per", value: "product" });
  await service.products.massCreate({ products: { teapot: aProduct(shown), pan: aProduct(shown) } });
  for (const event_name of ["review_create", "review_updated"] as const) {
    await service.webhooks.create({ url: `https://${marker}.example/${event_name}`, event_name });
  }
  const products = { teapot: anOrderedProduct(shown), "bad id": anOrderedProduct(shown) };
  const order = anOrder({ customer_name: `Ann ${marker}`, products });
  await service.orders.massCreate(bulkOrders([order, { ...order, order_id: "1002", email: `${marker}@mail.example` }]));
  await service.products.setPromoted({ product_ids: ["teapot"] });
  for (const group_name of ["pots", "empty", marker]) await service.groups.create({ group_name });
  await service.groups.update({ group_name: "pots", product_ids_to_add: ["teapot"] });
  await service.coupons.upload({ coupon_action: "map_review", codes: [`${marker}1`, `${marker}2`] });
  await service.unsubscribers.massCreate({ email_list: { 1: ["bob@mail.example", `${marker}.b@mail.example`] } });
  const { template: builtIn } = await service.emailTemplates.get({ category: "map", built_in: true });
  const { text, html } = builtIn;
  await service.emailTemplates.set({ category: "map", subject: marker, text, html });
  const reviewId = await fillReviews(service);
  const { questionId, answerId } = await fillQuestions(harness, service);
  const { secret } = await transport.call("emailEvents.setUp", { public_key: "" }, caller, {
    idempotencyKey: sharedKey,
  });
  const { mails } = await service.emails.list({ order_id: "1002" });
  const mailId = mails[0]?.id ?? 0;
  await suppress(harness, service, { mailId: mails[0]?.id ?? 0, email: mails[0]?.email ?? "", secret });
  const queue = createWebhookQueue(harness.work, { worker: marker, leaseMs: 60_000 });
  for (const begun of await queue.begin(100))
    await queue.end(begun, { state: "failed", problem: marker, durationMs: 1 });
  const { deliveries } = await service.webhookDeliveries.list({});
  const { webhooks } = await service.webhooks.list({});
  const { credential } = await service.credentials.create({ secret: accountSecret, role: "support", name: marker });
  const { campaign } = await service.campaigns.create({
    name: marker,
    category: "custom_map",
    emails_per_hour: 60,
    order_ids: ["1001"],
  });
  await service.campaigns.stop({ campaign_id: campaign.id });
  await service.reviewRules.add({ action: "hold", words: [marker] });
  await service.customers.erase({ email: "dora@mail.example" });
  return {
    reviewId,
    imageId: await linkImage(service),
    questionId,
    answerId,
    mailId,
    webhookId: webhooks[0]?.id ?? 0,
    deliveryId: deliveries.at(-1)?.id ?? 0,
    credentialId: credential.id,
    campaignId: campaign.id,
    accountSecret,
  };
}

async function fillReviews({ reviews, images }: TestAccount["service"]): Promise<number> {
  const shown = { product_title: `Teapot ${marker}`, product_url: `https://${marker}.example/teapot` };
  const review = { ...shown, display_name: marker, review_title: marker, review_content: marker };
  const email = `${marker}.c@mail.example`;
  const created = await reviews.createNow(aReview({ ...review, email, user_reference: marker }));
  const review_id = created.reviews[0]?.id ?? 0;
  await reviews.comment({ review_id, content: marker });
  await reviews.setPublished({ review_id, published: false, reason: marker, by: marker });
  await reviews.setPublished({ review_id, published: true, reason: marker, by: marker });
  await reviews.vote({ review_id, vote_type: "up" });
  const { image_upload_token } = await reviews.create(aReview({ ...review, email: `${marker}.d@mail.example` }));
  await images.upload({ image_upload_token, image: tinyPng });
  return review_id;
}

async function linkImage({ reviews, images }: TestAccount["service"]): Promise<number> {
  // A private address, so that it is refused without a request.
  const past = { created_at: "2026-01-01T00:00:00Z", images: [`http://10.0.0.1/${marker}.jpg`] };
  const shown = { display_name: marker, review_title: marker, review_content: marker, product_title: marker };
  await reviews.createNow(aReview({ ...shown, email: `${marker}.e@mail.example`, past }));
  const { images: linked } = await images.linked({});
  return linked[0]?.id ?? 0;
}

async function fillQuestions(harness: Harness, { questions, answers, links }: TestAccount["service"]) {
  const texts = { review_content: marker, display_name: marker, product_title: marker };
  await questions.sendConfirmation(aQuestion({ ...texts, email: `${marker}.e@mail.example` }));
  await links.follow({ token: await lastToken(harness, "confirm_url") });
  const [question] = (await questions.list({ sku: "teapot" })).questions;
  const question_id = question?.id ?? 0;
  const { answer } = await answers.create({ question_id, content: `${marker}?` });
  await answers.edit({ answer_id: answer.id, content: marker });
  return { questionId: question_id, answerId: answer.id };
}

/** Reports a bounce of an email, so that its address is suppressed. */
async function suppress(
  harness: Harness,
  { emailEvents }: TestAccount["service"],
  { mailId, email, secret }: { readonly mailId: number; readonly email: string; readonly secret: string },
): Promise<void> {
  const key = createMessageKey(mailId, harness.sealer);
  const event = { event: "bounce", sg_event_id: marker, "smtp-id": `<${key}@x>`, sg_message_id: marker, email };
  await emailEvents.receive(signBySecret(JSON.stringify([event]), secret, harness.clock()));
}
