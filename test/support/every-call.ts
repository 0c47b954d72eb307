import {
  batchMethods,
  bottomLinesDelay,
  emailSorts,
  reviewSorts,
  storefrontElements,
  storefrontSorts,
} from "../../src/contract/index.ts";
import { createMessageKey } from "../../src/engine/emails/message-key.ts";
import { findDueCampaigns, queueCampaignEmails } from "../../src/engine/emails/campaigns/campaign-queue.ts";
import { createWebhookQueue } from "../../src/engine/webhooks/webhook-queue.ts";
import type { Service } from "../../src/service/service.ts";
import type { InputOf } from "../../src/service/transport.ts";
import type { Harness, TestAccount } from "./backends.ts";
import { anOrder, anOrderedProduct, aProduct, aReview, bulkOrders } from "./builders.ts";
import { readStoredEmails, createLinkTokens } from "./email-links.ts";
import { aQuestion, lastToken } from "./emails.ts";
import { createProviderKey, signBySecret } from "./provider-events.ts";
import { tinyPng } from "./photos.ts";

/** Calls every operation of the contract, in an order that gives each one the records it needs. */
export async function callEveryOperation(
  harness: Harness,
  { service, caller, secret, userId }: TestAccount,
): Promise<void> {
  await service.emailRules.set({ name: "one_mail_per", value: "product" });
  await callStore(service, caller.appKey, secret);
  await service.orders.create({ ...anOrder({ order_id: "2" }), platform: "general" });
  await service.users.get({ user_id: userId });
  await callShop(service);
  await callReviews(harness, service);
  await callQuestions(harness, service);
  const { code } = await service.users.signIn({ secret });
  await service.users.signedIn({ code });
  await callCustomers(service);
  const methods = batchMethods.map((method) => ({ method, params: { pid: "teapot" } }));
  await service.batch.run({ methods });
}

async function callStore(service: Service, appKey: string, secret: string): Promise<void> {
  const shop = { shop_domain: "http://shop.example", platform_type_id: "2" };
  await service.account.setPlatform({ account_platform: shop });
  await service.account.setFeature({ feature: "dynamic_coupons", enabled: true });
  await service.account.features({});
  await service.account.set({ name: "Tea & Cups", bottom_lines_delay: 3_600 });
  await service.account.settings({});
  await service.brand.set({ logo: tinyPng, accent_color: "#7a1f5c" });
  await service.brand.show({});
  await service.brand.logo({});
  await service.brand.reset({});
  await service.messages.set({ language: "en", key: "page.mine.edit", text: "Change" });
  await service.messages.list({});
  await service.messages.reset({});
  const grant = { client_id: appKey, client_secret: secret, grant_type: "client_credentials" };
  await service.tokens.create(grant);
  await service.core.createToken({ secret });
  await service.credentials.create({ secret, role: "importer" });
  const { credential } = await service.credentials.create({ secret, role: "support", name: "Ann" });
  await service.credentials.list({});
  await service.credentials.current({});
  await service.credentials.revoke({ credential_id: credential.id });
  const user = { email: "o@mail.example", display_name: "O", password: "p", url: "https://o.example" };
  await service.users.create({ user });
  await service.coupons.upload({ coupon_action: "map_review", codes: ["AAAA"] });
  await service.coupons.list({});
  await service.coupons.list({ details: true });
  await service.coupons.search({ search: "aaa" });
  await service.coupons.stats({});
  await service.coupons.issue({ coupon_action: "map_review", email: "ann@mail.example" });
  await service.coupons.delete({ coupon_action: "map_review" });
  await service.unsubscribers.massCreate({ email_list: { 1: ["a@mail.example"] } });
  await service.unsubscribers.list({ page: 2, count: 1 });
  for (const filter of [{}, { email: "a@mail.example" }, { email_type_id: 1, since_date: "2026-01-01" }]) {
    await service.unsubscribers.search(filter);
    await service.unsubscribers.search({ ...filter, search: "mail.example" });
  }
  await service.unsubscribers.massDelete({ email_list: { 1: ["a@mail.example"] } });
}

