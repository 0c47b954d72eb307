import { execa } from "execa";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Command } from "../../src/cli/program/command.ts";
import { commands } from "../../src/cli/program/commands.ts";
import { formatCurlCommand, replaceSecrets } from "../../src/service/call-preview.ts";
import { makeFolder, run } from "../cli/support.ts";
import { commandLineOf, stockHome } from "../support/command-lines.ts";
import { readRows } from "../support/database-rows.ts";
import { type Home, Homes, remoteEnv } from "../support/starpost.ts";

interface Shown {
  readonly dry_run?: boolean;
  readonly calls: readonly { readonly operation?: string; readonly method: string; readonly curl?: string }[];
}

const loaded: Command[] = await Promise.all(Object.values(commands).map((load) => load()));
const writers = loaded.filter(({ calls, name }) => (calls === "write" || calls === "any") && name !== "api");
const localWriters = loaded.filter(({ isLocalChange }) => isLocalChange);
const readers = loaded.filter(({ calls }) => calls === "read");

/** Words with which a command changes something. */
const localWords: Readonly<Record<string, readonly string[]>> = {
  "alias delete": ["list-all"],
  "auth logout": ["--profile", "another"],
  "mail configure": ["--outbox"],
  "webhooks configure": ["--allow-private", "on"],
};

describe("commands that can show their calls", () => {
  let stock: Awaited<ReturnType<typeof stockHome>>;
  let before: ReadonlyMap<string, string>;
  beforeAll(async () => {
    stock = await stockHome(async (call) => {
      await call("alias", "set", "list-all", "reviews list");
    });
    before = readRows(stock.folder);
  }, 60_000);
  afterAll(() => stock.remove());

  const preview = async (command: Command, flag: string) => {
    const line = commandLineOf(command);
    const words = line?.words(stock) ?? [];
    const env = { STARPOST_HOME: stock.folder };
    const { status, stdout, stderr } = await run([...command.name.split(" "), ...words, flag, "--json"], {
      env,
      ...(line?.stdin !== undefined && { stdin: line.stdin }),
    });
    return { line, status, stderr, shown: stdout === "" ? undefined : (JSON.parse(stdout) as Shown) };
  };

  test("include every command that writes one record through the API", () => {
    expect(writers.map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        "orders create",
        "unsubscribers add",
        "reviews create",
        "reviews hide",
        "images upload",
        "groups update",
        "questions answer",
        "mail cancel",
        "mail rules set",
        "webhooks create",
        "webhooks redeliver",
        "account set",
      ]),
    );
  });

  test.each(writers)("$name --dry-run checks and shows the call, and writes nothing", async (command) => {
    const { line, status, shown, stderr } = await preview(command, "--dry-run");
    expect(readRows(stock.folder)).toEqual(before);
    if (line?.refused !== undefined) {
      expect([[1, 4].includes(status), shown]).toEqual([true, undefined]);
      return;
    }
    expect([status, stderr]).toEqual([0, ""]);
    expect(shown).toMatchObject({ dry_run: true });
    for (const { method } of shown?.calls ?? []) expect(method).not.toBe("GET");
  });

  /** The settings of the machine. Commands may cache tokens and sign in without changing any. */
  const readSettings = () =>
    readdirSync(stock.folder, { recursive: true, encoding: "utf8" })
      .filter((path) => /(?:\.json|\.key|\.html)$/.test(path) && !path.startsWith("tokens"))
      .map((path) => `${path} ${readFileSync(join(stock.folder, path), "utf8")}`);

  test.each(localWriters)("$name --dry-run checks and describes the change, and makes none", async (command) => {
    const { name } = command;
    const words = localWords[name] ?? commandLineOf(command)?.words(stock) ?? [];
    const named = words.map((word) => (word === "none" ? stock.appKey : word));
    const settings = readSettings();
    const argv = [...name.split(" "), ...named, "--dry-run", "--json"];
    const { status, stdout, stderr } = await run(argv, { env: { STARPOST_HOME: stock.folder } });
    expect([status, stderr]).toEqual([0, ""]);
    expect(JSON.parse(stdout)).toEqual({ dry_run: true, changes: [expect.stringMatching(/^[A-Z]/)] });
    expect(readSettings()).toEqual(settings);
    expect(readRows(stock.folder)).toEqual(before);
  });

  test.each([
    ["account", "approve-recipient", "{app_key}", "nobody"],
    ["account", "enable", "none"],
    ["alias", "set", "orders", "customers show"],
    ["profile", "use", "none"],
  ])("%s %s --dry-run refuses what the command would refuse", async (...argv) => {
    const words = argv.map((word) => (word === "{app_key}" ? stock.appKey : word));
    const { status, stdout, stderr } = await run([...words, "--dry-run", "--json"], {
      env: { STARPOST_HOME: stock.folder },
    });
    expect([status > 0, stdout]).toEqual([true, ""]);
    expect(JSON.parse(stderr)).toMatchObject({ error: { kind: expect.any(String) as string } });
  });

  test.each(readers)("$name --curl shows the request without secrets", async (command) => {
    const { shown, stderr } = await preview(command, "--curl");
    expect([stderr, shown?.calls.length ?? 0]).toEqual(["", expect.toSatisfy((count: number) => count > 0)]);
    for (const { curl = "" } of shown?.calls ?? []) {
      expect(curl).toMatch(/^curl -sS 'http/);
    }
    expect(readRows(stock.folder)).toEqual(before);
  });
});

