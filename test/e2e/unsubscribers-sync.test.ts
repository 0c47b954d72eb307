import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { SqliteFile } from "../../src/storage/sqlite/sqlite-file.ts";
import { type Home, Homes, remoteEnv, type Summary, writeInto } from "../support/starpost.ts";

const homes = new Homes();
afterAll(() => homes.remove());

interface Synced {
  readonly sync_id: string | null;
  readonly type: number;
  readonly state: string;
  readonly added: number;
  readonly removed: number;
  readonly unchanged: number;
  readonly cannot_be_removed: string[];
  readonly withheld: number;
  readonly not_done: number;
  readonly passed_over: number;
  readonly rejected: number;
  readonly rejects_file: string | null;
  readonly to_add?: string[];
  readonly to_remove?: string[];
  readonly imports: string[];
}

interface Failed {
  readonly error: { readonly message: string; readonly hint: string };
}

const listOf = (emails: readonly string[]) => `email\n${emails.map((email) => `${email}\n`).join("")}`;

/** The entries of the embedded database, as `type:address`. */
function stored(home: Home): string[] {
  const file = new SqliteFile(join(home.folder, "starpost.db"));
  const rows = file.all("select email_type_id, email from unsubscribers order by email_type_id, email_key");
  file.close();
  return rows.map(({ email_type_id: type, email }) => `${Number(type)}:${String(email)}`);
}

/** Marks an address as unsubscribed by its owner. */
function unsubscribeBySelf(home: Home, email: string): void {
  const file = new SqliteFile(join(home.folder, "starpost.db"));
  file.run("update unsubscribers set by_name = 'USER' where email = ?", [email]);
  file.close();
}

async function openHome(emails: readonly string[]): Promise<Home> {
  const home = homes.open();
  await home.json(["unsubscribers", "import", writeInto(home, "before.csv", listOf(emails)), "--type", "1"]);
  return home;
}

const sync = (home: Home, path: string, ...flags: string[]) =>
  home.json<Synced>(["unsubscribers", "sync", path, "--type", "1", ...flags]);