async function callShop(service: Service): Promise<void> {
  const specs = { external_sku: "x" };
  await service.products.massCreate({ products: { teapot: aProduct({ specs }), pan: aProduct() } });
  await service.products.massUpdate({ products: { teapot: aProduct({ specs }) } });
  const products = { teapot: anOrderedProduct(), "bad id": anOrderedProduct() };
  await service.orders.massCreate(bulkOrders([anOrder({ email: "rob@mail.example", products })]));
  await service.orders.massCreate({ ...bulkOrders([anOrder({ order_id: "1002" })]), send_mail: true });
  for (const quantity of [3, 1]) {
    const units = { teapot: anOrderedProduct({ quantity, price: String(quantity) }) };
    const repeated = anOrder({ order_id: "1002", order_date: `2026-03-0${quantity}`, products: units });
    await service.orders.massCreate(bulkOrders([repeated], { details: true }));
  }
  await service.orders.list({ page: 2, count: 1, since_date: "2026-01-01" });
  await service.orders.list({ details: true });
  await service.orders.cancelEmails({ orders: [{ order_id: "1001" }] });
  await service.products.search({ search: "pot" });
  await service.products.missed({ missed_products_ids: "all", start: 1 });
  await service.products.missed({ missed_products_ids: "1,2" });
  await service.products.promoted({});
  await service.products.setPromoted({ product_ids: ["teapot"] });
  await service.products.promoted({});
  await service.core.listProducts({ limit: 1, updated_at_min: "2026-01-01" });
  await service.core.listProducts({ details: true });
  await service.groups.create({ group_name: "pots" });
  await service.groups.update({ group_name: "pots", product_ids_to_add: ["teapot", "pan"] });
  await service.groups.list({});
  await service.groups.get({ group_name: "pots" });
  await service.seo.checkSubdomain({ subdomain: "pots" });
  await service.seo.pageUrl({ product_id: "teapot" });
}

async function callReviews(harness: Harness, service: Service): Promise<void> {
  const { reviews, groups } = service;
  await service.webhooks.create({ url: "https://shop.example/", event_name: "review_updated" });
  const { image_upload_token } = await reviews.create(aReview());
  await service.links.follow({ token: await lastToken(harness, "verify_url") });
  const { image } = await service.images.upload({ image_upload_token, image: tinyPng });
  await service.images.get({ image_id: image.id });
  await service.forms.review({ product_id: "teapot" });
  await service.forms.submitReview({ product_id: "teapot", content: "" });
  const typed = { content: "Good", display_name: "Ann", email: "ann@mail.example" };
  await service.forms.submitReview({ product_id: "teapot", score: "5", title: "Good", ...typed });
  await service.forms.question({ product_id: "teapot" });
  await service.forms.submitQuestion({ product_id: "teapot", ...typed });
  await service.forms.photos({ image_upload_token });
  await service.forms.addPhoto({ image_upload_token, image: tinyPng });
  await service.images.linked({ limit: 1 });
  await service.images.fetch({ image_id: image.id });
  const created = await reviews.createNow(aReview({ user_reference: "u" }));
  const review_id = created.reviews[0]?.id ?? 0;
  await reviews.get({ review_id });
  await reviews.vote({ review_id, vote_type: "up" });
  await reviews.update({ review_id, review_content: "Pours well", past: { comment: "Thanks" } });
  await reviews.comment({ review_id, content: "Thanks" });
  await reviews.editComment({ review_id, content: "Thank you" });
  await reviews.deleteComment({ review_id });
  await reviews.setPublished({ review_id, published: false, reason: "rude" });
  await reviews.setPublished({ review_id, published: true, reason: "not rude" });
  await reviews.history({ review_id });
  await service.reviewRules.add({ action: "hold", words: ["casino"], links: 1, min_score: 1, max_score: 5 });
  const { rules } = await service.reviewRules.list({});
  await service.reviewRules.test({ content: "Casino" });
  await service.reviewRules.test({ review_id });
  await service.reviewRules.delete({ rule_id: rules[0]?.id ?? 0 });
  await reviews.requeue({ review_id });
  await reviews.queue({});
  await reviews.queue({ state: "held", since_id: 1, count: 1 });
  await reviews.queue({ state: "pending" });
  await reviews.setPublished({ review_id, published: true, reason: "not rude" });
  for (const sort of reviewSorts) {
    await reviews.widget({ product_id: "teapot", sort, page: 1, per_page: 1 });
    await reviews.widget({ product_id: "teapot", sort, page: 2, per_page: 1, star: 5, direction: "ASC" });
  }
  await reviews.siteWidget({});
  await reviews.bottomLine({ product_id: "teapot" });
  await reviews.top({});
  const since = [{}, { since_id: 1 }, { since_date: "2026-01-01" }, { since_updated_at: "2026-01-01" }];
  for (const query of since) {
    await reviews.list({ ...query, count: 1, page: 2, deleted: true });
    await reviews.listByUser({ ...query, user_reference: "u" });
  }
  await reviews.list({ details: true, deleted: true });
  await reviews.listByUser({});
  await callSearch(service);
  harness.clock.advance(bottomLinesDelay.defaultMs);
  await reviews.bottomLines({ count: 1, page: 2 });
  await groups.update({ group_name: "pots", product_ids_to_remove: ["teapot", "pan"] });
  harness.clock.advance(bottomLinesDelay.defaultMs);
  await reviews.bottomLines({ since_id: 1, since_date: "2026-01-01" });
  await groups.delete({ group_name: "pots" });
  await service.seo.page({ product_id: "teapot" });
  await service.storefront.settings({});
  await service.storefront.ratings({ product_ids: ["teapot", "unknown"] });
  for (const sort of storefrontSorts) await service.storefront.reviews({ product_id: "teapot", sort });
  await service.storefront.reviews({ stars: [5], with_photos: true, verified: true, search: "pot" });
  await service.storefront.photos({ product_id: "teapot" });
  await service.storefront.questions({ product_id: "teapot" });
  for (const element of storefrontElements) await service.storefront.element({ product_id: "teapot", element });
  await service.seo.page({});
  await callDeliveries(harness, service);
  await service.webhooks.trigger({ event_name: "review_updated" });
  const { webhooks } = await service.webhooks.list({});
  await service.webhooks.delete({ webhook_id: webhooks[0]?.id ?? 0 });
}

