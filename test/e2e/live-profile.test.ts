import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Homes } from "../support/starpost.ts";

const homes = new Homes();
const service = homes.open();
const home = homes.open();
let server: Awaited<ReturnType<typeof service.serve>>;

/** Matches the name and URL of a live profile at the start of a prompt. */
const liveProfile = (name: string) => new RegExp(`${name} \\(live, http://127\\.0\\.0\\.1:\\d+\\): `);

beforeAll(async () => {
  server = await service.serve();
  const login = ["auth", "login", "--base-url", server.url, "--app-key", server.app_key, "--secret-stdin"];
  for (const name of ["test", "shop"]) {
    const ran = await home.run([...login, "--profile", name], { input: server.secret });
    expect(ran.exitCode).toBe(0);
  }
  const file = join(home.folder, "profiles.json");
  const stored = JSON.parse(readFileSync(file, "utf8")) as { profiles: { shop: object } };
  Object.assign(stored.profiles.shop, { live: true });
  writeFileSync(file, JSON.stringify(stored));
  writeFileSync(join(home.folder, "p.csv"), "product_id,name,url\n1,Tea,https://shop.example/1\n");
  writeFileSync(join(home.folder, "o.csv"), "order_id,email\n");
  writeFileSync(
    join(home.folder, "t.liquid"),
    "=== subject ===\nThanks\n=== text ===\nHi {{ unsubscribe_url }}\n=== html ===\n<p>Hi {{ unsubscribe_url }}</p>\n",
  );
  writeFileSync(join(home.folder, "u.csv"), "email\na@x.example\n");
  writeFileSync(join(home.folder, "v.csv"), "email\nb@x.example\n");
});

afterAll(async () => {
  await server.stop();
  homes.remove();
});

const file = (name: string) => join(home.folder, name);

describe("a live profile", () => {
  test("is named once by commands that write, and not by commands that read", async () => {
    const imported = await home.run(["products", "import", file("p.csv"), "--yes"]);
    expect(imported.exitCode).toBe(0);
    expect(imported.stderr.match(/Writing to shop \(live, http:\/\/127\.0\.0\.1:\d+\)\./g)).toHaveLength(1);
    const webhook = await home.run(["webhooks", "create", "https://hook.example/x"]);
    expect(webhook.stderr).toContain("shop (live,");
    const listed = await home.run(["webhooks", "list"]);
    expect(listed.stderr).not.toContain("Writing to");
    const elsewhere = await home.run(["products", "import", file("p.csv"), "--update", "--profile", "test"]);
    expect(elsewhere).toMatchObject({ exitCode: 0, stderr: expect.not.stringContaining("Writing to") });
  });

  test("prompts before overwriting or deleting, except in a dry run", async () => {
    await home.run(["unsubscribers", "import", file("u.csv"), "--type", "1"]);
    const commands = [
      ["products", "import", file("p.csv"), "--update"],
      ["orders", "import", file("o.csv"), "--send-mail"],
      ["mail", "templates", "edit", "map", "--file", file("t.liquid")],
      ["api", "products.massCreate", "--products", "{}"],
      ["api", "PUT", "/starpost/v1/apps/{app_key}/promoted_products", "--raw-field", "product_ids[]=1"],
      ["api", "POST", "/not/known"],
      ["unsubscribers", "import", file("u.csv"), "--type", "1", "--remove"],
      ["mail", "provider-events", "--rotate"],
    ];
    for (const command of commands) {
      const ran = await home.json(command);
      expect([command, ran.exitCode, ran.stdout]).toEqual([command, 2, ""]);
      const { error } = JSON.parse(ran.stderr) as { error: { message: string; hint: string } };
      expect(error.message).toMatch(liveProfile("shop"));
      expect(error.hint).toContain("--yes");
    }
    const dry = await home.json([...(commands[0] ?? []), "--dry-run"]);
    expect(dry).toMatchObject({ exitCode: 0, stderr: "" });
  });

  test("prompts before undoing a run, and before applying a plan that overwrites", async () => {
    const { data } = await home.json(["unsubscribers", "import", file("v.csv"), "--type", "1"]);
    const undo = await home.json(["imports", "undo", data.import_id]);
    expect([undo.exitCode, undo.stderr]).toEqual([2, expect.stringContaining("shop (live,")]);
    const plan = ["products", "plan", file("p.csv"), "--update", "--out", file("plan.json")];
    const planned = await home.run(plan);
    expect(planned.exitCode, planned.stderr).toBe(0);
    const apply = await home.json(["imports", "apply", file("plan.json")]);
    expect([apply.exitCode, apply.stderr]).toEqual([2, expect.stringContaining("shop (live,")]);
    expect((await home.json(["imports", "apply", file("plan.json"), "--yes"])).exitCode).toBe(0);
  });

  test("prompts before resuming a run that overwrites", async () => {
    writeFileSync(file("bad.csv"), "product_id,name,url\n2,Pot,https://shop.example/2\n3,,https://shop.example/3\n");
    const stopped = await home.json(["products", "import", file("bad.csv"), "--max-errors", "0", "--yes"]);
    expect([stopped.exitCode, stopped.data.state]).toEqual([6, "stopped"]);
    const resume = ["imports", "resume", stopped.data.import_id, "--max-errors", "5"];
    const refused = await home.json(resume);
    expect([refused.exitCode, refused.stderr]).toEqual([2, expect.stringContaining("shop (live,")]);
    expect((await home.json([...resume, "--yes"])).exitCode).toBe(3);
    expect((await home.json(resume)).exitCode).toBe(3);
  });
});
