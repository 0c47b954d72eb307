import type { Service } from "../../../../src/service/service.ts";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { backends, type TestAccount } from "../../../support/backends.ts";
import { openPipeline, type Pipeline } from "../../../support/pipeline.ts";
import { reviewExporter } from "../../../../src/records/reviews/export.ts";
import { reviews } from "../../../../src/records/reviews/kind.ts";
import { listImports, showImport } from "../../../../src/import/import.ts";
import type { ImportSummary } from "../../../../src/import/summary.ts";

type Row = Readonly<Record<string, string>>;

const ann: Row = {
  review_title: "Good",
  review_content: "Pours well",
  review_score: "5",
  date: "2018-08-15T10:11:12Z",
  product_id: "teapot",
  display_name: "Ann Lee",
  email: "ann@mail.example",
};
const bob: Row = { ...ann, review_content: "Drips", review_score: "2", display_name: "Bob", email: "bob@mail.example" };

function toCsv(rows: readonly Row[]): string {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const lines = rows.map((row) => columns.map((name) => JSON.stringify(row[name] ?? "").replaceAll('\\"', '""')));
  return [columns, ...lines].map((cells) => cells.join(",")).join("\n");
}

const mapCells = (record: Readonly<Record<string, unknown>>): Row =>
  Object.fromEntries(
    reviews.columns.map((name) => [name, String((record[name] as string | number | boolean | null | undefined) ?? "")]),
  );

const outcomes = ({ rows, items: { created, changed, unchanged } }: ImportSummary) => ({
  rejected: rows.rejected + rows.failed,
  created,
  changed,
  unchanged,
});

