import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { describe, expect, test } from "vitest";
import { makeFolder, openDialog, run } from "./support.ts";

const orders =
  "Bestellnr;Datum;Kunde;E-Mail;Artikelnr;Artikelname;Farbe\n" +
  "B-1;2026-01-03;Max Muster;max@example.com;a-1;Hut;rot\n" +
  "B-2;2026-01-04;Eva Beispiel;eva@example.com;a-2;Schal;blau\n";

const down = "\u001B[B";
const enter = "\r";

/** A terminal that answers each prompt once, by its name; the default answer is Enter. */
function createTerminal(answers: Readonly<Record<string, readonly string[]>>) {
  const asked: string[] = [];
  const dialog = openDialog((text, { stdin }) => {
    const open = stripVTControlCharacters(text).split("✔").at(-1) ?? "";
    const question = /\? (Overwrite m\.json|Value of \w+ for every row|Pattern for \w+|\w+)/.exec(open)?.[1];
    if (question === undefined || asked.includes(question)) return;
    asked.push(question);
    for (const [at, key] of (answers[question] ?? [enter]).entries()) setTimeout(() => stdin.write(key), 15 * at);
  }, 100);
  return { ...dialog, asked };
}

describe("orders map at a terminal", () => {
  test("Enter accepts the proposal; a pattern, a fixed value, and none can be chosen", async () => {
    const folder = makeFolder();
    writeFileSync(join(folder, "best.csv"), orders);
    const terminal = createTerminal({
      product_url: [enter],
      "Pattern for product_url": ["https://laden.example/p/{product_id}", enter],
      // Below `none` and the one remaining column.
      currency_iso: [down, down, enter],
      "Value of currency_iso for every row": ["EUR", enter],
    });
    const ran = await run(["orders", "map", "best.csv"], { io: { cwd: folder, ...terminal.io } });
    expect(ran.status).toBe(0);
    expect(JSON.parse(ran.stdout)).toEqual({
      format: 1,
      kind: "orders",
      layout: "none",
      columns: {
        order_id: "Bestellnr",
        email: "E-Mail",
        customer_name: "Kunde",
        order_date: "Datum",
        product_id: "Artikelnr",
        product_name: "Artikelname",
      },
      set: { currency_iso: "EUR" },
      product_url: "https://laden.example/p/{product_id}",
      delimiter: ";",
    });
    expect(terminal.text()).toContain("max@example.com · eva@example.com");
    expect(terminal.text().replaceAll(/\s+/g, " ")).toContain("starpost orders import best.csv --mapping mapping.json");
    expect(ran.stdout).not.toContain("example.com · ");
  });

  test("canceling writes nothing", async () => {
    const folder = makeFolder();
    writeFileSync(join(folder, "best.csv"), orders);
    const terminal = createTerminal({ order_id: ["\u0003"] });
    const ran = await run(["orders", "map", "best.csv", "--out", "m.json"], { io: { cwd: folder, ...terminal.io } });
    expect(ran.status).toBe(130);
    expect(terminal.text()).toContain("nothing was changed");
    expect(existsSync(join(folder, "m.json"))).toBe(false);
  });

  test("an existing file is not overwritten if the answer is no", async () => {
    const folder = makeFolder();
    writeFileSync(join(folder, "best.csv"), orders);
    writeFileSync(join(folder, "m.json"), "mine");
    const terminal = createTerminal({ "Overwrite m.json": ["n", enter] });
    const ran = await run(["orders", "map", "best.csv", "--out", "m.json"], { io: { cwd: folder, ...terminal.io } });
    expect(ran.status).toBe(1);
    expect(terminal.text()).toContain("nothing was changed");
    expect(terminal.asked).toEqual(["Overwrite m.json"]);
    expect(readFileSync(join(folder, "m.json"), "utf8")).toBe("mine");
  });

  test("fields that flags provide are not prompted for", async () => {
    const folder = makeFolder();
    writeFileSync(join(folder, "best.csv"), orders);
    const terminal = createTerminal({});
    const fieldFlags = ["--map", "sku=Farbe", "--set", "currency_iso=EUR", "--product-url", "https://l.example/{sku}"];
    const ran = await run(["orders", "map", "best.csv", ...fieldFlags], { io: { cwd: folder, ...terminal.io } });
    expect(ran.status).toBe(0);
    expect(terminal.asked.some((question) => /^(?:sku|currency_iso|product_url)\b/.test(question))).toBe(false);
    expect(JSON.parse(ran.stdout)).toMatchObject({
      columns: { sku: "Farbe", order_id: "Bestellnr" },
      set: { currency_iso: "EUR" },
      product_url: "https://l.example/{sku}",
    });
  });
});
