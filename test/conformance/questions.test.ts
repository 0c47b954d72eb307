import { expect, it } from "vitest";
import { describeIsolated, startMs, type Harness, type TestAccount } from "../support/backends.ts";
import { aQuestion, lastToken, readEmailCounts, readEmails } from "../support/emails.ts";

/** Asks a question, and confirms it with the link in the email. */
async function createPublicQuestion(harness: Harness, account: TestAccount, fields = {}): Promise<void> {
  await account.service.questions.sendConfirmation(aQuestion(fields));
  await account.service.links.follow({ token: await lastToken(harness, "confirm_url") });
}

async function countQuestions({ database }: Harness): Promise<number> {
  return (await database.db.selectFrom("questions").select("id").execute()).length;
}

describeIsolated("questions", (harness) => {
  it("hides a question until its asker confirms it", async () => {
    const { service } = await harness().newAccount();
    expect(await service.questions.sendConfirmation(aQuestion())).toEqual({});
    const none = { total_questions: 0, total_answers: 0 };
    expect(await service.questions.list({ sku: "teapot" })).toEqual({ ...none, questions: [] });
    expect(await service.questions.bottomLine({ sku: "teapot" })).toEqual(none);
    harness().clock.advance(60_000);
    await service.links.follow({ token: await lastToken(harness(), "confirm_url") });
    const { questions, ...totals } = await service.questions.list({ sku: "teapot" });
    expect(totals).toEqual({ total_questions: 1, total_answers: 0 });
    expect(await service.questions.bottomLine({ sku: "teapot" })).toEqual(totals);
    expect(questions).toEqual([
      {
        id: expect.any(Number),
        content: "Does it pour well?",
        asker: {
          id: expect.any(Number),
          display_name: "Ann A.",
          slug: "ann-a",
          social_image: null,
          is_social_connected: false,
          bio: null,
          score: 0,
          badges: [],
        },
        user_type: "User",
        created_at: new Date(startMs).toISOString(),
        sorted_public_answers: [],
      },
    ]);
  });

  it("emails the asker a link to confirm and one to unsubscribe, and creates the product", async () => {
    const { service } = await harness().newAccount();
    await service.questions.sendConfirmation(aQuestion({ product_image_url: "", product_tags: ["a", "b"] }));
    expect(await readEmails(harness())).toEqual([
      {
        category: "question_confirmation",
        email_type_id: 8,
        email: "ann@mail.example",
        name: "",
        state: "queued",
        data: {
          question_id: expect.any(Number),
          content: "",
          product_name: "Teapot",
          product_url: "https://shop.example/teapot",
          confirm_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/starpost\/v1\/l\/[\w.-]+$/),
          unsubscribe_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/starpost\/v1\/l\/[\w.-]+$/),
        },
      },
    ]);
    expect(await readEmailCounts(harness(), "question_confirmation")).toEqual({ requests: 1 });
    const product = await harness().database.db.selectFrom("products").selectAll().executeTakeFirstOrThrow();
    expect(product).toMatchObject({ product_id: "teapot", name: "Teapot", image_url: null, product_tags: "a,b" });
  });

  it("does not change an existing product", async () => {
    const { service } = await harness().newAccount();
    await service.questions.sendConfirmation(aQuestion());
    await service.questions.sendConfirmation(aQuestion({ product_title: "Kettle", review_content: "And now?" }));
    const found = await harness().database.db.selectFrom("products").select("name").execute();
    expect(found).toEqual([{ name: "Teapot" }]);
  });

  it("accepts a question once if requested, however it is written", async () => {
    const { service } = await harness().newAccount();
    await service.questions.sendConfirmation(aQuestion());
    const repeated = { review_content: "  does it\n POUR  well? ", email: "other@mail.example" };
    const duplicate = aQuestion({ ...repeated, prevent_duplicate_review: true });
    expect(await service.questions.sendConfirmation(duplicate)).toEqual({});
    expect(await countQuestions(harness())).toBe(1);
    expect(await readEmails(harness())).toHaveLength(1);
    await service.links.follow({ token: await lastToken(harness(), "confirm_url") });
    await service.questions.sendConfirmation(duplicate);
    expect(await countQuestions(harness())).toBe(1);
    for (const fields of [
      { ...repeated, prevent_duplicate_review: false },
      repeated,
      { ...repeated, prevent_duplicate_review: true, product_id: "kettle" },
      { ...repeated, prevent_duplicate_review: true, review_content: "Does it pour?" },
    ]) {
      await service.questions.sendConfirmation(aQuestion(fields));
    }
    expect(await countQuestions(harness())).toBe(5);
  });

  it("accepts the same question again after its confirmation has expired", async () => {
    const { service } = await harness().newAccount();
    const duplicate = aQuestion({ prevent_duplicate_review: "true" });
    await service.questions.sendConfirmation(duplicate);
    harness().clock.advance(30 * 24 * 60 * 60 * 1_000 - 1);
    await service.questions.sendConfirmation(duplicate);
    expect(await countQuestions(harness())).toBe(1);
    harness().clock.advance(1);
    await service.questions.sendConfirmation(duplicate);
    expect(await countQuestions(harness())).toBe(2);
  });

  it("accepts a question of the maximum length, in any script", async () => {
    const { service } = await harness().newAccount();
    const review_content = Array.from({ length: 2_500 }, () => "né🫖").join("");
    await service.questions.sendConfirmation(aQuestion({ review_content, prevent_duplicate_review: true }));
    await service.questions.sendConfirmation(aQuestion({ review_content, prevent_duplicate_review: true }));
    expect(await countQuestions(harness())).toBe(1);
  });

  it("lists the newest questions first, in pages, each with its own answers", async () => {
    const account = await harness().newAccount();
    const { service } = account;
    for (const content of ["one?", "two?", "three?"]) {
      await createPublicQuestion(harness(), account, { review_content: content });
    }
    const { questions } = await service.questions.list({ sku: "teapot" });
    expect(questions.map(({ content }) => content)).toEqual(["three?", "two?", "one?"]);
    for (const { id, content } of questions.toReversed()) {
      await service.answers.create({ question_id: id, content: `to ${content}` });
    }
    const page = async (query: { count?: number; page?: number }) => {
      const found = await service.questions.list({ sku: "teapot", ...query });
      expect(found).toMatchObject({ total_questions: 3, total_answers: 3 });
      return found.questions.map(({ content, sorted_public_answers }) =>
        [content].concat(sorted_public_answers.map((answer) => answer.content)),
      );
    };
    const [three, two, one] = ["three?", "two?", "one?"].map((content) => [content, `to ${content}`]);
    expect(await page({ count: 2 })).toEqual([three, two]);
    expect(await page({ count: 2, page: 0 })).toEqual([three, two]);
    expect(await page({ count: 2, page: 2 })).toEqual([one]);
    expect(await page({ count: 2, page: 3 })).toEqual([]);
    expect(await page({ count: 0 })).toEqual([three]);
    expect(await page({ count: -1, page: -1 })).toEqual([three]);
    expect(await page({ count: 999_999_999_999_999, page: 999_999_999_999_999 })).toEqual([]);
    expect(await page({ count: 1_000_000 })).toEqual([three, two, one]);
  });

  it("keeps the questions of products and of accounts separate", async () => {
    const [one, other] = [await harness().newAccount(), await harness().newAccount()];
    await createPublicQuestion(harness(), one);
    await createPublicQuestion(harness(), one, { product_id: "kettle" });
    await createPublicQuestion(harness(), other, { review_content: "Mine?" });
    const { questions } = await other.service.questions.list({ sku: "teapot" });
    expect(questions.map(({ content }) => content)).toEqual(["Mine?"]);
    expect(await one.service.questions.bottomLine({ sku: "kettle" })).toMatchObject({ total_questions: 1 });
    await expect(other.service.questions.list({ sku: "kettle" })).rejects.toMatchObject({
      kind: "recordNotFound",
      message: "Couldn't find ProductsApp with domain_key = kettle",
    });
  });
});
