import { expect, it, vi } from "vitest";
import { SqliteFile } from "../../../src/storage/sqlite-file.ts";
import { backends, type Harness, type TestAccount } from "../../support/backends.ts";
import { anOrder, anOrderedProduct, bulkOf } from "../../support/builders.ts";
import { aQuestion, aReview, lastToken } from "../../support/mails.ts";

/** Every call of questions, answers, mails, links, webhooks and images. */
async function callAll(harness: Harness, { service }: TestAccount): Promise<void> {
  await service.orders.massCreate(
    bulkOf([anOrder({ email: "rob@mail.example", products: { teapot: anOrderedProduct() } })]),
  );
  await service.questions.sendConfirmation(aQuestion({ prevent_duplicate_review: true }));
  const token = await lastToken(harness, "confirm_url");
  await service.links.show({ token });
  await service.links.follow({ token });
  await service.links.follow({ token: await lastToken(harness, "unsubscribe_url") });
  const [question] = (await service.questions.list({ sku: "teapot", count: 5, page: 1 })).questions;
  const answered = await service.answers.create({ question_id: question?.id ?? 0, content: "Yes" });
  await service.answers.vote({ answer_id: answered.answer.id, vote_type: "up" });
  await service.questions.list({ sku: "teapot" });
  await service.webhooks.create({ url: "https://shop.example/", event_name: "review_updated" });
  const { image_upload_token } = await service.reviews.create(aReview());
  await service.links.follow({ token: await lastToken(harness, "verify_url") });
  const { image } = await service.images.upload({
    image_upload_token,
    image: Buffer.from("GIF89a").toString("base64"),
  });
  await service.images.get({ image_id: image.id });
  await service.mail.sendTest({});
  const days = { since_date: "2026-01-01", to_date: "2026-12-31" };
  await service.mail.stats({ ...days, categories: "map,reminder", aggregate: "week" });
  const { webhooks } = await service.webhooks.list({});
  await service.webhooks.delete({ webhook_id: webhooks[0]?.id ?? 0 });
}

it("finds every row by an index, in every statement of these calls", async () => {
  const sqlite = backends.find(({ name }) => name === "local-sqlite");
  if (!sqlite) throw new Error("there is no SQLite backend");
  const harness = await sqlite.open();
  try {
    const account = await harness.newAccount();
    const ran = [vi.spyOn(SqliteFile.prototype, "run"), vi.spyOn(SqliteFile.prototype, "all")];
    await callAll(harness, account);
    const calls = ran.flatMap(({ mock }) => mock.calls);
    vi.restoreAllMocks();
    const statements = new Map(calls.map(([sql, parameters = []]) => [sql, parameters]));
    // The tests' own reading of the outbox is no call of the service.
    const own = [...statements].filter(([sql]) => /^(select|insert|update|delete|with)\b/i.test(sql.trim()));
    const file = new SqliteFile(harness.database.shownAs);
    const scans = own
      .filter(([sql]) => !sql.includes('from "mails" order by'))
      .flatMap(([sql, parameters]) => {
        const plan = file.all(`explain query plan ${sql}`, parameters).map(({ detail }) => String(detail));
        return plan
          .filter((step) => /^SCAN (?!jsonb_each|paged|CONSTANT)/.test(step))
          .map((step) => `${step}: ${sql}`);
      });
    file.close();
    expect(own.length).toBeGreaterThan(40);
    expect(scans).toEqual([]);
  } finally {
    await harness.close();
  }
});
