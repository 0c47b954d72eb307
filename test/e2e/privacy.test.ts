import {
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Home, Homes, remoteEnv, type Summary } from "../support/starpost.ts";

const homes = new Homes();
let umask = 0;
// File modes must not depend on the user's umask.
beforeAll(() => {
  umask = process.umask(0);
});
afterAll(() => {
  process.umask(umask);
  homes.remove();
});

const header = "order_id,order_date,customer_name,email,product_id,product_name,product_url";

function write(home: Home, name: string, text: string): string {
  const path = join(home.folder, name);
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}

function writeOrders(home: Home, emails: readonly string[], name = "orders.csv"): string {
  const rows = emails.map((email, at) => `o-${name}-${at},2026-01-02,N,${email},p-${at},Name,https://shop.example/p`);
  return write(home, name, `${[header, ...rows].join("\n").replaceAll(/o-([a-z]+)\.csv/g, "o-$1")}\n`);
}

/** All entries of a folder that users other than its owner may read, with their modes. */
function findShared(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).flatMap((name) => {
    const stat = lstatSync(join(folder, name), { throwIfNoEntry: false });
    if (!stat || (stat.mode & 0o077) === 0) return [];
    return [`${name} ${(stat.mode & 0o777).toString(8)}`];
  });
}

describe("stored files are private with a umask of 0", () => {
  test("after every type of command, and during an import", async () => {
    const home = homes.open();
    mkdirSync(join(home.folder, "out"), { mode: 0o700 });
    const emails = Array.from({ length: 30 }, (_, at) => `n${at}@example.com`);
    const orders = writeOrders(home, [...emails, "none"]);
    const products = write(
      home,
      "products.csv",
      "product_id,product_name,product_url\np-1,N,https://shop.example/1\n,N,https://shop.example/1\n",
    );
    const coupons = write(home, "coupons.csv", "code\nA1\nA1\n");
    const list = write(home, "list.csv", "email\na@example.com\n");
    const other = write(home, "other.csv", "email\nb@example.com\nwrong\n");
    const seen = new Set<string>();
    const run = async (...args: string[]) => {
      const ended = await home.run(args);
      expect(ended.stderr).not.toContain("unexpected:");
      for (const found of findShared(home.folder)) seen.add(`${found} after ${args.slice(0, 2).join(" ")}`);
      return ended;
    };
    const under = home.start(["orders", "import", orders, "--rate", "2", "--batch-size", "5", "--undoable"]);
    for (let check = 0; check < 20; check++) {
      await sleep(150);
      for (const found of findShared(home.folder)) seen.add(`${found} during an import`);
    }
    await under;
    await run("products", "import", products, "--rejects", join(home.folder, "out", "rejects.csv"), "--undoable");
    await run("coupons", "import", coupons, "--action", "map_review", "--verify");
    await run("unsubscribers", "import", list, "--type", "1");
    await run("unsubscribers", "sync", other, "--type", "1", "--max-resubscribe", "1", "--yes");
    await run("orders", "plan", orders, "--out", join(home.folder, "out", "plan.json"));
    await run("orders", "export", "--out", join(home.folder, "out", "orders-out.csv"));
    await run("auth", "status", "--redact");
    const [latest] = (await home.json<Summary[]>(["imports", "list"])).data;
    await run("imports", "undo", latest?.import_id ?? "", "--yes");
    const server = await home.serve();
    const { app_key: appKey, secret } = server;
    const login = ["auth", "login", "--base-url", server.url, "--app-key", appKey, "--secret-stdin"];
    expect((await home.run([...login, "--profile", "far"], { input: `${secret}\n` })).exitCode).toBe(0);
    await run("unsubscribers", "import", list, "--type", "2", "--profile", "far");
    await server.stop();
    await run("imports", "purge", "--older-than", "30d");
    expect([...seen]).toEqual([]);
    for (const name of ["starpost.db", "starpost.key", "redaction.key", "credentials.json", "tokens", "limits"]) {
      expect(existsSync(join(home.folder, name)), name).toBe(true);
    }
    for (const name of ["rejects.csv", "plan.json", "orders-out.csv"]) {
      expect(existsSync(join(home.folder, "out", name)), name).toBe(true);
    }
  });
});

