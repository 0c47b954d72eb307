import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { findFilesWith } from "../../../../src/import/people/person-rows.ts";

it("finds files with an address in folders and their folders, except skipped ones at the top", () => {
  const folder = mkdtempSync(join(tmpdir(), "starpost-address-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const write = (name: string, text: string) => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };
  mkdirSync(join(folder, "logs/imports"), { recursive: true });
  mkdirSync(join(folder, "imports"));
  const found = [
    write("aliases.json", '{"ann": "customers show Ann@mail.example"}'),
    write("logs/imports/a.log", "GET /?email=ann%40mail.example"),
    write("logs/one.log", "ann@mail.example"),
  ];
  write("other.json", "joann@mail.example");
  write("imports/manifest.json", "ann@mail.example");
  expect(findFilesWith("ann@mail.example", [folder, folder, join(folder, "none")], /^imports$/).toSorted()).toEqual(
    found,
  );
});
