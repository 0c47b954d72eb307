import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { commands } from "../../../src/cli/program/commands.ts";
import { exitStatus } from "../../../src/cli/program/exit-status.ts";
import { topics } from "../../../src/cli/program/help/topics.ts";
import { faultNames } from "../../../src/config/chaos-plan.ts";
import * as contract from "../../../src/contract/index.ts";
import { knownVariables } from "../../../src/doctor/environment-check.ts";
import { rejectColumns } from "../../../src/import/mapping/names.ts";
import { exportLayouts } from "../../../src/records/reviews/layouts/export.ts";
import { recordKinds } from "../../../src/records/index.ts";
import { parts } from "../../bench/import/parts/index.ts";
import { readCode, readTable } from "../../support/manual.ts";
import { kinds } from "../../support/record-kinds.ts";

const read = (page: string) => readFileSync(`docs/${page}`, "utf8");
const kindNames = recordKinds.map(({ name }) => name);
const layouts = kinds.all.flatMap((kind) => kind.layouts).filter(({ name }) => !/-(?:dmy|mdy)$/.test(name));
const flagsOf = async (command: string) => Object.keys((await commands[command]?.())?.flags ?? {});
const flagsIn = (text = "") => [...text.matchAll(/--([\w-]+)/g)].map(([, name = ""]) => name);
/** It weakens security, so `doctor` reports it, but nobody should set it. */
const isDocumented = (variable: string) =>
  variable === variable.toUpperCase() && variable !== "NODE_TLS_REJECT_UNAUTHORIZED";

type Table = readonly [page: string, heading: string, names: readonly string[], readCell?: (cell: string) => string[]];

const tables: readonly Table[] = [
  ["reference/columns.md", "", kindNames, (cell) => [cell]],
  ["reference/columns.md", "## Email types", Object.values(contract.emailTypeNames)],
  ["reference/layouts.md", "", ["none", "native", ...layouts.map(({ name }) => name)]],
  ["reference/exit-statuses.md", "", Object.values(exitStatus).map(String), (cell) => [cell]],
  ["reference/rejects.md", "", rejectColumns],
  ["reference/imports.md", "## Verify", kindNames, (cell) => cell.split(", ")],
  ["reference/imports.md", "## Undo", kindNames, (cell) => cell.split(", ")],
  [
    "reference/configuration.md",
    "## Environment variables",
    ["PAGER", ...Object.keys(knownVariables).filter(isDocumented)],
    (cell) => readCode(cell).map((name) => name.replace(/^_/, "STARPOST_SMTP_")),
  ],
  ["operations/serving.md", "", await flagsOf("serve"), flagsIn],
  [
    "operations/serving.md",
    "## Fault injection",
    [...faultNames, "delay", "max-body", "seed", "only"],
    (cell) => readCode(cell).map((code) => code.replace(/=.*/, "")),
  ],
  ["operations/accounts.md", "## Credentials with a role", contract.roles],
  ["operations/email.md", "## Rules", contract.emailRuleNames],
  ["operations/email.md", "## Events and categories", contract.sentEmailCategories],
  ["operations/webhooks.md", "## Events", contract.webhookEvents],
  ["development/benchmarks.md", "## import", Object.keys(parts)],
];

test.for(tables)("docs/%s lists everything, %s", ([page, heading, names, readCell = readCode]) => {
  const listed = readTable(`docs/${page}`, heading).flatMap(([cell = ""]) => readCell(cell));
  expect(new Set(listed)).toEqual(new Set(names));
});

test("columns.md lists the columns of each kind", () => {
  const columnsIn = (cell = "") => readCode(cell).filter((code) => /^\w+$/.test(code));
  for (const [name = "", required, optional] of readTable("docs/reference/columns.md")) {
    const fields = kinds.get(name).fields.filter(({ isMappedOnly }) => isMappedOnly !== true);
    const listed = [...columnsIn(required), ...columnsIn(optional)];
    // An alias need not be listed, and a flag can replace a column.
    expect(fields.flatMap((field) => [field.name, ...(field.aliases ?? [])])).toEqual(expect.arrayContaining(listed));
    expect(listed).toEqual(expect.arrayContaining(fields.map((field) => field.name)));
    const needed = fields.flatMap((field) => (field.required && !field.flag ? [field.name] : []));
    expect(columnsIn(required)).toEqual(expect.arrayContaining(needed));
  }
});

test("layouts.md lists the columns by which layouts are recognized", () => {
  const rows = readTable("docs/reference/layouts.md");
  for (const { name, signatures } of layouts) {
    const [, , columns] = rows.find(([cell = ""]) => readCode(cell).includes(name)) ?? [];
    expect(signatures.flat(), name).toEqual(expect.arrayContaining(readCode(columns ?? "")));
  }
});

test("layouts.md lists the layouts of exports, which --layout accepts", () => {
  const [, section = ""] = read("reference/layouts.md").split("## Export reviews to other services");
  const listed = readCode(section.split("\n## ")[0] ?? "").map((code) => code.replace("--layout ", ""));
  expect(listed).toEqual(expect.arrayContaining(Object.keys(exportLayouts)));
  const reviews = recordKinds.find(({ name }) => name === "reviews");
  expect(reviews?.exportCommand.flags?.["layout"]?.values).toEqual(Object.keys(exportLayouts));
});

test("the help lists the exit statuses", () => {
  const { blocks = [] } = topics["exit-statuses"] ?? {};
  const rows = blocks.flatMap((block) => (typeof block === "object" && "rows" in block ? block.rows : []));
  expect(rows.map(([status]) => Number(status))).toEqual(Object.values(exitStatus));
});