async function callSearch({ orders, questions, reviews }: Service): Promise<void> {
  const filters = [
    {},
    { email: "ann@mail.example", sort: "oldest" },
    { product_id: "teapot", deleted: true },
    { product_id: "service_site_reviews", deleted: true },
    { order_id: "1001" },
    { user_reference: "u" },
    { score: "1,2", unanswered: true },
    { state: "held,unpublished", with_images: true },
    { with_images: true, since_date: "2026-01-01" },
  ] as const;
  for (const filter of filters) {
    const { pagination } = await reviews.search({ ...filter, limit: 1 });
    const { next_page_info: page_info } = pagination;
    if (page_info !== null) await reviews.search({ ...filter, page_info });
    await reviews.search({ ...filter, search: "pours well" });
  }
  const person = { email: "ann@mail.example" };
  const days = { since_date: "2026-01-01", until_date: "2027-01-01" };
  const product = { product_id: "teapot" };
  const orderFilters = [
    {},
    person,
    { ...days, sort: "oldest" },
    { order_id: "1001" },
    product,
    { ...product, ...person },
  ];
  for (const filter of orderFilters as readonly InputOf<"orders.search">[]) {
    const { pagination } = await orders.search({ ...filter, limit: 1 });
    if (pagination.next_page_info !== null) await orders.search({ ...filter, page_info: pagination.next_page_info });
    await orders.search({ ...filter, search: "mail.example" });
  }
  await orders.get({ order_id: "1001" });
  for (const filter of [{}, person, days, product, { state: "public,hidden" }, { unanswered: true }]) {
    await questions.search(filter);
    await questions.search({ ...filter, search: "whistle" });
  }
}

async function callDeliveries({ work }: Harness, { webhookDeliveries }: Service): Promise<void> {
  await createWebhookQueue(work, { worker: "one", leaseMs: 60_000 }).begin(1);
  await webhookDeliveries.attempts({});
  await webhookDeliveries.attempts({ since_id: 1, count: 5 });
  await webhookDeliveries.list({});
  await webhookDeliveries.list({ since_id: 1, event_name: "review_updated", webhook_id: 1 });
  await webhookDeliveries.list({ state: "failed,delivered", since_date: "2026-01-01", until_date: "2027-01-01" });
  const { deliveries } = await webhookDeliveries.list({ state: "queued", count: 1 });
  const delivery_id = deliveries[0]?.id ?? 0;
  await webhookDeliveries.get({ delivery_id });
  await webhookDeliveries.redeliver({ delivery_id });
}

