import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { commands } from "../../../src/cli/program/commands.ts";
import { exitStatus } from "../../../src/cli/program/exit-status.ts";
import { faultNames } from "../../../src/config/chaos-plan.ts";
import {
  bodyLimits,
  emailRuleNames,
  emailSettings,
  emailTypeNames,
  imageLimits,
  jsonLimits,
  maxBatchMethods,
  maxLength,
  operations,
  orderLimits,
  receivingLimits,
  sentEmailCategories,
  webhookEvents,
} from "../../../src/contract/index.ts";
import { knownVariables } from "../../../src/doctor/environment-check.ts";
import { rejectColumns } from "../../../src/import/mapping/names.ts";
import { exportLayouts } from "../../../src/records/reviews/layouts/export.ts";
import { recordKinds } from "../../../src/records/index.ts";
import { parts } from "../../bench/import/parts/index.ts";
import { readCode, readTable } from "../../support/manual.ts";
import { kinds } from "../../support/record-kinds.ts";

/** The texts in backticks in the first cells of a table, without arguments. */
function listFirst(page: string, heading = ""): string[] {
  return readTable(page, heading).flatMap(([cell = ""]) => readCode(cell));
}

/** The words of a cell's code that are names. */
const columnsIn = (cell = "") => readCode(cell).filter((code) => /^\w+$/.test(code));

describe("docs/reference", () => {
  test("columns.md lists the columns of each kind", () => {
    const listed = readTable("docs/reference/columns.md").map(([name = "", required, optional]) => ({
      name,
      columns: [...columnsIn(required), ...columnsIn(optional)].toSorted(),
      required: columnsIn(required),
    }));
    expect(listed.map(({ name }) => name)).toEqual(recordKinds.map(({ name }) => name));
    for (const kind of kinds.all) {
      const row = listed.find(({ name }) => name === kind.name) ?? { columns: [], required: [] };
      const fields = kind.fields.filter(({ isMappedOnly }) => isMappedOnly !== true);
      const names = fields.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
      // An alias need not be listed.
      expect(names, kind.name).toEqual(expect.arrayContaining(row.columns));
      expect(row.columns, kind.name).toEqual(expect.arrayContaining(fields.map(({ name }) => name)));
      expect(row.required, kind.name).toEqual(
        // A flag can replace a column.
        expect.arrayContaining(fields.flatMap(({ name, required, flag }) => (required && !flag ? [name] : []))),
      );
    }
  });

  test("columns.md lists the email types", () => {
    const rows = readTable("docs/reference/columns.md", "## Email types");
    const listed = rows.map(([name = "", number]) => [number, readCode(name)[0]]);
    expect(listed).toEqual(Object.entries(emailTypeNames));
  });

  test("layouts.md lists all layouts, with the columns by which they are recognized", () => {
    const rows = readTable("docs/reference/layouts.md");
    const layouts = kinds.all.flatMap((kind) => kind.layouts).filter(({ name }) => !/-(?:dmy|mdy)$/.test(name));
    const listed = rows.flatMap(([name = ""]) => readCode(name)).filter((name) => !["none", "native"].includes(name));
    expect(listed.toSorted()).toEqual(layouts.map(({ name }) => name).toSorted());
    for (const { name, signatures } of layouts) {
      const [, , columns = ""] = rows.find(([cell = ""]) => readCode(cell).includes(name)) ?? [];
      const declared = new Set(signatures.flat());
      expect(
        readCode(columns).filter((column) => !declared.has(column)),
        name,
      ).toEqual([]);
    }
  });

  test("layouts.md lists the layouts of exports, which --layout accepts", () => {
    const [, section = ""] = readFileSync("docs/reference/layouts.md", "utf8").split(
      "## Export reviews to other services",
    );
    const [text = ""] = section.split("\n## ");
    for (const name of Object.keys(exportLayouts)) expect(text).toMatch(new RegExp(`\`(?:--layout )?${name}\``));
    const { flags } = recordKinds.find(({ name }) => name === "reviews")?.exportCommand ?? {};
    expect(flags?.["layout"]?.values).toEqual(Object.keys(exportLayouts));
  });

  test("exit-statuses.md lists the exit statuses, as does the help", async () => {
    const { exitStatuses } = await import("../../../src/cli/program/help/topics/exit-statuses.ts");
    const rows = exitStatuses.blocks.flatMap((block) =>
      typeof block === "object" && "rows" in block ? block.rows : [],
    );
    const statuses = Object.values(exitStatus).map(String);
    expect(readTable("docs/reference/exit-statuses.md").map(([status]) => status)).toEqual(statuses);
    expect(rows.map(([status]) => status)).toEqual(statuses);
  });

  test("rejects.md lists the columns of a reject file", () => {
    expect(listFirst("docs/reference/rejects.md")).toEqual([...rejectColumns]);
  });

  test("filters.md lists flags of the commands that it names", async () => {
    const commandOf: Readonly<Record<string, string>> = {
      emails: "mail list",
      deliveries: "webhooks deliveries",
      unsubscribers: "unsubscribers list",
    };
    for (const [flags = "", , lists = ""] of readTable("docs/reference/filters.md")) {
      const names =
        lists === "all of these" ? ["reviews", "orders", "questions", ...Object.keys(commandOf)] : lists.split(", ");
      for (const name of names) {
        const command = await commands[commandOf[name] ?? `${name} list`]?.();
        const wanted = [...flags.matchAll(/--([\w-]+)/g)].map(([, flag]) => flag);
        expect(Object.keys(command?.flags ?? {}), `${name} ${flags}`).toEqual(expect.arrayContaining(wanted));
      }
    }
  });

  test("mapping.md lists the names of columns that --product-id-from accepts", () => {
    const text = readFileSync("docs/reference/mapping.md", "utf8");
    const [, names = ""] = /for orders, (.*?)\. A file/s.exec(text) ?? [];
    const orders = recordKinds.find(({ name }) => name === "orders");
    expect(readCode(names)).toEqual(Object.keys(orders?.productIdColumns ?? {}));
  });

  test("configuration.md lists every environment variable", () => {
    const prefix = "STARPOST_SMTP_HOST".replace("_HOST", "");
    const listed = listFirst("docs/reference/configuration.md", "## Environment variables").map((name) =>
      name.startsWith("_") ? prefix + name : name,
    );
    const names = Object.keys(knownVariables).filter((name) => name === name.toUpperCase());
    // It weakens security, so it is only reported by `doctor`.
    const undocumented = "NODE_TLS_REJECT_UNAUTHORIZED";
    expect(listed.filter((name) => name !== "PAGER").toSorted()).toEqual(
      names.filter((name) => name !== undocumented).toSorted(),
    );
  });

  test("imports.md describes verification and undo of each kind", () => {
    const kindsIn = (heading: string) =>
      readTable("docs/reference/imports.md", heading).flatMap(([names = ""]) => names.split(", "));
    const names = recordKinds.map(({ name }) => name).toSorted();
    expect(kindsIn("## Verify").toSorted()).toEqual(names);
    expect(kindsIn("## Undo").toSorted()).toEqual(names);
  });
});