describe.each(backends)("reviews that are imported again, over $name", (backend) => {
  let pipeline: Pipeline;
  let account: TestAccount;
  beforeAll(async () => {
    pipeline = await openPipeline([backend]);
  });
  afterAll(() => pipeline[Symbol.asyncDispose]());
  beforeEach(async () => {
    account = await pipeline.harness.newAccount();
  });

  const openWith = (service: Service) => ({
    openService: async () => ({ service, concurrency: 1, keepsOrder: true, close: async () => {} }),
    target: account.caller.appKey,
  });
  const importRows = (rows: readonly Row[], options = {}, service = account.service) =>
    pipeline.run("reviews", toCsv(rows), options, openWith(service));
  const run = async (...rows: readonly Row[]) => {
    const summary = await importRows(rows, { verify: true });
    expect(summary.verified).toMatchObject({ missing: [], different: [] });
    return outcomes(summary);
  };
  const exportRows = async () => {
    const rows: Row[] = [];
    for await (const page of reviewExporter.pages(account.service, {}, {})) {
      rows.push(...page.map(({ record }) => mapCells(record)));
    }
    return rows.toSorted((a, b) => ((a["review_title"] ?? "") < (b["review_title"] ?? "") ? -1 : 1));
  };
  const list = async () => (await account.service.reviews.list({ details: true, deleted: true, count: 100 })).reviews;
  const historyOf = async (review_id: number) => (await account.service.reviews.history({ review_id })).events;

  test("are unchanged", async () => {
    await run(ann, bob, ann);
    expect(await run(ann, bob, ann)).toEqual({ rejected: 0, created: 0, changed: 0, unchanged: 3 });
    expect(await run(bob, ann)).toEqual({ rejected: 0, created: 0, changed: 0, unchanged: 2 });
    expect(await list()).toHaveLength(3);
  });

  test("are changed if they were edited, and their history shows what they were", async () => {
    await run(ann, bob);
    const [first, other] = await list();
    const id = first?.id ?? 0;
    const edited = {
      ...ann,
      review_title: "Bad",
      review_content: "Broke",
      review_score: "1",
      email: "ANN@mail.example",
    };
    expect(await run(edited, bob)).toEqual({ rejected: 0, created: 0, changed: 1, unchanged: 1 });
    const now = await list();
    expect(now).toMatchObject([
      { id, title: "Bad", content: "Broke", score: 1, created_at: "2018-08-15T10:11:12.000Z" },
      {},
    ]);
    expect(now[1]).toEqual(other);
    const { bottomline } = await account.service.reviews.bottomLine({ product_id: "teapot" });
    expect(bottomline).toEqual({ average_score: 1.5, total_reviews: 2 });
    expect((await account.service.reviews.search({ search: "broke" })).reviews).toHaveLength(1);
    expect((await account.service.reviews.search({ search: "pours" })).reviews).toHaveLength(0);
    const [, event] = await historyOf(id);
    expect(event).toMatchObject({ event: "edited", by: "MODERATOR", previous_content: "Pours well" });
    expect(event?.reason).toContain("Good");
    expect(event?.reason).toContain("5");
    expect(await run(edited, bob)).toEqual({ rejected: 0, created: 0, changed: 0, unchanged: 2 });
  });

  test("are changed if a field other than the text was, and keep what the file does not have", async () => {
    const first = { ...ann, published: "true", user_reference: "u1", image_urls: "https://img.example/a.jpg" };
    await run(first);
    const changes: Row = {
      published: "false",
      comment_content: "Thank you",
      comment_date: "2018-09-01T00:00:00Z",
      image_urls: "https://img.example/b.jpg",
      display_name: "Ann Lee-Smith",
      user_type: "verified_buyer",
      user_reference: "u2",
    };
    expect(await run({ ...first, ...changes })).toMatchObject({ changed: 1, unchanged: 0 });
    const [stored, ...more] = await list();
    expect(more).toEqual([]);
    expect(stored).toMatchObject({
      published: false,
      comment: "Thank you",
      comment_created_at: "2018-09-01T00:00:00.000Z",
      images: ["https://img.example/b.jpg"],
      name: "Ann Lee-Smith",
      reviewer_type: "verified_buyer",
      user_reference: "u2",
    });
    expect((await historyOf(stored?.id ?? 0)).map(({ event }) => event)).toEqual([
      "imported",
      "commented",
      "unpublished",
    ]);
    expect(await run({ ...ann, display_name: "Ann Lee-Smith" })).toMatchObject({ changed: 0, unchanged: 1 });
    expect(await list()).toEqual([stored]);
  });

  test("keep what was decided on the service since", async () => {
    const { service } = account;
    const first = { ...ann, published: "true", comment_content: "Thanks" };
    await importRows([first]);
    const review_id = (await list())[0]?.id ?? 0;
    await service.reviews.setPublished({ review_id, published: false, reason: "rude" });
    await service.reviews.editComment({ review_id, content: "Sorry" });
    const summary = await importRows([{ ...first, review_score: "4" }]);
    expect(outcomes(summary)).toEqual({ rejected: 0, created: 0, changed: 1, unchanged: 0 });
    expect(await list()).toMatchObject([{ id: review_id, score: 4, published: false, comment: "Sorry" }]);
    expect(pipeline.notices().filter((notice) => notice.includes("since"))).toHaveLength(2);
  });

  test("are new if the service or the file has several that it cannot be told from", async () => {
    const second = { ...ann, review_content: "Still good" };
    await run(ann);
    expect(await run(second, ann)).toEqual({ rejected: 0, created: 1, changed: 0, unchanged: 1 });
    expect(await run({ ...ann, review_score: "4" }, second)).toEqual({
      rejected: 0,
      created: 0,
      changed: 1,
      unchanged: 1,
    });
    const others = [1, 2].map((n) => Object.assign({}, ann, { review_content: `Other ${n}` }));
    expect(await run(...others)).toEqual({ rejected: 0, created: 2, changed: 0, unchanged: 0 });
    expect((await list()).map(({ content, score }) => [content, score])).toEqual([
      ["Pours well", 4],
      ["Still good", 5],
      ["Other 1", 5],
      ["Other 2", 5],
    ]);
  });

  test("have no title in an export if the importer made it, and are then unchanged", async () => {
    const long = "It pours well, and keeps the tea warm for more than an hour, even in winter";
    const untitled = { ...bob, review_title: "", review_content: long };
    const same = { ...ann, review_title: "Pours well" };
    const { items, import_id } = await importRows([untitled, same]);
    expect(items).toMatchObject({ created: 2, filled: { review_title: 1 } });
    const shown = await showImport(pipeline.deps().runsFolder, import_id ?? "");
    expect(shown.items).toEqual(items);
    expect((await list()).map(({ title }) => title)).toEqual([
      expect.stringMatching(/^It pours well, .*…$/),
      "Pours well",
    ]);
    const exported = await exportRows();
    expect(exported.map(({ review_title }) => review_title)).toEqual([same.review_title, ""].toSorted());
    expect(await run(...exported)).toEqual({ rejected: 0, created: 0, changed: 0, unchanged: 2 });
    expect(await run({ ...untitled, review_title: "Warm" }, same)).toMatchObject({ changed: 1, unchanged: 1 });
    expect((await exportRows()).map(({ review_title }) => review_title)).toEqual(["Pours well", "Warm"]);
  });

  test("are updated once if responses are lost and the run is resumed", async () => {
    const rows = Array.from({ length: 6 }, (_, n) => Object.assign({}, ann, { email: `a${n}@mail.example` }));
    await run(...rows);
    const edited = rows.map((row) => Object.assign({}, row, { review_content: "Edited" }));
    pipeline.harness.clock.advance(1_000);
    const { service } = account;
    let calls = 0;
    const update: typeof service.reviews.update = async (...input) => {
      const reply = await service.reviews.update(...input);
      if (++calls === 3) throw new Error("lost");
      return reply;
    };
    const failing = { ...service, reviews: { ...service.reviews, update } };
    await expect(importRows(edited, {}, failing)).rejects.toMatchObject({ message: "lost" });
    const [newest] = await listImports(pipeline.deps().runsFolder);
    const summary = await pipeline.resume(newest?.import_id ?? "", {}, openWith(service));
    expect(outcomes(summary)).toEqual({ rejected: 0, created: 0, changed: 5, unchanged: 1 });
    const stored = await list();
    expect(stored.map(({ content }) => content)).toEqual(edited.map(() => "Edited"));
    for (const { id } of stored) expect(await historyOf(id)).toHaveLength(2);
  });
});
