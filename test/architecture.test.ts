import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { findCycles, findViolations, inspect, listImports, readSources, readTable } from "../.ci/house.js";

const root = join(import.meta.dirname, "..");
const table = readTable(readFileSync(join(root, "docs/development/architecture.md"), "utf8"));
const sources = readSources(join(root, "src"));

describe("src/", () => {
  const found = inspect(sources, table);

  test("follows the dependency table in docs/development/architecture.md", () => {
    expect(found.files).toBeGreaterThan(50);
    expect(found.violations).toEqual([]);
  });

  test("has no import cycles, type imports included", () => {
    expect(found.cycles).toEqual([]);
  });

  test("has at most 30 files in a folder and 400 lines in a file", () => {
    expect(found.crowdedFolders).toEqual([]);
    expect(found.longFiles).toEqual([]);
  });

  test("imports zod as a namespace, so that the bundle omits unused parts", () => {
    const named = /^import (?!type )(?!\* as \w+ from ).*from "zod[^"]*";?$/gm;
    const imports = sources.flatMap(({ path, text }) => (text.match(named) ?? []).map((line) => `${path}: ${line}`));
    expect(imports).toEqual([]);
    expect('import { z } from "zod";').toMatch(new RegExp(named.source));
  });
});

describe("findViolations", () => {
  const violations = (path: string, text: string) => findViolations([{ path, text }], table);

  test("detects SQL of one database in shared code", () => {
    for (const path of ["engine/kernel/x.ts", "storage/x.ts"]) {
      expect(violations(path, "const x = sql`select pg_is_in_recovery()`;")).toHaveLength(1);
      expect(violations(path, "/** Like `pg_dump`. */")).toEqual([]);
    }
    expect(violations("storage/postgres/x.ts", "const x = sql`select pg_is_in_recovery()`;")).toEqual([]);
  });

  test("detects a forbidden import in every form", () => {
    const forbidden = [
      'import { x } from "../engine/x.ts";',
      'import type { X } from "../engine/x.ts";',
      'export { x } from "../engine/x.ts";',
      'import "../engine/x.ts";',
      'const x = await import("../engine/x.ts");',
      'type X = import("../engine/x.ts").X;',
      'import {\n  x,\n  y,\n} from "../engine/x.ts";',
      'new Worker(new URL("../engine/x.ts", import.meta.url));',
    ];
    for (const text of forbidden) {
      expect(violations("cli/a.ts", text), text).toEqual(["cli/a.ts: cli may not import engine/x.ts"]);
    }
  });

  test("detects a forbidden package, and a file outside every layer", () => {
    expect(violations("cli/a.ts", 'import got from "got";')).toHaveLength(1);
    expect(violations("engine/a.ts", 'import { z } from "@photostructure/sqlite";')).toHaveLength(1);
    expect(violations("helpers/a.ts", "")).toEqual(["helpers/a.ts: not in a layer of the table"]);
  });

  test("allows a single file of a layer where the table names it", () => {
    expect(violations("cli/a.ts", 'import type { P } from "../app/ports.ts";')).toEqual([]);
    expect(violations("cli/a.ts", 'import { openConnection } from "../app/app.ts";')).toHaveLength(1);
  });

  test("applies the most specific layer to a file", () => {
    expect(violations("engine/kernel/a.ts", 'import "../accounts/x.ts";')).toHaveLength(1);
    expect(violations("engine/accounts/a.ts", 'import "../kernel/x.ts";')).toEqual([]);
  });

  test("reserves the process, the console, and the current time for entry points", () => {
    for (const text of ["process.exit(1)", "console.log(1)", "Date.now()", "f(new Date())", 'from "node:process"']) {
      expect(violations("engine/a.ts", text), text).toHaveLength(1);
    }
    const harmless = "// process.exit\nnew Date(ms); this.process.x; preprocess.y";
    expect(violations("engine/a.ts", harmless)).toEqual([]);
    expect(violations("main.ts", "process.exit(1)")).toEqual([]);
  });

  test("ignores comments", () => {
    expect(listImports("const from = 1;")).toEqual([]);
    expect(violations("cli/a.ts", '/** import x from "../engine/x.ts" */')).toEqual([]);
  });
});

test("findCycles detects a cycle of type imports", () => {
  const cycle = findCycles([
    { path: "a.ts", text: 'import type { B } from "./b.ts";' },
    { path: "b.ts", text: 'export { c } from "./c.ts";' },
    { path: "c.ts", text: 'type A = import("./a.ts").A;' },
    { path: "d.ts", text: 'import "./a.ts";' },
  ]);
  expect(cycle.map((group) => group.toSorted())).toEqual([["a.ts", "b.ts", "c.ts"]]);
});