describe("docs/operations", () => {
  test("serving.md lists the flags of serve", async () => {
    const { flags = {} } = (await commands["serve"]?.()) ?? {};
    const rows = readTable("docs/operations/serving.md");
    const listed = rows.flatMap(([cell = ""]) => [...cell.matchAll(/--([\w-]+)/g)].map(([, name = ""]) => name));
    expect(listed.toSorted()).toEqual(Object.keys(flags).toSorted());
  });

  test("serving.md lists the extensions by path", () => {
    const rows = readTable("docs/operations/serving.md", "## Extensions");
    const paths = [...operations.values()]
      .flatMap((endpoint) => endpoint.paths)
      .map((path) => path.replaceAll(/\w*id(?=})/g, "id"));
    const listed = rows.flatMap(([cell = ""]) => readCode(cell)).map((code) => code.split(" ").at(-1) ?? "");
    const unknown = listed.filter((path) => {
      const end = path.replace(/^…/, "").replaceAll(/\w*id(?=})/g, "id");
      return end.startsWith("/") && !paths.some((known) => known.endsWith(end));
    });
    expect(unknown).toEqual([]);
  });

  test("serving.md states the limits of the contract", () => {
    const rows = readTable("docs/operations/serving.md", "## Limits");
    const text = rows.map((cells) => cells.join(" ")).join("\n");
    const count = (value: number) => value.toLocaleString("en-US");
    for (const stated of [
      `body ${bodyLimits.regular / 1_048_576} MiB`,
      `${bodyLimits.bulk / 1_048_576} MiB`,
      `${imageLimits.bytes / 1_048_576} MiB in base64`,
      `${bodyLimits.form / 1_024} KiB; on pages, ${bodyLimits.pageForm / 1_024} KiB`,
      `${jsonLimits.depth} levels`,
      count(jsonLimits.values),
      `${count(maxLength.content)} characters`,
      `${count(orderLimits.products)} products, ${count(orderLimits.units)} units`,
      `${count(orderLimits.ordersPerCall)} orders, ${count(orderLimits.unitsPerCall)} units`,
      `${maxBatchMethods} methods`,
      `received within ${receivingLimits.requestWithinMs / 60_000} minutes`,
      count(receivingLimits.connections),
    ]) {
      expect(text).toContain(stated);
    }
  });

  test("serving.md lists the parts of --chaos", () => {
    const names = listFirst("docs/operations/serving.md", "## Fault injection").map((code) => code.split("=")[0]);
    expect(names).toEqual([...faultNames, "delay", "max-body", "seed", "only"]);
  });

  test("email.md lists the rules, their settings, and the categories that are sent", () => {
    expect(listFirst("docs/operations/email.md", "## Rules")).toEqual([...emailRuleNames]);
    const listed = listFirst("docs/operations/email.md", "## Events and categories");
    expect(listed.toSorted()).toEqual([...sentEmailCategories].toSorted());
    const text = readFileSync("docs/operations/email.md", "utf8");
    expect(Object.keys(emailSettings).filter((name) => !new RegExp(`\\b${name}\\b`).test(text))).toEqual([]);
  });

  test("webhooks.md lists the events", () => {
    expect(listFirst("docs/operations/webhooks.md", "## Events")).toEqual([...webhookEvents]);
  });

  test.each(["accounts.md", "email.md", "webhooks.md"])("%s lists commands that exist", (page) => {
    const text = readFileSync(`docs/operations/${page}`, "utf8");
    const rows = text.matchAll(/^\| (`(?:account|webhooks) .*?) (?<!\\)\|/gm);
    const names = [...rows].flatMap(([, cell = ""]) => {
      const [first = "", ...others] = readCode(cell).map((code) => code.replace(/ [<[-].*/, ""));
      const [noun] = first.split(" ");
      return [first].concat(others.map((verb) => `${noun} ${verb}`));
    });
    expect(names.length).toBeGreaterThan(3);
    expect(names.filter((name) => !(name in commands))).toEqual([]);
  });

  test("databases.md lists the fields of the status", () => {
    const source = readFileSync("src/cli/commands/database/status.ts", "utf8");
    const [, data = ""] = /return \{\n(.*?)\n {2}\};/s.exec(source) ?? [];
    const fields = [...data.matchAll(/^ {4}(\w+)[:,]/gm)].map(([, name = ""]) => name);
    expect(listFirst("docs/operations/databases.md", "## Status")).toEqual(fields);
  });

  test("doctor.md lists the checks", () => {
    const text = readFileSync("docs/operations/doctor.md", "utf8");
    const sources = readdirSync("src/doctor", { recursive: true, encoding: "utf8" }).filter((path) =>
      path.endsWith(".ts"),
    );
    const names = sources.flatMap((path) => {
      const source = readFileSync(`src/doctor/${path}`, "utf8");
      const calls = source.matchAll(
        /\b(?:ok|warning|problem|skipped|failed)\(\s*"([a-z-]+)"|\bname(?: =|:) "([a-z-]+)"/g,
      );
      return [...calls].map(([, argument, name]) => argument ?? name ?? "");
    });
    expect(names.length).toBeGreaterThan(20);
    expect([...new Set(names)].filter((name) => !text.includes(`\`${name}\``))).toEqual([]);
    const listed = readTable("docs/operations/doctor.md").flatMap(([cell = ""]) => readCode(cell));
    expect(listed.length).toBeGreaterThan(3);
  });
});