async function callQuestions(harness: Harness, service: Service): Promise<void> {
  await service.questions.sendConfirmation(aQuestion({ prevent_duplicate_review: true }));
  const token = await lastToken(harness, "confirm_url");
  await service.links.show({ token });
  await service.links.follow({ token });
  await service.links.follow({ token: await lastToken(harness, "unsubscribe_url") });
  const [question] = (await service.questions.list({ sku: "teapot", count: 5, page: 1 })).questions;
  const answered = await service.answers.create({ question_id: question?.id ?? 0, content: "Yes" });
  await service.answers.vote({ answer_id: answered.answer.id, vote_type: "up" });
  await service.questions.list({ sku: "teapot" });
  await service.questions.bottomLine({ sku: "teapot" });
  await moderateQuestion(question?.id ?? 0, answered.answer.id, service);
  await service.emails.sendTest({});
  await callEmails(harness, service);
  await callReviewRequests(harness, service);
  await service.emails.forecast({ since_purchase_id: 1 });
  await service.emailRules.list({});
  await service.emailRules.set({ name: "due_after_days", value: 7 });
  await service.emailRules.set({ name: "due_after_days", value: null });
  const { template } = await service.emailTemplates.get({ category: "map", built_in: true });
  const { subject, text, html } = template;
  await service.emailTemplates.set({ category: "map", subject, text, html });
  await service.emailTemplates.get({ category: "map" });
  await service.emailTemplates.list({});
  await service.emailTemplates.preview({ category: "map", subject });
  await service.emailTemplates.reset({ category: "map" });
  await service.emails.explain({ order_id: "1001" });
  const days = { since_date: "2026-01-01", to_date: "2026-12-31" };
  await service.emails.stats({ ...days, categories: "map,reminder", aggregate: "week" });
  await service.emails.statsOfAll({ ...days, categories: "coupon_notification", aggregate: "week" });
}

async function moderateQuestion(
  question_id: number,
  answer_id: number,
  { answers, questions }: Service,
): Promise<void> {
  await answers.edit({ answer_id, content: "Yes!" });
  await questions.setPublished({ question_id, published: false });
  await questions.setPublished({ question_id, published: true });
  await questions.history({ question_id });
  await answers.delete({ answer_id });
  await questions.delete({ question_id });
}

async function callEmails(harness: Harness, service: Service): Promise<void> {
  const { mails } = await service.emails.list({ count: 1 });
  const [{ id: mail_id, email } = { id: 0, email: "" }] = mails;
  await service.emails.list({ since_id: 1, category: "map", email });
  for (const sort of emailSorts) await service.emails.list({ sort, order_id: "1001" });
  await service.emails.list({ state: "queued,sent", sort: "soonest" });
  for (const sort of emailSorts) {
    await service.emails.list({ sort, since_date: "2026-01-01" });
    await service.emails.list({ sort, product_id: "teapot", state: "queued" });
  }
  for (const filter of [{}, { product_id: "teapot", state: "queued" }, { email }, { since_id: 1 }]) {
    await service.emails.list({ ...filter, search: "mail.example" });
  }
  await service.customers.find({ search: "mail.example" });
  await service.emails.list({ product_id: "teapot", email, until_date: "2027-01-01" });
  await service.emails.get({ mail_id });
  const message = { "smtp-id": `<${createMessageKey(mail_id, harness.sealer)}@x>`, sg_message_id: "m", email };
  const toEvent = (event: string) => ({ event, sg_event_id: event, ...message });
  const events = ["open", "unsubscribe", "bounce"].map(toEvent);
  const { secret } = await service.emailEvents.setUp({ public_key: "" });
  for (const event of [...events, { event: "open", sg_message_id: "n" }]) {
    const body = JSON.stringify([event]);
    await service.emailEvents.receive(signBySecret(body, secret, harness.clock()));
  }
  await service.emailEvents.setUp({ rotate: true, public_key: createProviderKey().text });
  await service.emailSuppressions.lift({ email });
  await service.emails.cancel({ mail_id });
  const order = { order_id: "resend", order_date: "2026-02-15", email: "resend@mail.example", customer_name: "Ann" };
  const products = { teapot: { name: "Pot", url: "https://shop.example/teapot" } };
  await service.orders.create({ ...order, platform: "general", products });
  const queued = (await service.emails.list({ order_id: order.order_id })).mails.map(({ id }) => id);
  const ofAccount = harness.database.db.updateTable("mails").where("account_id", "=", 1);
  await ofAccount.set({ state: "failed" }).where("id", "in", queued).execute();
  await callCampaigns(harness, service, order);
  await service.emails.previewResend({ mail_ids: queued });
  const { mails: resent } = await service.emails.resend({ mail_ids: queued });
  const solved = { category: "mail_after_service" as const, recipients: [{ email: "solved@mail.example" }] };
  await service.emails.previewSend(solved);
  await service.emails.send(solved);
  if (resent[0]?.copy_id === null) throw new Error("the email was not resent");
}

