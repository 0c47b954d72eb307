import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { findBreaches, importsOf, rooms } from "./support/room-rules.ts";

const root = join(import.meta.dirname, "..");

function readSources() {
  return readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .map((path) => ({
      path: path.replaceAll("\\", "/"),
      text: readFileSync(join(root, "src", path), "utf8"),
    }));
}

describe("the rooms of src/", () => {
  test("import only whom they may, and leave the world to main.ts", () => {
    const sources = readSources();
    expect(sources.length).toBeGreaterThan(50);
    expect(findBreaches(sources)).toEqual([]);
  });

  test("import zod as a namespace, so that what is not used of it is not part of the program", () => {
    const named = /^import (?!type )(?!\* as \w+ from ).*from "zod[^"]*";?$/gm;
    const found = readSources().flatMap(({ path, text }) =>
      (text.match(named) ?? []).map((line) => `${path}: ${line}`),
    );
    expect(found).toEqual([]);
    expect('import { z } from "zod";').toMatch(new RegExp(named.source));
  });

  test("stand in docs/architecture.md as they stand here", () => {
    const documented = readFileSync(join(root, "docs/architecture.md"), "utf8");
    const listed = [...documented.matchAll(/^\| `([^`]+?)\/?` \|[^|]*\|([^|]*)\|([^|]*)\|$/gm)].map(
      ([, name = "", ours = "", packages = ""]) => [
        name,
        { mayImport: split(ours), packages: split(packages) },
      ],
    );
    expect(Object.fromEntries(listed)).toEqual(rooms);
  });
});

function split(cell: string): string[] {
  return cell
    .split(",")
    .map((part) => part.trim().replaceAll("`", ""))
    .filter((part) => part !== "" && part !== "nothing");
}

describe("the checker of the rooms", () => {
  const breaches = (path: string, text: string) => findBreaches([{ path, text }]);

  test("finds an import of a room that is not allowed, in every form", () => {
    const wrong = [
      'import { x } from "../engine/x.ts";',
      'import type { X } from "../engine/x.ts";',
      'export { x } from "../engine/x.ts";',
      'import "../engine/x.ts";',
      'const x = await import("../engine/x.ts");',
      'type X = import("../engine/x.ts").X;',
      'import {\n  x,\n  y,\n} from "../engine/x.ts";',
      'new Worker(new URL("../engine/x.ts", import.meta.url));',
    ];
    for (const text of wrong) {
      expect(breaches("cli/a.ts", text), text).toEqual(["cli/a.ts: cli may not import engine/x.ts"]);
    }
  });

  test("finds a package in the wrong room, and a file that is in no room", () => {
    expect(breaches("cli/a.ts", 'import got from "got";')).toHaveLength(1);
    expect(breaches("engine/a.ts", 'import { z } from "@photostructure/sqlite";')).toHaveLength(1);
    expect(breaches("helpers/a.ts", "")).toEqual(["helpers/a.ts: helpers is no room of the table"]);
  });

  test("allows one file of a room where the table says so", () => {
    expect(breaches("importer/a.ts", 'import { S } from "../storage/sqlite-file.ts";')).toEqual([]);
    expect(breaches("importer/a.ts", 'import { S } from "../storage/database.ts";')).toHaveLength(1);
  });

  test("finds what touches the world", () => {
    for (const text of [
      "process.exit(1)",
      "console.log(1)",
      "Date.now()",
      "f(new Date())",
      'from "node:process"',
    ]) {
      expect(breaches("engine/a.ts", text), text).toHaveLength(1);
    }
    expect(breaches("engine/a.ts", "// process.exit\nnew Date(ms); this.process.x; preprocess.y")).toEqual(
      [],
    );
    expect(breaches("main.ts", "process.exit(1)")).toEqual([]);
  });

  test("reads no import out of a comment's prose", () => {
    expect(importsOf("const from = 1;")).toEqual([]);
    expect(breaches("cli/a.ts", '/** import x from "../engine/x.ts" */')).toEqual([]);
  });
});
