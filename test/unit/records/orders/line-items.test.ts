import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openPipeline, type Pipeline } from "../../../support/pipeline.ts";

describe("an import of rows with the same line item", () => {
  let pipeline: Pipeline;
  beforeAll(async () => {
    pipeline = await openPipeline();
  });
  afterAll(() => pipeline[Symbol.asyncDispose]());

  const columns = "order_id,order_date,customer_name,email,product_id,product_name,product_url,product_description";
  const rows = (line: string) =>
    ["a", "b", "c"].map((id) => `${id},2026-01-02,Ann,ann@mail.example,${line}`).join("\n");

  test("rejects each of them for a damaged value", async () => {
    const line = "pot,Pot,https://shop.example/pot,#REF!";
    const { rows: counts } = await pipeline.run("orders", `${columns}\n${rows(line)}\n`);
    expect(counts).toMatchObject({ read: 3, accepted: 0, rejected: 3 });
  });

  test("reports a dropped value of each", async () => {
    const before = pipeline.notices().length;
    const line = "pot,Pot,https://shop.example/pot,,a b";
    const { rows: counts } = await pipeline.run("orders", `${columns},upc\n${rows(line)}\n`);
    expect(counts).toMatchObject({ accepted: 3 });
    expect(pipeline.notices().slice(before).join("\n")).toMatch(/^3 cells were dropped/m);
  });
});
