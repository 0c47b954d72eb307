import { expect, it } from "vitest";
import type { InputOf } from "../../src/service/transport.ts";
import { describeBackends, type TestAccount } from "../support/backends.ts";
import { aQuestion, lastToken } from "../support/emails.ts";
import { invalidField } from "../support/service-errors.ts";

type Query = InputOf<"questions.search">;

describeBackends("searching questions", (harness) => {
  const ask = async ({ service }: TestAccount, fields: Parameters<typeof aQuestion>[0], isConfirmed = true) => {
    await service.questions.sendConfirmation(aQuestion(fields));
    if (isConfirmed) await service.links.follow({ token: await lastToken(harness(), "confirm_url") });
    harness().clock.advance(60_000);
  };
  const find = async ({ service }: TestAccount, query: Query) =>
    (await service.questions.search(query)).questions.map(({ content }) => content);

  it("lists questions about all products with their answers, and filters them", async () => {
    const account = await harness().newAccount();
    const { service } = account;
    const startMs = harness().clock();
    await ask(account, { review_content: "Does it whistle?", email: "Bo@mail.example", display_name: "Bo" });
    await ask(account, { review_content: "Is the lid big?", product_id: "pan" });
    await ask(account, { review_content: "Not confirmed", email: "bo@mail.example" }, false);
    await ask(account, { review_content: "Is it big?", email: "bo@mail.example", display_name: "Bo" });
    const all = ["Is it big?", "Is the lid big?", "Does it whistle?"];
    expect(await find(account, {})).toEqual(all);
    expect(await find(account, { sort: "oldest" })).toEqual(all.toReversed());
    expect(await find(account, { product_id: "pan" })).toEqual([all[1]]);
    expect(await find(account, { product_id: "none" })).toEqual([]);
    expect(await find(account, { email: "BO@mail.example" })).toEqual([all[0], all[2]]);
    expect(await find(account, { email: "bo@mail.example", product_id: "pan" })).toEqual([]);
    expect(await find(account, { state: "pending" })).toEqual(["Not confirmed"]);
    expect(await find(account, { state: "public,pending" })).toEqual([all[0], "Not confirmed", all[1], all[2]]);
    const since_date = new Date(startMs + 60_000).toISOString();
    expect(await find(account, { since_date })).toEqual([all[0], all[1]]);
    expect(await find(account, { until_date: since_date })).toEqual([all[2]]);

    const { questions } = await service.questions.search({ search: "whistle" });
    const [question] = questions;
    expect(question).toMatchObject({ sku: "teapot", state: "public", total_answers: 0, email: "Bo@mail.example" });
    const { answer } = await service.answers.create({ question_id: question?.id ?? 0, content: "Only at 100 degrees" });
    expect(await find(account, { unanswered: true })).toEqual([all[0], all[1]]);
    expect(await find(account, { search: "degrees bo" })).toEqual([all[2]]);
    const [answered] = (await service.questions.search({ search: "whistle" })).questions;
    expect(answered).toMatchObject({ total_answers: 1, sorted_public_answers: [{ content: "Only at 100 degrees" }] });

    await service.answers.edit({ answer_id: answer.id, content: "When it boils" });
    expect(await find(account, { search: "degrees" })).toEqual([]);
    expect(await find(account, { search: "boils" })).toEqual([all[2]]);
    await service.answers.delete({ answer_id: answer.id });
    expect(await find(account, { unanswered: true })).toEqual(all);
    expect(await find(account, { search: "boils" })).toEqual([]);
    await service.questions.setPublished({ question_id: question?.id ?? 0, published: false });
    expect(await find(account, {})).toEqual(all.slice(0, 2));
    expect(await find(account, { state: "hidden", search: "whistle" })).toEqual([all[2]]);
    await service.questions.delete({ question_id: question?.id ?? 0 });
    expect(await find(account, { state: "hidden", search: "whistle" })).toEqual([]);
    const words = await harness().database.db.selectFrom("question_words").select("words").execute();
    expect(words.filter((row) => row.words.includes("whistle"))).toEqual([]);
  });

  it("reads page by page, and rejects invalid filters", async () => {
    const account = await harness().newAccount();
    for (const content of ["One", "Two", "Three"]) await ask(account, { review_content: content });
    const { search } = account.service.questions;
    const first = await search({ limit: 2 });
    const rest = await search({ page_info: first.pagination.next_page_info ?? "", limit: 2 });
    expect([...first.questions, ...rest.questions].map(({ content }) => content)).toEqual(["Three", "Two", "One"]);
    expect(rest.pagination).toEqual({ next_page_info: null });
    await expect(search({ state: "lost" })).rejects.toMatchObject(invalidField("state"));
    await expect(search({ search: "?" })).rejects.toMatchObject(invalidField("search"));
  });
});