interface Purged {
  readonly removed: { import_id: string | null; state: string; bytes: number; path: string }[];
  readonly removed_bytes: number;
  readonly kept: { running: number; unfinished: number };
}

/** Sets the modification time of everything in a folder. */
function age(folder: string, days: number): void {
  const then = new Date(Date.now() - days * 86_400_000);
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" }))
    utimesSync(join(folder, name), then, then);
  utimesSync(folder, then, then);
}

describe("imports purge", () => {
  const purge = (home: Home, ...flags: string[]) =>
    home.json<Purged>(["imports", "purge", "--older-than", "30d", ...flags], {
      env: { TMPDIR: join(home.folder, "tmp") },
    });

  async function importOnce(home: Home, name: string): Promise<string> {
    const path = write(home, name, `email\n${name}@example.com\nwrong\n`);
    return (await home.json(["unsubscribers", "import", path, "--type", "1"])).data.import_id;
  }

  test("removes only old runs, their rejects, and leftovers of killed processes", async () => {
    const home = homes.open();
    const runs = join(home.folder, "imports");
    const temporary = join(home.folder, "tmp");
    for (const name of ["starpost-dry-run-abcdef", "starpost-dry-run-ghijkl", "starpost-home-abcdef", "another"]) {
      mkdirSync(join(temporary, name), { recursive: true });
      writeFileSync(join(temporary, name, "rows.db"), "a@example.com");
      if (!name.endsWith("ghijkl")) age(join(temporary, name), 31);
    }
    const [old, young, open] = [
      await importOnce(home, "old"),
      await importOnce(home, "young"),
      await importOnce(home, "open"),
    ];
    for (const id of [old, open]) age(join(runs, id), 31);
    const manifest = join(runs, open, "manifest.json");
    writeFileSync(manifest, readFileSync(manifest, "utf8").replace('"finished"', '"interrupted"'));
    age(join(runs, open), 31);
    // A user's file that differs from a killed process's leftovers only by its name.
    const own = "manual copy";
    const [leftOld, leftYoung] = ["20260101-000000-abcdef", "20260102-000000-abcdef"];
    for (const [name, days] of [
      [leftOld, 31],
      [leftYoung, 1],
      [own, 31],
    ] as const) {
      mkdirSync(join(runs, name));
      writeFileSync(join(runs, name, "input-1.csv"), "email\na@example.com\n");
      age(join(runs, name), days);
    }

    const prompted = await home.run(["imports", "purge", "--older-than", "30d"]);
    expect(prompted.exitCode).toBe(2);
    expect(prompted.stderr).toMatch(/1 import and 1 leftover .*\(.*(bytes|kB)\)/);
    expect(existsSync(join(runs, old))).toBe(true);

    const first = await purge(home, "--yes");
    expect(first.exitCode).toBe(0);
    expect(first.data.removed.map(({ path }) => path).toSorted()).toEqual(
      [join(runs, old), join(runs, leftOld), join(temporary, "starpost-dry-run-abcdef")].toSorted(),
    );
    expect(first.data.removed_bytes).toBe(first.data.removed.reduce((sum, { bytes }) => sum + bytes, 0));
    expect(first.data.kept).toEqual({ running: 0, unfinished: 1 });
    expect(readdirSync(runs).toSorted()).toEqual([young, open, leftYoung, own].toSorted());
    expect(readdirSync(temporary).toSorted()).toEqual(["another", "starpost-dry-run-ghijkl", "starpost-home-abcdef"]);

    const second = await purge(home, "--yes", "--unfinished");
    expect(second.data.removed).toMatchObject([{ import_id: open, state: "interrupted" }]);
    expect(readdirSync(runs).toSorted()).toEqual([young, leftYoung, own].toSorted());
    const third = await purge(home);
    expect(third.exitCode).toBe(0);
    expect(third.data.removed).toEqual([]);
  });

  test("never removes a running import, however old it appears", async () => {
    const home = homes.open();
    const path = writeOrders(
      home,
      Array.from({ length: 400 }, (_, at) => `n${at}@example.com`),
    );
    const run = home.start(["orders", "import", path, "--rate", "2", "--batch-size", "5"]);
    const runs = join(home.folder, "imports");
    const isBegun = () =>
      existsSync(runs) && readdirSync(runs).some((id) => existsSync(join(runs, id, "manifest.json")));
    while (!isBegun()) await sleep(50);
    await sleep(500);
    const [id = ""] = readdirSync(runs);
    run.kill("SIGSTOP");
    age(join(runs, id), 60);
    const { data } = await purge(home, "--yes", "--unfinished");
    expect(data).toMatchObject({ removed: [], kept: { running: 1, unfinished: 0 } });
    run.kill("SIGKILL");
    await run;
    expect((await purge(home, "--yes", "--unfinished")).data.removed).toMatchObject([{ import_id: id }]);
  });

  test.skipIf(process.getuid?.() !== 0)("does not remove leftovers of other users' processes", async () => {
    const home = homes.open();
    const temporary = join(home.folder, "tmp");
    const names = ["starpost-plan-abcdef", "starpost-plan-ghijkl"] as const;
    for (const name of names) {
      mkdirSync(join(temporary, name), { recursive: true });
      writeFileSync(join(temporary, name, "rows.db"), "a@example.com");
      age(join(temporary, name), 31);
    }
    chownSync(join(temporary, names[1]), 65_534, 65_534);
    const { data } = await purge(home, "--yes");
    expect(data.removed.map(({ path }) => path)).toEqual([join(temporary, names[0])]);
    expect(readdirSync(temporary)).toEqual([names[1]]);
  });

  test("requires an age in hours, days, or weeks", async () => {
    const home = homes.open();
    for (const flags of [[], ["--older-than", "30"], ["--older-than", "d"], ["--older-than", "-1d"]]) {
      expect((await home.run(["imports", "purge", ...flags])).exitCode).toBe(2);
    }
    for (const ageText of ["12h", "30d", "4w"]) {
      expect((await home.run(["imports", "purge", "--older-than", ageText])).exitCode).toBe(0);
    }
  });
});