async function callCampaigns(
  harness: Harness,
  { campaigns }: Service,
  { order_id, email }: { readonly order_id: string; readonly email: string },
): Promise<void> {
  const plan = { category: "custom_map", emails_per_hour: 60, since_date: "2020-01-01" } as const;
  await campaigns.forecast(plan);
  await campaigns.forecast({ ...plan, product_ids: ["teapot"], order_ids: [order_id], emails: [email] });
  const { campaign } = await campaigns.create({ name: "May", ...plan });
  await campaigns.create({ name: "June", ...plan, order_ids: [order_id] });
  for (let times = 0; times < 2; times++) {
    await harness.work.write(1, async (context) => queueCampaignEmails(await findDueCampaigns(context), context));
  }
  await campaigns.list({});
  await campaigns.get({ campaign_id: campaign.id });
  await campaigns.stop({ campaign_id: campaign.id });
  await campaigns.resume({ campaign_id: campaign.id });
}

async function callCustomers(service: Service): Promise<void> {
  await service.customers.get({ email: "ann@mail.example" });
  await service.customers.export({ email: "ann@mail.example" });
  await service.customers.planErasure({ email: "ann@mail.example" });
  await service.customers.erase({ email: "ann@mail.example" });
  await service.customers.erase({ email: "rob@mail.example", reviews: "delete" });
  await service.customers.erasures({});
  await service.customers.erasures({ since_id: 1, count: 1 });
}

async function callReviewRequests(harness: Harness, service: Service): Promise<void> {
  const email = (await readStoredEmails(harness)).find(({ productRow }) => productRow > 0);
  if (!email) throw new Error("no order created an email");
  const tokens = createLinkTokens(harness, email);
  const formFields = { score: "5", title: "Good", content: "Good", display_name: "Ann" };
  for (const value of [true, false]) {
    await service.emailRules.set({ name: "track_opens", value });
    await service.emailRules.set({ name: "track_clicks", value });
    await service.tracking.open({ token: tokens.open() });
    await service.tracking.click({ token: tokens.click("https://shop.example/") });
  }
  const { questions } = await service.questions.search({});
  const answered = { token: tokens.answer(questions[0]?.id ?? 0) };
  await service.answerRequests.show(answered);
  await service.answerRequests.write({ ...answered, content: "Yes", display_name: "Ann" });
  await service.reviewRequests.show({ token: tokens.review() });
  await service.reviewRequests.write({ token: tokens.review(), ...formFields });
  await callMyReviews(tokens.myReviews("ann@mail.example"), service);
}

async function callMyReviews(token: string, service: Service): Promise<void> {
  await service.myReviews.form({});
  await service.myReviews.request({ email: "ann@mail.example" });
  await service.myReviews.request({});
  const { page } = await service.myReviews.show({ token });
  const [{ id: review } = { id: 0 }] = page.reviews;
  await service.myReviews.show({ token, review, action: "edit" });
  await service.myReviews.show({ token, photo: 0, question: 0 });
  await service.myReviews.change({ token, review, score: "5", title: "Better", content: "Better" });
  await service.myReviews.change({ token, review, content: "" });
  await service.myReviews.change({ token, review, action: "delete" });
}
