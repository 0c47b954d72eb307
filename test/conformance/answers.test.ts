import { expect, it } from "vitest";
import { describeIsolated, startMs, type Harness, type TestAccount } from "../support/backends.ts";
import { aQuestion, lastToken, readEmails } from "../support/emails.ts";

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

const bo = { display_name: "Bob Buyer", email: "bob@mail.example" };

/** Asks and confirms a question, and returns its ID. */
async function ask(harness: Harness, { service }: TestAccount, review_content: string): Promise<number> {
  await service.questions.sendConfirmation(aQuestion({ review_content }));
  await service.links.follow({ token: await lastToken(harness, "confirm_url") });
  return (await service.questions.list({ sku: "teapot" })).questions[0]?.id ?? 0;
}

/** Counts questions and answers: as stored, as listed, and from the rows. */
async function countEverywhere({ database }: Harness, { service }: TestAccount) {
  const { questions, ...totals } = await service.questions.list({ sku: "teapot" });
  const answers = questions.reduce((sum, { sorted_public_answers }) => sum + sorted_public_answers.length, 0);
  const shown = await database.db
    .selectFrom("questions")
    .leftJoin("answers", (join) =>
      join.onRef("answers.account_id", "=", "questions.account_id").onRef("answers.question_row", "=", "questions.id"),
    )
    .select(["questions.id", "answers.id as answer"])
    .where("state", "=", "public")
    .execute();
  expect(totals).toEqual({ total_questions: questions.length, total_answers: answers });
  expect(await service.questions.bottomLine({ sku: "teapot" })).toEqual(totals);
  expect(new Set(shown.map(({ id }) => id)).size).toBe(questions.length);
  expect(shown.filter(({ answer }) => answer !== null)).toHaveLength(answers);
  return [questions.length, answers];
}

