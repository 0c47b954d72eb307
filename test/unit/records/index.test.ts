import { describe, expect, test } from "vitest";
import { recordKinds } from "../../../src/records/index.ts";
import { kinds } from "../../support/record-kinds.ts";

describe.each(kinds.all.map((kind) => [kind.name, kind] as const))("%s", (_name, kind) => {
  const fieldNames = kind.fields.map(({ name }) => name);

  test("imports every column that it exports", () => {
    expect(fieldNames).toEqual(expect.arrayContaining([...kind.columns]));
    expect(kind.columns).toEqual(expect.arrayContaining([...(kind.textColumns ?? [])]));
  });

  test("declares the layouts and the undo that its importer has", () => {
    const names = kind.layouts.map(({ name }) => name).filter((name) => !/-(?:dmy|mdy)$/.test(name));
    expect(kind.layoutNames ?? []).toEqual(names);
    expect(kind.isUndoable ?? false).toBe(kind.undo !== undefined);
  });

  test("names only its own fields", () => {
    const named = [kind.urlField ?? [], kind.fixableFields ?? [], Object.keys(kind.synonyms ?? {})].flat();
    expect(fieldNames).toEqual(expect.arrayContaining(named));
  });
});

test("kind names are unique", () => {
  expect(new Set(recordKinds.map(({ name }) => name)).size).toBe(recordKinds.length);
});
