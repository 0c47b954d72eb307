import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import type { App } from "../../src/app/ports.ts";
import type { ReportData } from "../../src/cli/commands/imports/report-run.ts";
import { loadBuilt } from "../support/built-program.ts";
import { makeFolder, run } from "./support.ts";

/** Loads the built application, because it starts a thread. */
const io = { loadApp: async () => loadBuilt<App>("app") };

const header = "order_id,email,customer_name,order_date,product_id,product_name,product_url";
const row = (id: number, email: string) => `${id},${email},Eva,2026-01-31,p${id},Tea,https://shop.example/p${id}`;

describe("the report of an import", () => {
  let folder = "";
  let id = "";
  let env: Record<string, string> = {};

  beforeEach(async () => {
    folder = makeFolder();
    env = { STARPOST_HOME: join(folder, "home") };
    const file = join(folder, "orders.csv");
    writeFileSync(file, [header, row(1, "eva@shop.example"), row(2, "nobody"), row(3, "<b>x</b>@")].join("\n"));
    const imported = await run(["orders", "import", file, "--json"], { env, io });
    id = (JSON.parse(imported.stdout) as { import_id: string }).import_id;
  });

  test("is a file in the folder of the run that only its owner can read", async () => {
    const { stdout, stderr, status } = await run(["imports", "report", id], { env });
    expect([status, stderr]).toEqual([0, ""]);
    const path = stdout.trimEnd();
    expect(path).toBe(join(folder, "home", "imports", id, "report.html"));
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const page = readFileSync(path, "utf8");
    expect(page).toContain("2 rows: <bdi>email</bdi>");
    expect(page).toContain("<title>Import of orders from orders.csv</title>");
    expect(page).toContain("&lt;b&gt;x&lt;/b&gt;@");
    expect(page).not.toContain("<b>x</b>");
  });

  test("prints the same data for scripts, without writing a file", async () => {
    const { stdout, status } = await run(["imports", "report", id.slice(0, 18), "--json"], { env });
    const report = JSON.parse(stdout) as ReportData;
    expect(status).toBe(0);
    expect(report).toMatchObject({
      import_id: id,
      rows: { read: 3, accepted: 1, rejected: 2, failed: 0 },
      rows_without_reason: 0,
      timeline: { has_retries_and_waits: true },
      verified: null,
      undone: null,
      report_file: null,
    });
    expect(report.reasons).toMatchObject([
      { code: "bad_email", column: "email", rows: 2, examples: [{ line: 3, value: "nobody" }, { line: 4 }] },
    ]);
    expect(report.timeline.points.reduce((sum, { calls }) => sum + calls, 0)).toBe(1);
    expect(existsSync(join(folder, "home", "imports", id, "report.html"))).toBe(false);
  });

  test("hides addresses with --redact", async () => {
    const out = join(folder, "page.html");
    await run(["unsubscribers", "import", "-", "--type", "1"], {
      env,
      io,
      stdin: "email\neva@shop.example\nmax@@shop.example\n",
    });
    const [last] = JSON.parse((await run(["imports", "list", "--json"], { env })).stdout) as {
      import_id: string;
    }[];
    const { status } = await run(["imports", "report", last?.import_id ?? "", "--out", out, "--redact"], { env });
    expect(status).toBe(0);
    const page = readFileSync(out, "utf8");
    expect(page).toContain("redacted.invalid");
    expect(page).not.toContain("max@@shop.example");
  });

  test("prompts before overwriting another file, but not an earlier report", async () => {
    const out = join(folder, "page.html");
    const argv = ["imports", "report", id, "--out", out, "--json"];
    expect((await run(argv, { env })).status).toBe(0);
    expect((await run(argv, { env })).status).toBe(0);
    writeFileSync(out, "mine");
    const { status, stderr } = await run(argv, { env });
    expect(status).not.toBe(0);
    expect(stderr).toContain("--yes");
    expect(readFileSync(out, "utf8")).toBe("mine");
  });

  test.runIf(process.platform === "linux")("is opened with the system's opener, or reports why not", async () => {
    const opener = join(folder, "xdg-open");
    writeFileSync(opener, `#!/bin/sh\necho "$1" > '${join(folder, "opened")}'\n`);
    chmodSync(opener, 0o755);
    const path = { PATH: `${folder}:/usr/bin:/bin` };
    const opened = await run(["imports", "report", id, "--open"], { env: { ...env, ...path } });
    expect(opened.stderr).toBe("");
    expect(readFileSync(join(folder, "opened"), "utf8")).toBe(opened.stdout);
    writeFileSync(opener, "#!/bin/sh\nexit 3\n");
    const failed = await run(["imports", "report", id, "--open"], { env: { ...env, ...path } });
    expect(failed.status).toBe(0);
    expect(failed.stderr).toMatch(/xdg-open.* 3.*report\.html/s);
  });

  test("fails for an unknown run and refers to the list", async () => {
    const { status, stderr } = await run(["imports", "report", "2" + "0".repeat(9)], { env });
    expect(status).toBe(1);
    expect(stderr).toMatch(/\nhint: .*imports list/);
  });
});