describe("docs/development", () => {
  test("benchmarks.md describes every benchmark, and every part of the one for imports", () => {
    const text = readFileSync("docs/development/benchmarks.md", "utf8");
    const headings = [...text.matchAll(/^## ([\w-]+(?:, [\w-]+)*)$/gm)].flatMap(([, names = ""]) => names.split(", "));
    const names = readdirSync("test/bench").flatMap((file) => (/^[\w-]+\.ts$/.test(file) ? [file.slice(0, -3)] : []));
    expect(headings.toSorted()).toEqual(names.toSorted());
    expect(listFirst("docs/development/benchmarks.md", "## import").toSorted()).toEqual(
      expect.arrayContaining(Object.keys(parts).toSorted()),
    );
  });

  test("attacks.md names attacks that exist", () => {
    const sources = readdirSync("test/attack/attacks").map((name) =>
      readFileSync(`test/attack/attacks/${name}`, "utf8"),
    );
    const words = sources.join("\n");
    const rows = readTable("docs/development/attacks.md", "## Before and after");
    expect(rows.length).toBeGreaterThan(20);
    const unknown = rows.map(([name = ""]) => name.replaceAll("`", "")).filter((name) => !words.includes(name));
    expect(unknown).toEqual([]);
  });

  test("slow-tests.md lists every test with two sizes", () => {
    const files = readdirSync("test", { recursive: true, encoding: "utf8" }).filter((path) =>
      path.endsWith(".test.ts"),
    );
    const sized = files.filter((path) =>
      /^import .*\b(?:isSlowSuite|chooseSize|sample)\b.*suite-size/m.test(readFileSync(`test/${path}`, "utf8")),
    );
    const listed = listFirst("docs/development/slow-tests.md");
    expect(sized.map((path) => `test/${path.slice(0, -8)}`).filter((name) => !listed.includes(name))).toEqual([]);
  });

  test("dependencies.md names packages that are installed, and others only to explain why not", () => {
    const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8")) as { readonly packages: object };
    const rows = readTable("docs/development/dependencies.md", "## Written by hand");
    const reasons = rows.map(([, , reason = ""]) => reason).join("\n");
    const absent = readCode(reasons).filter(
      (name) => /^[a-z][a-z-]+$/.test(name) && !(`node_modules/${name}` in packages),
    );
    expect(absent).toEqual(["proxy-from-env"]);
  });
});