describe("--curl", () => {
  const homes = new Homes();
  let here: Home;
  let server: Awaited<ReturnType<Home["serve"]>>;
  let env: Record<string, string>;
  beforeAll(async () => {
    here = homes.open();
    server = await here.serve();
    env = { ...homes.open(remoteEnv(server)).env };
  });
  afterAll(async () => {
    await server.stop();
    homes.remove();
  });

  /** Runs the printed command in a shell, as a person would who pastes it. */
  const paste = async (argv: readonly string[]) => {
    const { stdout: script, status } = await run([...argv, "--curl"], { env });
    expect(status).toBe(0);
    const token = (await run(["auth", "token"], { env })).stdout.trim();
    for (const secret of [token, server.secret]) expect(script).not.toContain(secret);
    const { stdout } = await execa("sh", {
      input: script,
      env: { STARPOST_UTOKEN: token, STARPOST_SECRET: server.secret },
    });
    return JSON.parse(stdout) as unknown;
  };

  test("prints commands that work when they are pasted", async () => {
    const name = `Tea & "cups" 'n' $HOME \\ {a,b} [1-3]`;
    await paste(["groups", "create", name]);
    expect(await paste(["groups", "list"])).toMatchObject({ response: { products_groups: [{ display_name: name }] } });
    expect(await paste(["api", "GET", "/v1/apps/{app_key}/products_groups"])).toEqual(await paste(["groups", "list"]));
    expect(await paste(["api", "GET", "/core/v3/stores/{store_id}/products?limit=2"])).toEqual({
      products: [],
      pagination: expect.anything() as unknown,
    });
    expect(await paste(["api", "core.createToken"])).toMatchObject({ access_token: expect.any(String) as string });
    await paste(["unsubscribers", "add", "o'neil@mail.example", "--type", "1"]);
    const photo = join(makeFolder(), "photo.png");
    writeFileSync(photo, Buffer.alloc(200_000, "'"));
    const upload = ["images", "upload", "--image-file", photo, "--image-upload-token", "none"];
    expect(await paste(upload)).toMatchObject({ status: { error_type: "Exceptions::AccessDenied" } });
    const found = await run(["unsubscribers", "find", "o'neil@mail.example", "--json"], { env });
    expect(JSON.parse(found.stdout)).toHaveLength(1);
  });

  test("sends nothing, and shows all calls of a command", async () => {
    const argv = "webhooks create https://shop.example/a --event review_create --event review_updated".split(" ");
    const { stdout } = await run([...argv, "--curl", "--json"], { env });
    expect((JSON.parse(stdout) as Shown).calls.map(({ operation }) => operation)).toEqual([
      "webhooks.create",
      "webhooks.create",
    ]);
    expect(JSON.parse((await run(["webhooks", "list", "--json"], { env })).stdout)).toEqual([]);
    const unreachable = { ...env, STARPOST_BASE_URL: "http://127.0.0.1:1" };
    expect((await run(["reviews", "list", "--curl"], { env: unreachable })).status).toBe(0);
  });

  test.each([
    ["reviews bottom-line teapot", "/products/[^/]+/teapot/bottomline"],
    ["webhooks deliveries 7", "/webhook_deliveries/7"],
    ["questions list teapot", "/products/[^/]+/teapot/questions"],
  ])("shows the call of %s, which has an argument", async (line, path) => {
    expect((await run([...line.split(" "), "--curl"], { env })).stdout).toMatch(new RegExp(`^curl .*${path}`));
  });

  test("is refused where nothing can be shown", async () => {
    for (const flag of ["--curl", "--dry-run"]) {
      expect((await run(["profile", "list", flag], { env })).status).toBe(2);
    }
    expect((await run(["reviews", "hide", "1", "--curl", "--dry-run"], { env })).status).toBe(2);
    expect((await run(["reviews", "list", "--dry-run"], { env })).status).toBe(2);
  });
});

