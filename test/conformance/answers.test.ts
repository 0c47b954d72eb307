import { expect, it } from "vitest";
import { describeIsolated, startMs, type Harness, type TestAccount } from "../support/backends.ts";
import { aQuestion, lastToken } from "../support/emails.ts";

async function createPublicQuestion(harness: Harness, { service }: TestAccount): Promise<number> {
  await service.questions.sendConfirmation(aQuestion());
  await service.links.follow({ token: await lastToken(harness, "confirm_url") });
  return (await service.questions.list({ sku: "teapot" })).questions[0]?.id ?? 0;
}

describeIsolated("answers", (harness) => {
  it("creates answers of the store and of shoppers", async () => {
    const account = await harness().newAccount("Tea Shop");
    const { service } = account;
    const question_id = await createPublicQuestion(harness(), account);
    harness().clock.advance(1_000);
    const byStore = await service.answers.create({ question_id, content: "It does." });
    expect(byStore.answer).toEqual({
      id: expect.any(Number),
      content: "It does.",
      store_owner_comment: true,
      answerer: expect.objectContaining({ id: account.userId, display_name: "Tea Shop", badges: [] }),
      votes_up: 0,
      votes_down: 0,
      created_at: new Date(startMs + 1_000).toISOString(),
    });
    const shopper = { display_name: "Bob Buyer", email: "Bob@Mail.example" };
    const byShopper = await service.answers.create({ question_id, content: "Mine does.", ...shopper });
    expect(byShopper.answer).toMatchObject({
      store_owner_comment: false,
      answerer: { display_name: "Bob B.", slug: "bob-b" },
    });
    const sameShopper = { display_name: "Robert", email: "bob@mail.example" };
    const second = await service.answers.create({ question_id, content: "Still.", ...sameShopper });
    expect(second.answer.answerer).toEqual(byShopper.answer.answerer);
    const { questions, ...totals } = await service.questions.list({ sku: "teapot" });
    expect(totals).toEqual({ total_questions: 1, total_answers: 3 });
    expect(questions[0]?.sorted_public_answers).toEqual([byStore.answer, byShopper.answer, second.answer]);
  });

  it("lists the store's answers first, then the rest by votes up, then by age", async () => {
    const account = await harness().newAccount();
    const { service } = account;
    const question_id = await createPublicQuestion(harness(), account);
    const shopper = { display_name: "Bob Buyer", email: "bob@mail.example" };
    const ids = new Map<string, number>();
    for (const [content, by] of [
      ["older", shopper],
      ["newer", shopper],
      ["liked", shopper],
      ["disliked", shopper],
      ["store", {}],
      ["liked store", {}],
    ] as const) {
      ids.set(content, (await service.answers.create({ question_id, content, ...by })).answer.id);
    }
    for (const [content, vote_type] of [
      ["liked", "up"],
      ["liked", "up"],
      ["liked store", "up"],
      ["disliked", "down"],
    ] as const) {
      await service.answers.vote({ answer_id: ids.get(content) ?? 0, vote_type });
    }
    const { questions } = await service.questions.list({ sku: "teapot" });
    expect(
      questions[0]?.sorted_public_answers.map(({ content, votes_up, votes_down }) => [content, votes_up, votes_down]),
    ).toEqual([
      ["liked store", 1, 0],
      ["store", 0, 0],
      ["liked", 2, 0],
      ["older", 0, 0],
      ["newer", 0, 0],
      ["disliked", 0, 1],
    ]);
  });

  it("accepts answers only to public questions of the account", async () => {
    const [one, other] = [await harness().newAccount(), await harness().newAccount()];
    const question_id = await createPublicQuestion(harness(), one);
    await one.service.questions.sendConfirmation(aQuestion({ review_content: "Pending?" }));
    const notFound = (id: number) => ({ kind: "recordNotFound", message: `Couldn't find Question with id = ${id}` });
    const create = (account: TestAccount, id: number) =>
      account.service.answers.create({ question_id: id, content: "Yes" });
    await expect(create(other, question_id)).rejects.toMatchObject(notFound(question_id));
    await expect(create(one, question_id + 1)).rejects.toMatchObject(notFound(question_id + 1));
    const unusedId = 999_999_999_999_999;
    await expect(create(one, unusedId)).rejects.toMatchObject(notFound(unusedId));
    expect(await one.service.questions.bottomLine({ sku: "teapot" })).toMatchObject({ total_answers: 0 });
  });

  it("rejects an empty answer, an incomplete shopper, and a request without a utoken", async () => {
    const account = await harness().newAccount();
    const question_id = await createPublicQuestion(harness(), account);
    const create = (fields: Record<string, unknown>) =>
      account.service.answers.create({ question_id, content: "Yes", ...fields });
    await expect(create({ content: " " })).rejects.toMatchObject({ message: "Missing content" });
    await expect(create({ display_name: "Bob" })).rejects.toMatchObject({
      kind: "invalidParams",
      message: "Missing email",
    });
    await expect(create({ email: "bob@mail.example" })).rejects.toMatchObject({
      kind: "invalidParams",
      message: "Missing display_name",
    });
    const anonymous = harness().service({ appKey: account.caller.appKey });
    await expect(anonymous.answers.create({ question_id, content: "Yes" })).rejects.toMatchObject({
      kind: "unauthorized",
    });
  });

  it("uses the name of the store, never its URL, if the store has no owner", async () => {
    const account = await harness().newAccount();
    const question_id = await createPublicQuestion(harness(), account);
    const { db } = harness().database;
    await db.deleteFrom("users").where("kind", "=", "owner").execute();
    await account.service.account.setPlatform({
      account_platform: { shop_domain: "http://tea.example", platform_type_id: "2" },
    });
    const first = await account.service.answers.create({ question_id, content: "One" });
    const second = await account.service.answers.create({ question_id, content: "Two" });
    expect(first.answer).toMatchObject({ store_owner_comment: true, answerer: { display_name: "Store" } });
    expect(second.answer.answerer).toEqual(first.answer.answerer);
    await account.service.account.set({ name: "Tea & Cups" });
    const { questions } = await account.service.questions.list({ sku: "teapot" });
    expect(questions[0]?.sorted_public_answers.map(({ answerer }) => answerer.display_name)).toEqual([
      "Tea & Cups",
      "Tea & Cups",
    ]);
  });
});