describe("unsubscribers sync", () => {
  test("adds and removes addresses, keeps other types, and changes nothing when repeated", async () => {
    const home = await openHome(["a@x.example", "B@x.example", "c@x.example"]);
    await home.json(["unsubscribers", "import", join(home.folder, "before.csv"), "--type", "2"]);
    const path = writeInto(home, "list.csv", listOf(["b@X.example", "new@x.example", "NEW@x.example"]));

    const plan = await sync(home, path, "--plan");
    expect(plan.exitCode).toBe(1);
    expect(plan.data).toMatchObject({
      sync_id: null,
      type: 1,
      state: "planned",
      added: 1,
      removed: 2,
      unchanged: 1,
      to_add: ["new@x.example"],
      to_remove: ["a@x.example", "c@x.example"],
    });
    const before = stored(home);

    const done = await sync(home, path, "--max-resubscribe", "2", "--yes");
    expect(done.exitCode).toBe(0);
    expect(done.data).toMatchObject({ state: "finished", added: 1, removed: 2, unchanged: 1, rejected: 0 });
    expect(stored(home)).toEqual([
      "1:B@x.example",
      "1:new@x.example",
      ...before.filter((held) => held.startsWith("2:")),
    ]);

    const again = await sync(home, path);
    expect(again.exitCode).toBe(0);
    expect(again.data).toMatchObject({ state: "finished", added: 0, removed: 0, unchanged: 2, imports: [] });
    expect((await sync(home, path, "--plan")).exitCode).toBe(0);
    expect((await home.run(["unsubscribers", "sync", path, "--type", "1"])).stderr).toContain("Nothing to do");
  });

  test("records the added and removed addresses and the runs", async () => {
    const home = await openHome(["a@x.example"]);
    const path = writeInto(home, "list.csv", listOf(["new@x.example"]));
    const { data } = await sync(home, path, "--max-resubscribe", "1", "--yes");
    const folder = join(home.folder, "imports", data.sync_id ?? "");
    expect(JSON.parse(readFileSync(join(folder, "sync.json"), "utf8"))).toEqual(data);
    expect(readFileSync(join(folder, "added.csv"), "utf8")).toBe('email,email_type_id\n"new@x.example",1\n');
    expect(readFileSync(join(folder, "removed.csv"), "utf8")).toBe('email,email_type_id\n"a@x.example",1\n');
    expect(readdirSync(folder).toSorted()).toEqual(["added.csv", "removed.csv", "sync.json"]);
    const runs = (await home.json<Summary[]>(["imports", "list"])).data;
    expect(runs.map(({ import_id }) => import_id)).toEqual(expect.arrayContaining(data.imports));
    expect(data.imports).toHaveLength(2);
  });

  test("resubscribes at most --max-resubscribe people (default: none), even for an empty file", async () => {
    const home = await openHome(["a@x.example", "b@x.example"]);
    const before = stored(home);
    const oneAllowed = ["--max-resubscribe", "1", "--yes"];
    for (const [text, flags] of [
      ["email\n", []],
      [listOf(["new@x.example"]), oneAllowed],
    ] as const) {
      const refused = await sync(home, writeInto(home, "list.csv", text), ...flags);
      expect(refused.exitCode).toBe(2);
      const { error } = JSON.parse(refused.stderr) as Failed;
      expect(error.message).toMatch(/2 people /);
      expect(error.hint).toContain("--max-resubscribe 2");
    }
    expect(stored(home)).toEqual(before);
    expect(readdirSync(join(home.folder, "imports"))).toHaveLength(1);
  });

  test("prompts before resubscribing people, and changes nothing without a terminal", async () => {
    const home = await openHome(["a@x.example"]);
    const path = writeInto(home, "list.csv", listOf(["new@x.example"]));
    const { exitCode, stderr } = await sync(home, path, "--max-resubscribe", "1");
    expect(exitCode).toBe(2);
    expect(stderr).toContain("1 person");
    expect(stored(home)).toEqual(["1:a@x.example"]);
  });

  test("resubscribes nobody while a row is rejected, and reports it", async () => {
    const home = await openHome(["a@x.example", "b@x.example"]);
    const path = writeInto(home, "list.csv", listOf(["b-at-x.example", "new@x.example"]));
    const planned = await sync(home, path, "--plan");
    expect(planned.data).toMatchObject({ added: 1, removed: 0, withheld: 2, rejected: 1, rejects_file: null });
    const { exitCode, data } = await sync(home, path, "--max-resubscribe", "5", "--yes");
    expect(exitCode).toBe(3);
    expect(data).toMatchObject({ added: 1, removed: 0, withheld: 2, rejected: 1 });
    expect(stored(home)).toEqual(["1:a@x.example", "1:b@x.example", "1:new@x.example"]);
    expect(readFileSync(data.rejects_file ?? "", "utf8")).toContain("b-at-x.example,2,email,bad_email");
  });

  test("distinguishes a plan blocked by a rejected row from a matching list", async () => {
    const home = await openHome(["a@x.example", "b@x.example"]);
    const differs = writeInto(home, "list.csv", listOf(["b-at-x.example", "a@x.example"]));
    expect(await sync(home, differs, "--plan")).toMatchObject({
      exitCode: 1,
      data: { added: 0, removed: 0, withheld: 1, unchanged: 1, rejected: 1 },
    });
    const summarize = async (path: string, ...flags: string[]) =>
      (await home.run(["unsubscribers", "sync", path, "--type", "1", ...flags])).stderr;
    const plan = await summarize(differs, "--plan");
    expect(plan).toMatch(/list of type 1 .*differs/);
    expect(plan).toContain("(1 person withheld)");
    expect(plan).not.toContain("Nothing would change");
    const done = await sync(home, differs, "--max-resubscribe", "5", "--yes");
    expect(done).toMatchObject({ exitCode: 3, data: { removed: 0, withheld: 1 } });
    expect(await summarize(differs)).toMatch(/list of type 1 .*differs/);

    const same = writeInto(home, "list.csv", listOf(["a@x.example", "B@x.example", "b-at-x.example"]));
    expect(await sync(home, same, "--plan")).toMatchObject({ exitCode: 3, data: { withheld: 0 } });
    expect(await summarize(same, "--plan")).toMatch(
      /Nothing would change: .* matches \(2 addresses\), except for 1 rejected row\./,
    );
  });

  test("reports that a file without addresses would empty the list", async () => {
    const home = await openHome(["a@x.example", "b@x.example"]);
    const command = ["unsubscribers", "sync", writeInto(home, "list.csv", "email\n"), "--type", "1"];
    const plan = await home.run([...command, "--plan"]);
    expect([plan.exitCode, plan.stderr]).toEqual([1, expect.stringContaining("no addresses")]);
    const refused = await home.run(command);
    expect([refused.exitCode, refused.stderr]).toEqual([2, expect.stringMatching(/no addresses.*2 people /)]);
    const others = writeInto(home, "others.csv", "email,type\nc@x.example,2\n");
    const ofOthers = await home.run(["unsubscribers", "sync", others, "--type", "1", "--plan"]);
    expect(ofOthers.stderr).toContain("no addresses of type 1");
    expect(stored(home)).toEqual(["1:a@x.example", "1:b@x.example"]);
  });

  test("lists people who unsubscribed themselves, and completes nevertheless", async () => {
    const home = await openHome(["a@x.example", "Self@x.example"]);
    unsubscribeBySelf(home, "Self@x.example");
    const path = writeInto(home, "list.csv", listOf(["a@x.example"]));
    const plan = await sync(home, path, "--plan");
    expect(plan.exitCode).toBe(0);
    expect(plan.data.cannot_be_removed).toEqual(["Self@x.example"]);
    const done = await sync(home, path);
    expect(done.exitCode).toBe(0);
    expect(done.data).toMatchObject({ removed: 0, cannot_be_removed: ["Self@x.example"], imports: [] });
    const { stderr } = await home.run(["unsubscribers", "sync", path, "--type", "1"]);
    expect(stderr).toContain("Self@x.example");
  });

  test("uses the rows of its type, in any encoding and column order", async () => {
    const home = await openHome(["a@x.example"]);
    const text = "Type;User Email\r\n1;a@x.example\r\n2;two@x.example\r\n1;ä@x.example\r\n";
    const path = join(home.folder, "list.csv");
    writeFileSync(path, Buffer.from(`\uFEFF${text}`, "utf16le"));
    const { data, exitCode } = await sync(home, path);
    expect(exitCode).toBe(0);
    expect(data).toMatchObject({ added: 1, unchanged: 1, passed_over: 1 });
    expect(stored(home)).toEqual(["1:a@x.example", "1:ä@x.example"]);
  });

  test("treats spellings of an address as the same, and rejects invisible characters", async () => {
    const home = await openHome(["a@x.example", "b@xn--bcher-kva.example", "j\u00E9r\u00F4me@x.example"]);
    const spelled = ["a@ｘ.example", "B@bücher.example", "je\u0301ro\u0302me@x.example"];
    const path = writeInto(home, "list.csv", listOf(spelled));
    expect((await sync(home, path, "--plan")).data).toMatchObject({ added: 0, removed: 0, unchanged: 3, rejected: 0 });
    const hidden = writeInto(
      home,
      "hidden.csv",
      listOf(["a@x.example\u200B", "\u00ADb@bücher.example", ...spelled.slice(2)]),
    );
    const { data, exitCode } = await sync(home, hidden, "--rejects", join(home.folder, "hidden-rejects.csv"));
    expect(data).toMatchObject({ added: 0, removed: 0, withheld: 2, rejected: 2 });
    expect(exitCode).toBe(3);
    const rejects = readFileSync(data.rejects_file ?? "", "utf8");
    expect(rejects.match(/bad_characters,email contains an invisible character/g)).toHaveLength(2);
    expect(stored(home)).toHaveLength(3);
  });

  test("writes the rejected rows of a plan with --rejects", async () => {
    const home = await openHome(["a@x.example"]);
    const path = writeInto(home, "list.csv", listOf(["a@x.example", "wrong"]));
    const rejects = join(home.folder, "wrong.csv");
    const { data, exitCode } = await sync(home, path, "--plan", "--rejects", rejects);
    expect([data.rejected, exitCode]).toEqual([1, 3]);
    expect(data.rejects_file).toBe(rejects);
    expect(readFileSync(rejects, "utf8")).toContain("wrong");
    expect((await sync(home, path, "--plan")).data.rejects_file).toBeNull();
  });

  test("reads standard input, and requires a type", async () => {
    const home = await openHome(["a@x.example"]);
    const input = listOf(["a@x.example", "b@x.example"]);
    const { data } = await home.json<Synced>(["unsubscribers", "sync", "-", "--type", "1"], { input });
    expect(data).toMatchObject({ added: 1, unchanged: 1 });
    expect((await home.run(["unsubscribers", "sync", "-"], { input })).exitCode).toBe(2);
    expect((await home.run(["unsubscribers", "sync", "-", "--type", "99"], { input })).exitCode).toBe(2);
  });

  test("reads more than 5,000 addresses of a remote service, and continues after being killed", async () => {
    const far = homes.open();
    const many = Array.from({ length: 12_000 }, (_, at) => `n${at}@x.example`);
    const server = await far.serve();
    await far.json(["unsubscribers", "import", writeInto(far, "many.csv", listOf(many)), "--type", "1"]);
    const home = homes.open(remoteEnv(server));
    const wanted = [...many.slice(40), ...Array.from({ length: 3_000 }, (_, at) => `added${at}@x.example`)];
    const path = writeInto(home, "list.csv", listOf(wanted));
    const flags = ["--max-resubscribe", "40", "--yes"];
    const killed = home.start(["unsubscribers", "sync", path, "--type", "1", "--rate", "10", ...flags]);
    const runs = join(home.folder, "imports");
    while (!existsSync(runs) || stored(far).length < 12_200) await new Promise((done) => setTimeout(done, 50));
    killed.kill("SIGKILL");
    await killed;
    const { data, exitCode } = await sync(home, path, "--rate", "0", ...flags);
    expect(exitCode).toBe(0);
    expect(data.added).toBeLessThan(3_000);
    expect(data).toMatchObject({ state: "finished", removed: 40 });
    expect(stored(far)).toEqual(wanted.map((email) => `1:${email}`).toSorted());
    expect((await sync(home, path, "--rate", "0", "--plan")).exitCode).toBe(0);
    await server.stop();
  });
});