describe("--redact", () => {
  const people = ["Jane.Doe@example.com", "o'brien+x@example.ie", "jürgen@bücher.example", "a_b-c@localhost"];
  const wrong = ["two@@example.com", "(jim)@example.com", "j doe@example.com"];

  test("hides the addresses in all output, and keeps them in files", async () => {
    const home = homes.open();
    const orders = writeOrders(home, [...people, ...wrong]);
    const list = write(home, "list.csv", `email\n${[...people, ...wrong].join("\n")}\n`);
    const other = write(home, "other.csv", `email\n${people[0] ?? ""}\n`);
    const noHeader = write(home, "Jane.Doe@example.com.csv", `${people[0] ?? ""},x\n`);
    const printed: string[] = [];
    const run = async (args: readonly string[], env: Record<string, string> = {}) => {
      const { stdout, stderr, exitCode } = await home.run(args, { env });
      printed.push(`${args.join(" ")}\n`, stdout, stderr);
      expect(stderr, args.join(" ")).not.toContain("unexpected:");
      return { stdout, stderr, exitCode };
    };
    const redact = { STARPOST_REDACT: "1" };
    const tokens = new Set<string>();
    const commands = [
      ["orders", "import", orders],
      ["orders", "import", orders, "--json"],
      ["orders", "plan", orders, "--json"],
      ["orders", "plan", orders],
      ["unsubscribers", "import", list, "--type", "1"],
      ["unsubscribers", "import", noHeader, "--type", "1"],
      ["unsubscribers", "sync", other, "--type", "1", "--plan"],
      ["unsubscribers", "sync", other, "--type", "1", "--plan", "--json"],
      ["unsubscribers", "sync", other, "--type", "1", "--json"],
      ["unsubscribers", "export"],
      ["unsubscribers", "export", "--json"],
      ["orders", "export", "--format", "ndjson"],
      ["imports", "list", "--format", "csv"],
      ["no-such", people[0] ?? ""],
    ];
    for (const [at, command] of commands.entries()) {
      // With the flag or with the variable.
      const { stdout, stderr } = await (at % 2 === 0 ? run([...command, "--redact"]) : run(command, redact));
      const found = `${stdout}${stderr}`.matchAll(/person-[0-9a-f]{10}@redacted\.invalid/g);
      for (const [token] of found) tokens.add(token);
      if (command.includes("--json") && stdout !== "") JSON.parse(stdout);
    }
    const output = printed
      .filter((_, at) => at % 3 !== 0)
      .join("\n")
      .toLowerCase();
    for (const person of [...people, "two@@example.com", "jim)@example.com", "doe@example.com"]) {
      expect(output).not.toContain(person.toLowerCase());
    }
    expect(output).toContain("redacted.invalid");
    // One token per person across commands; invalid addresses have their own.
    expect(tokens.size).toBeGreaterThanOrEqual(people.length);
    expect(tokens.size).toBeLessThanOrEqual(people.length + 3 * wrong.length + 2);

    // Files always contain the real addresses, so --redact is rejected with --out.
    const file = join(home.folder, "out.csv");
    expect((await run(["unsubscribers", "export", "--out", file, "--redact"])).exitCode).toBe(2);
    expect(existsSync(file)).toBe(false);
    const summary = (await home.json<Summary[]>(["imports", "list"])).data.find(
      ({ rejects_file: path }) => path !== null,
    );
    expect(readFileSync(summary?.rejects_file ?? "", "utf8")).toContain("two@@example.com");
  });

  test("hides addresses in server logs and in the output of remote imports", async () => {
    const far = homes.open();
    const server = far.start(["serve", "--port", "0", "--json", "--verbose", "--redact"]);
    let [stdout, stderr] = ["", ""];
    server.stdout?.on("data", (data: Buffer) => (stdout += data.toString()));
    server.stderr?.on("data", (data: Buffer) => (stderr += data.toString()));
    while (!stdout.includes("\n")) await sleep(50);
    const { url } = JSON.parse(stdout) as { url: string };
    const account = (await far.json<{ app_key: string; secret: string }>(["auth", "credentials"])).data;
    const home = homes.open(remoteEnv({ url, ...account }));
    const list = write(home, "list.csv", `email\n${people.join("\n")}\nnone\n`);
    const { exitCode } = await home.run(["unsubscribers", "import", list, "--type", "1", "--redact"]);
    expect(exitCode).toBe(3);
    await fetch(`${url}/apps/${account.app_key}/purchases/?utoken=${people[0] ?? ""}`);
    server.kill("SIGTERM");
    await server;
    expect(stderr).toContain('"status":200');
    for (const person of people) expect(stderr.toLowerCase()).not.toContain(person.toLowerCase());
  });

  test("uses the same token for a person in all runs of an installation, and another one elsewhere", async () => {
    const [one, other] = [homes.open(), homes.open()];
    const readMessages = async (home: Home, email: string) =>
      (await home.run(["orders", "import", email, "--redact"])).stderr;
    const tokenOf = (text: string) => /person-\w+@redacted\.invalid/.exec(text)?.[0] ?? "";
    const token = tokenOf(await readMessages(one, "Jane@example.com"));
    expect(token).not.toBe("");
    expect(tokenOf(await readMessages(one, "jane@example.com"))).toBe(token);
    expect(tokenOf(await readMessages(other, "Jane@example.com"))).not.toBe(token);
  });
});