test("filters.md lists flags of the commands that it names", async () => {
  const lists: Readonly<Record<string, string>> = { emails: "mail list", deliveries: "webhooks deliveries" };
  const all = ["reviews", "orders", "questions", "unsubscribers", ...Object.keys(lists)];
  for (const [flags, , names = ""] of readTable("docs/reference/filters.md")) {
    for (const name of names === "all of these" ? all : names.split(", ")) {
      const known = await flagsOf(lists[name] ?? `${name} list`);
      expect(known, name).toEqual(expect.arrayContaining(flagsIn(flags)));
    }
  }
});

test("api.md lists flags of the command", async () => {
  const listed = readTable("docs/reference/api.md", "### Request").flatMap(([cell]) => flagsIn(cell));
  expect(await flagsOf("api")).toEqual(expect.arrayContaining(listed));
});

test("mapping.md lists the names of columns that --product-id-from accepts", () => {
  const [, names = ""] = /for orders, (.*?)\. A file/s.exec(read("reference/mapping.md")) ?? [];
  const orders = recordKinds.find(({ name }) => name === "orders");
  expect(readCode(names)).toEqual(Object.keys(orders?.productIdColumns ?? {}));
});

test("the pages and the extensions that the manual lists are paths of the contract", () => {
  const toPath = (text: string) => text.replace(/^.*…/, "").replaceAll(/\w*id(?=})/g, "id");
  const paths = [...contract.operations.values()].flatMap(({ paths: own, htmlPaths = [] }) =>
    [...own, ...htmlPaths].map(toPath),
  );
  const rows = [
    ...readTable("docs/operations/serving.md", "### Pages"),
    ...readTable("docs/reference/api.md", "## Extensions"),
  ];
  const listed = rows.flatMap(([cell = ""]) => readCode(cell));
  const ends = listed.map((code) => toPath(code.split(" ").at(-1) ?? "")).filter((end) => end.startsWith("/"));
  expect(ends.length).toBeGreaterThan(20);
  expect(ends.filter((end) => !paths.some((path) => path.endsWith(end)))).toEqual([]);
});

test("email.md names the settings of emails", () => {
  const text = read("operations/email.md");
  expect(Object.keys(contract.emailSettings).filter((name) => !new RegExp(`\\b${name}\\b`).test(text))).toEqual([]);
});

test("databases.md lists the fields of the status", () => {
  const source = readFileSync("src/cli/commands/database/status.ts", "utf8");
  const [, data = ""] = /return \{\n(.*?)\n {2}\};/s.exec(source) ?? [];
  const fields = [...data.matchAll(/^ {4}(\w+)[:,]/gm)].map(([, name]) => name);
  expect(readTable("docs/operations/databases.md", "## Status").flatMap(([cell = ""]) => readCode(cell))).toEqual(
    fields,
  );
});

/** The texts of the files in a folder, by path. */
function readSources(folder: string, ending = ".ts"): ReadonlyMap<string, string> {
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(ending));
  return new Map(paths.map((path) => [path, readFileSync(`${folder}/${path}`, "utf8")]));
}

test("doctor.md names the checks", () => {
  const calls = /\b(?:ok|warning|problem|skipped|failed)\(\s*"([a-z-]+)"|\bname(?: =|:) "([a-z-]+)"/g;
  // Those of `shop check` are in its help.
  const sources = [...readSources("src/doctor")].filter(([path]) => !path.startsWith("shop/"));
  const names = sources.flatMap(([, source]) =>
    [...source.matchAll(calls)].map(([, argument, name]) => argument ?? name ?? ""),
  );
  expect(names.length).toBeGreaterThan(20);
  const listed = new Set(readCode(read("operations/doctor.md")));
  expect(names.filter((name) => !listed.has(name))).toEqual([]);
});

test("benchmarks.md has a section for every benchmark", () => {
  const headings = [...read("development/benchmarks.md").matchAll(/^## ([\w-]+(?:, [\w-]+)*)$/gm)];
  const names = readdirSync("test/bench").flatMap((file) => (/^[\w-]+\.ts$/.test(file) ? [file.slice(0, -3)] : []));
  expect(headings.flatMap(([, found = ""]) => found.split(", ")).toSorted()).toEqual(names.toSorted());
});

test("attacks.md names attacks that exist", () => {
  const text = [...readSources("test/attack/attacks").values()].join("\n");
  const listed = readTable("docs/development/attacks.md", "## Before and after").map(([name = ""]) => name);
  expect(listed.filter((name) => !text.includes(name.replaceAll("`", "")))).toEqual([]);
});

test("slow-tests.md lists every test with two sizes", () => {
  const imported = /^import .*\b(?:isSlowSuite|chooseSize|sample)\b.*suite-size/m;
  const sized = [...readSources("test", ".test.ts")].filter(([, text]) => imported.test(text));
  const listed = readTable("docs/development/slow-tests.md").flatMap(([cell = ""]) => readCode(cell));
  expect(listed).toEqual(expect.arrayContaining(sized.map(([path]) => `test/${path.slice(0, -8)}`)));
});

test("dependencies.md names packages that are installed, and one that is not", () => {
  const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8")) as { readonly packages: object };
  const reasons = readTable("docs/development/dependencies.md", "## Written by hand").map(([, , reason]) => reason);
  const names = readCode(reasons.join("\n")).filter((name) => /^[a-z][a-z-]+$/.test(name));
  expect(names.filter((name) => !(`node_modules/${name}` in packages))).toEqual(["proxy-from-env"]);
});
