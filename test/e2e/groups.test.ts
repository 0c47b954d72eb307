import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { afterAll, describe, expect, test } from "vitest";
import { type Home, Homes, writeInto } from "../support/starpost.ts";

const homes = new Homes();
afterAll(() => homes.remove());

const file = "fixtures/good/groups.csv";
const memberships = [
  ["Garden", "chair-01"],
  ["Garden", "pot-05"],
  ["Garden", "table-02"],
  ["Lights", "lamp_03"],
  ["Rugs, indoor", "rug-04"],
];

/** An account with the products of the fixtures. */
async function openStore(): Promise<Home> {
  const home = homes.open();
  const { exitCode, stderr } = await home.run(["products", "import", "fixtures/good/products.csv"]);
  expect(exitCode, stderr).toBe(0);
  return home;
}

async function readGroups(home: Home): Promise<string[][]> {
  const { stdout } = await home.run(["groups", "export"]);
  return parse(stdout).slice(1);
}

describe("groups import", () => {
  test("creates the groups and adds their products; a second import changes nothing", async () => {
    const home = await openStore();
    const first = await home.json(["groups", "import", file]);
    expect(first.exitCode, first.stderr).toBe(0);
    expect(first.data).toMatchObject({
      kind: "groups",
      state: "finished",
      rows: { read: 5, accepted: 5, rejected: 0, failed: 0 },
      items: { sent: 5, accepted: 5 },
    });
    expect(await readGroups(home)).toEqual(memberships);
    const second = await home.json(["groups", "import", file]);
    expect([second.exitCode, second.data.rows.accepted]).toEqual([0, 5]);
    expect(await readGroups(home)).toEqual(memberships);
  });

  test("rejects rows without a group, with an invalid group or product ID, and with an unknown product", async () => {
    const home = await openStore();
    const path = writeInto(
      home,
      "groups.csv",
      "group,product_id\n,chair-01\nGarden,\n..,chair-01\nGarden,a b\nGarden,nowhere\nGarden,pot-05\n",
    );
    const { exitCode, data } = await home.json(["groups", "import", path]);
    expect(exitCode).toBe(3);
    expect(data.rows).toEqual({ read: 6, accepted: 1, rejected: 5, failed: 0 });
    const rejects: Record<string, string>[] = parse(readFileSync(data.rejects_file ?? ""), { columns: true });
    expect(rejects.map(({ _line, _column, _code }) => [_line, _column, _code])).toEqual(
      expect.arrayContaining([
        ["2", "group", "missing"],
        ["3", "product_id", "missing"],
        ["4", "group", "bad_group"],
        ["5", "product_id", "bad_id"],
        ["6", "product_id", "refused"],
      ]),
    );
    expect(await readGroups(home)).toEqual([["Garden", "pot-05"]]);
  });

  test("is verified by reading the groups back", async () => {
    const home = await openStore();
    const { data } = await home.json(["groups", "import", file]);
    expect((await home.run(["imports", "verify", data.import_id])).exitCode).toBe(0);
    const moved = writeInto(home, "moved.csv", "group,product_id\nElsewhere,lamp_03\n");
    await home.run(["groups", "import", moved]);
    const verified = await home.json<{ missing: unknown[] }>(["imports", "verify", data.import_id]);
    expect(verified.exitCode).toBe(7);
    expect(verified.data.missing).toMatchObject([{ line: 4, group_name: "Lights", product_id: "lamp_03" }]);
  });
});

test("groups export writes a file that restores the same groups", async () => {
  const home = await openStore();
  await home.run(["groups", "import", file]);
  const [first, second] = [join(home.folder, "first.csv"), join(home.folder, "second.csv")];
  await home.run(["groups", "export", "--out", first]);
  const empty = await openStore();
  expect((await empty.run(["groups", "import", first])).exitCode).toBe(0);
  await empty.run(["groups", "export", "--out", second]);
  expect(readFileSync(second)).toEqual(readFileSync(first));
  expect(readFileSync(first, "utf8")).toBe(
    'group,product_id\nGarden,chair-01\nGarden,pot-05\nGarden,table-02\nLights,lamp_03\n"Rugs, indoor",rug-04\n',
  );
});

describe("groups plan", () => {
  const plan = (home: Home, env: Record<string, string> = {}) => home.json<object>(["groups", "plan", file], { env });

  test("reports memberships that already exist and changes nothing", async () => {
    const home = await openStore();
    await home.run(["groups", "import", writeInto(home, "some.csv", "group,product_id\nLights,lamp_03\n")]);
    const { exitCode, data } = await plan(home);
    expect(exitCode).toBe(0);
    expect(data).toMatchObject({ rows: { read: 5, accepted: 5 }, there: { items: 1 }, mails: null });
    expect(await readGroups(home)).toEqual([["Lights", "lamp_03"]]);
  });
});

describe("imports undo", () => {
  test("moves products back, removes added members, and deletes new groups", async () => {
    const home = await openStore();
    await home.run(["groups", "import", writeInto(home, "old.csv", "group,product_id\nOld,lamp_03\nGarden,pot-05\n")]);
    const { data } = await home.json(["groups", "import", file, "--undoable"]);
    const undone = await home.json<object>(["imports", "undo", data.import_id, "--yes"]);
    expect(undone.data).toMatchObject({ state: "finished", reversed: 4, kept: 1, impossible: 0 });
    expect(await readGroups(home)).toEqual([
      ["Garden", "pot-05"],
      ["Old", "lamp_03"],
    ]);
    const { stdout } = await home.run(["groups", "list", "--format", "ndjson"]);
    expect(stdout.split("\n").map((line) => (JSON.parse(line) as { display_name: string }).display_name)).toEqual([
      "Old",
      "Garden",
    ]);
  });
});
