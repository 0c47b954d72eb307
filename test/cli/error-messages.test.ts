import { readFileSync } from "node:fs";
import { afterAll, expect, test } from "vitest";
import { splitWords } from "../support/command-lines.ts";
import { readTable } from "../support/manual.ts";
import { runBuilt } from "../support/built-program.ts";
import { Homes } from "../support/starpost.ts";

const page = "docs/reference/errors.md";
const homes = new Homes();
afterAll(() => homes.remove());

const headings = [...readFileSync(page, "utf8").matchAll(/^(?=## )(?!## Kinds).*$/gm)].map(([heading]) => heading);
const rows = headings.flatMap((heading) => readTable(page, heading));

/** A pattern of the messages that a row describes. */
function patternOf(cell: string): RegExp {
  const text = cell.replace(/^`+ ?(.*?) ?`+$/, "$1").replaceAll("\\|", "|");
  const parts = text.split(/<[^>]*>|…/).map((part) => part.replaceAll(/[$()*+.?[\\\]^{|}]/g, "\\$&"));
  return new RegExp(`(?:^|: )${parts.join(".*")}$`, "s");
}

const patterns = rows.map(([message = "", , advice = ""]) => ({ pattern: patternOf(message), advice }));

test("the page states what to do about every error", () => {
  expect(rows.length).toBeGreaterThan(400);
  expect(rows.filter(([, , advice]) => advice === "").map(([message]) => message)).toEqual([]);
});

test.for([
  "starpost customers show ann@mail.example",
  "starpost orders import missing.csv",
  "starpost mail why",
  "starpost mail why 1 --email ann@mail.example",
  "starpost serve --tls-cert cert.pem",
  "starpost serve --port 99999",
  "starpost api",
  "starpost api nothing.list",
  "starpost profile show nobody",
  "starpost alias delete co",
  "starpost reviews hide",
  "starpost orders list --since 2026-02-01 --until 2026-01-01",
  "starpost products list --json --format csv",
  "starpost products list --jq .",
  "starpost imports show 2020",
  "starpost backup verify missing.tar.gz",
  "starpost init --base-url ftp://shop.example --app-key a --secret-stdin",
  "starpost mail cancel 1 --category map",
])("the page lists the error of `%s`", async (line) => {
  const { env } = homes.open();
  const { status, stderr } = await runBuilt([...splitWords(line).slice(1), "--json"], { env });
  expect(status).not.toBe(0);
  const { error } = JSON.parse(stderr) as { readonly error: { readonly message: string } };
  expect(patterns.filter(({ pattern }) => pattern.test(error.message)).length, error.message).toBeGreaterThan(0);
});