describe("--dry-run of a remote profile", () => {
  const env = () => ({
    STARPOST_HOME: makeFolder(),
    STARPOST_BASE_URL: "http://127.0.0.1:1/base/",
    STARPOST_APP_KEY: "shop",
    STARPOST_SECRET: "secret",
  });

  test("checks the values without a call", async () => {
    const { stdout, status } = await run(["reviews", "hide", "12", "--dry-run", "--json"], { env: env() });
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      dry_run: true,
      calls: [
        {
          operation: "reviews.setPublished",
          method: "PUT",
          url: "http://127.0.0.1:1/base/starpost/v1/apps/shop/reviews/12/publication",
          input: { review_id: 12, published: false, reason: "hidden with the starpost command" },
        },
      ],
    });
    expect((await run(["webhooks", "create", "ftp://x", "--dry-run"], { env: env() })).status).toBe(1);
  });

  test("does not print passwords", async () => {
    const { stdout } = await run(["api", "POST", "/users", "--input", "-", "--dry-run"], {
      env: env(),
      stdin: '{"user":{"password":"hunter2","email":"a@b.example"}}',
    });
    expect(stdout).toContain("$STARPOST_PASSWORD");
    expect(stdout).not.toContain("hunter2");
  });
});

test("formats methods, headers, and bodies for the shell", () => {
  const call = { operation: undefined, baseUrl: "https://api.example", headers: { accept: "*/*" }, input: {} };
  expect(formatCurlCommand({ ...call, method: "GET", target: "/a[1]" })).toBe("curl -sS -g 'https://api.example/a[1]'");
  expect(formatCurlCommand({ ...call, method: "HEAD", target: "/" })).toBe("curl -sS --head 'https://api.example/'");
  const body = JSON.stringify(replaceSecrets({ client_secret: "x", a: [{ "user.password": "y", note: "it's" }] }));
  expect(formatCurlCommand({ ...call, method: "PUT", target: "/", headers: { a: "" }, body })).toBe(
    String.raw`curl -sS -X PUT 'https://api.example/' \
  -H 'a: ' \
  --data-raw '{"client_secret":"'"$STARPOST_SECRET"'","a":[{"user.password":"'"$STARPOST_PASSWORD"'","note":"it'\''s"}]}'`,
  );
});
