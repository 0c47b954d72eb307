import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createRedactor } from "../../../src/terminal/redactor.ts";
import { renderData, writeRows } from "../../../src/terminal/render.ts";
import { cellOf, type Row, RowStream } from "../../../src/terminal/row-stream.ts";
import { fields, table } from "../../../src/terminal/view.ts";
import { capture } from "../../cli/support.ts";

const redactor = createRedactor(Buffer.alloc(32, 1));

/** Texts that occur nowhere else in the output. */
const letters = fc.string({
  unit: fc.constantFrom("q", "w", "x", "z", "j", "k", "v", "y", "Q", "W", "é", "ü", "ß"),
  minLength: 4,
  maxLength: 30,
});
const persons = fc.record({
  local: letters,
  host: letters,
  first: letters,
  last: letters,
  width: fc.integer({ min: 10, max: 200 }),
});

interface Person {
  readonly local: string;
  readonly host: string;
  readonly first: string;
  readonly last: string;
}

const recordsOf = ({ local, host, first, last }: Person): readonly Row[] => {
  const email = `${local}@${host}.example`;
  const name = `${first} ${last}`;
  return [
    { id: 1, email, name, subject: `Dear ${first}`, state: "sent", text: `Hello ${name}, write to ${email}.` },
    { id: 2, user_email: email, user_name: name, order_id: "1" },
    { id: 3, review: { content: `by ${first}`, user: { display_name: name, slug: first, user_id: 1, email } } },
    {
      id: 4,
      email_list: { 1: [email] },
      payload: JSON.stringify({ data: { customer_name: name, user_email: email } }),
    },
    { id: 5, emails: [email], [email]: { error: `invalid: ${email}` } },
    { id: 6, code: "email_invalid", column: "Kunde", value: name.slice(0, 20), reason: "is invalid" },
    { id: 8, column: "Kunde", reason: "is invalid", first: `orders.csv:3:Kunde (${JSON.stringify(`${name}…`)})` },
    { id: 9, column: "Kunde", reason: `is stored as "${name}" instead of "${first}"`, expected: first, stored: name },
    { id: 7, email: local, customer_name: `${first}…` },
  ];
};

/** Every start of four or more characters of a word. */
function expectNone(output: string, { local, host, first, last }: Person): void {
  const plain = output.toLowerCase();
  for (const word of [local, host, first, last]) expect(plain).not.toContain(word.slice(0, 4).toLowerCase());
}

describe("no address or name appears, not even its start,", () => {
  test("in any format and at any width", async () => {
    await fc.assert(
      fc.asyncProperty(persons, async ({ width, ...person }) => {
        const data = redactor.data(recordsOf(person));
        const columns = [...new Set(data.flatMap((row) => Object.keys(row)))];
        const rows = data.map((row) => Object.fromEntries(columns.map((name) => [name, cellOf(row, name)])));
        const screen = { width, isColored: false };
        for (const format of ["table", "csv", "json", "ndjson"] as const) {
          expectNone(await renderData(data, table(rows, columns), format, screen), person);
          const { stream, text } = capture();
          const all = new RowStream(pagesOf(recordsOf(person)), { columns }).map((row) => redactor.data(row));
          await writeRows(stream, all, format, columns, screen);
          expectNone(text(), person);
        }
        for (const row of rows) expectNone(await renderData(row, fields(row), "table", screen), person);
      }),
      { numRuns: 60 },
    );
  });

  test("in a message", () => {
    fc.assert(
      fc.property(persons, ({ local, host, ...person }) => {
        expectNone(redactor.text(`"${local}@${host}.example" is invalid`), { local, host, ...person });
      }),
    );
  });
});

async function* pagesOf(rows: readonly Row[]) {
  yield rows;
}

test("names of products, groups, and profiles, and values without letters are kept", () => {
  const data = {
    products: [{ id: "1", name: "Teapot", product_name: "Teapot", product_title: "Tea" }],
    group: { display_name: "Pots", account_id: 1 },
    profile: { name: "shop", mode: "remote" },
    reasons: [{ column: "price", value: "1,99" }],
    empty: { email: "", customer_name: "", other: null, count: 3, is: true },
  };
  expect(redactor.data(data)).toEqual(data);
});

test("a person has the same pseudonyms everywhere", () => {
  const [one, other] = redactor.data([
    { email: "Ann@mail.example", customer_name: "Ann Lee" },
    { user_email: "ann@mail.example", user_name: "ann lee" },
  ]);
  expect(Object.values(one ?? {})).toEqual(Object.values(other ?? {}));
});

test("hides the cells that a message quotes, but not the rest of it", () => {
  const message = `shop.csv: the most similar column is 'Kunde' ("Anna \\"Ann\\" Adler"), 'mail' ("a@b.example"), 'n' ("12")`;
  const hidden = redactor.quotedCells(message);
  expect(hidden).toMatch(/'Kunde' \("redacted-[0-9a-f]{10}"\), 'mail' \("redacted-[0-9a-f]{10}"\), 'n' \("12"\)$/);
  expect(hidden).not.toMatch(/Ann|b\.example/);
  expect(hidden).toContain("shop.csv");
});