describeIsolated("moderation of questions", (harness) => {
  it("hides and publishes a question with its answers, and counts them", async () => {
    const account = await harness().newAccount();
    const { service } = account;
    const question_id = await ask(harness(), account, "Does it pour well?");
    await ask(harness(), account, "Is it blue?");
    await service.answers.create({ question_id, content: "Yes" });
    await service.answers.create({ question_id, content: "Mine does", ...bo });
    expect(await countEverywhere(harness(), account)).toEqual([2, 2]);

    const hidden = await service.questions.setPublished({ question_id, published: false, reason: "rude", by: "Bo" });
    expect(hidden.question).toMatchObject({
      id: question_id,
      sku: "teapot",
      content: "Does it pour well?",
      state: "hidden",
    });
    expect(await countEverywhere(harness(), account)).toEqual([1, 0]);
    await service.questions.setPublished({ question_id, published: false, reason: "again" });
    await expect(service.answers.create({ question_id, content: "No" })).rejects.toMatchObject({
      kind: "recordNotFound",
      record: "Question",
    });

    const shown = await service.questions.setPublished({ question_id, published: true });
    expect(shown.question.state).toBe("public");
    expect(await countEverywhere(harness(), account)).toEqual([2, 2]);
    const { events } = await service.questions.history({ question_id });
    expect(events.map(({ event, by, reason }) => [event, by, reason])).toEqual([
      ["created", "USER", null],
      ["confirmed", "USER", null],
      ["answered", "MODERATOR", null],
      ["answered", "USER", null],
      ["unpublished", "Bo", "rude"],
      ["published", "MODERATOR", null],
    ]);
  });

  it("publishes a question that is not confirmed, and keeps a hidden one hidden when it is confirmed", async () => {
    const account = await harness().newAccount();
    const { service } = account;
    await service.questions.sendConfirmation(aQuestion());
    const rows = await harness().database.db.selectFrom("questions").select("id").execute();
    const question_id = rows[0]?.id ?? 0;
    const token = await lastToken(harness(), "confirm_url");
    await service.questions.setPublished({ question_id, published: false });
    expect(await countEverywhere(harness(), account)).toEqual([0, 0]);
    await service.links.follow({ token });
    expect(await countEverywhere(harness(), account)).toEqual([0, 0]);
    await service.questions.setPublished({ question_id, published: true });
    expect(await countEverywhere(harness(), account)).toEqual([1, 0]);
    await service.links.follow({ token });
    expect(await countEverywhere(harness(), account)).toEqual([1, 0]);
  });

  it("edits an answer of the store, and keeps the previous text in the history until it is deleted", async () => {
    const account = await harness().newAccount();
    const { service } = account;
    const question_id = await ask(harness(), account, "Does it pour well?");
    const { answer } = await service.answers.create({ question_id, content: "Yse" });
    const edited = await service.answers.edit({ answer_id: answer.id, content: "Yes", reason: "typo", by: "Bo" });
    expect(edited.answer).toEqual({ ...answer, content: "Yes" });
    await service.answers.edit({ answer_id: answer.id, content: "Yes" });
    const { questions } = await service.questions.list({ sku: "teapot" });
    expect(questions[0]?.sorted_public_answers).toEqual([edited.answer]);
    const readHistory = async () => (await service.questions.history({ question_id })).events.slice(3);
    const edit = { question_id, answer_id: answer.id, event: "answer_edited", by: "Bo", reason: "typo" };
    expect(await readHistory()).toMatchObject([{ ...edit, previous_content: "Yse" }]);

    expect(await service.answers.delete({ answer_id: answer.id, reason: "wrong" })).toEqual({});
    expect(await countEverywhere(harness(), account)).toEqual([1, 0]);
    expect(await readHistory()).toMatchObject([
      { ...edit, previous_content: null },
      { answer_id: answer.id, event: "answer_deleted", by: "MODERATOR", reason: "wrong", previous_content: null },
    ]);
  });

  it("deletes the answer of a shopper, but does not edit it", async () => {
    const account = await harness().newAccount();
    const { service } = account;
    const question_id = await ask(harness(), account, "Does it pour well?");
    const { answer } = await service.answers.create({ question_id, content: "Call 555-0100", ...bo });
    const answer_id = answer.id;
    await expect(service.answers.edit({ answer_id, content: "Call me" })).rejects.toMatchObject({
      kind: "invalidParams",
    });
    await service.answers.delete({ answer_id });
    expect(await countEverywhere(harness(), account)).toEqual([1, 0]);
    for (const call of [
      () => service.answers.delete({ answer_id }),
      () => service.answers.edit({ answer_id, content: "Yes" }),
      () => service.answers.vote({ answer_id, vote_type: "up" }),
    ]) {
      await expect(call()).rejects.toMatchObject({ kind: "recordNotFound", record: "Answer" });
    }
  });

  it("deletes a question with its answers and all texts, and keeps a history without them", async () => {
    const account = await harness().newAccount();
    const { service } = account;
    const question_id = await ask(harness(), account, "Unusual words?");
    const { answer } = await service.answers.create({ question_id, content: "Unusual answer" });
    await service.answers.edit({ answer_id: answer.id, content: "Unusual edit" });
    await service.answers.create({ question_id, content: "Unusual shopper", ...bo });
    expect(await service.questions.delete({ question_id, reason: "spam", by: "Bo" })).toEqual({});
    expect(await countEverywhere(harness(), account)).toEqual([0, 0]);
    const { db } = harness().database;
    for (const table of ["questions", "answers", "question_events", "mails"] as const) {
      const rows = await db.selectFrom(table).selectAll().execute();
      expect(JSON.stringify(rows), table).not.toContain("Unusual");
    }
    const { events } = await service.questions.history({ question_id });
    expect(events.at(-1)).toMatchObject({ event: "deleted", by: "Bo", reason: "spam", answer_id: null });
    await expect(service.questions.delete({ question_id })).rejects.toMatchObject({ kind: "recordNotFound" });
    await expect(service.answers.vote({ answer_id: answer.id, vote_type: "up" })).rejects.toMatchObject({
      kind: "recordNotFound",
    });
  });

  it("cancels queued emails about deleted texts only", async () => {
    const account = await harness().newAccount();
    const { service } = account;
    const question_id = await ask(harness(), account, "Does it pour well?");
    await service.answers.create({ question_id, content: "Stays" });
    const { answer } = await service.answers.create({ question_id, content: "Goes", ...bo });
    const listStates = async () =>
      (await readEmails(harness())).flatMap(({ category, state, data }) =>
        category.startsWith("answer_notification") ? [[category, state, data["answer"]]] : [],
      );
    await service.answers.delete({ answer_id: answer.id });
    expect(await listStates()).toEqual([
      ["answer_notification_shoppers", "queued", "Stays"],
      ["answer_notification_shoppers", "not_sent", ""],
      ["answer_notification_shop_owner", "not_sent", ""],
    ]);
    await service.questions.setPublished({ question_id, published: false });
    expect((await listStates())[0]).toEqual(["answer_notification_shoppers", "not_sent", ""]);
  });
});
