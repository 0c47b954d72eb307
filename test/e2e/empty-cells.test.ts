import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Homes, remoteEnv } from "../support/starpost.ts";

const homes = new Homes();
afterAll(() => homes.remove());

const header = "product_id,name,url,description,price,sku\n";
const full = `${header}p-1,One,https://s.example/1,First words,1.50,s1\np-2,Two,https://s.example/2,Second words,2.50,s2\n`;
const emptied = `${header}p-1,One,https://s.example/1,,,s1\np-2,Two,https://s.example/2,New words,3.50,s2\n`;

type Store = Awaited<ReturnType<ReturnType<Homes["open"]>["serve"]>>;

/** Reads the products of a served account over HTTP. */
async function readProducts(server: Store, utoken: string): Promise<Map<string, Record<string, unknown>>> {
  const reply = await fetch(`${server.url}/core/v3/stores/${server.app_key}/products`, {
    headers: { "X-Service-Token": utoken },
  });
  const { products } = (await reply.json()) as { products: Record<string, unknown>[] };
  return new Map(products.map((product) => [String(product["external_id"]), product]));
}

describe("products import --update into a served account", () => {
  const home = homes.open();
  let server: Store;
  let env: Record<string, string>;
  let utoken = "";
  const write = (name: string, content: string) => {
    const path = join(home.folder, name);
    writeFileSync(path, content);
    return path;
  };

  beforeAll(async () => {
    server = await home.serve();
    env = remoteEnv(server);
    utoken = (await home.run(["auth", "token"], { env })).stdout.trim();
  });
  afterAll(async () => {
    await server.stop();
  });

  const fill = () => home.run(["products", "import", write("full.csv", full)], { env });

  test("--empty clear erases the description, and lists the fields that it cannot erase", async () => {
    await fill();
    const before = (await readProducts(server, utoken)).get("p-1");
    const args = ["products", "import", write("emptied.csv", emptied), "--update", "--empty", "clear"];
    const { exitCode, stderr } = await home.run(args, { env });
    expect(exitCode).toBe(0);
    expect(stderr).toMatch(/1 empty cell .*description.*emptied\.csv:2/);
    expect(stderr).toMatch(/1 cell .* price: /);
    const stored = await readProducts(server, utoken);
    expect(stored.get("p-1")?.["description"]).toBeNull();
    expect(stored.get("p-1")?.["price"]).toBe(before?.["price"]);
    expect(stored.get("p-2")).toMatchObject({ description: "New words" });
  });

  test("--empty error rejects the row, and accepts the corrected row", async () => {
    await fill();
    const args = ["products", "import", write("emptied.csv", emptied), "--update", "--empty", "error"];
    const { exitCode, data, stderr } = await home.json(args, { env });
    expect(exitCode).toBe(3);
    expect(data.rows).toEqual({ read: 2, accepted: 1, rejected: 1, failed: 0 });
    expect(stderr).toMatch(/1 row: description .*emptied\.csv:2/);
    const rejects = readFileSync(data.rejects_file ?? "", "utf8");
    const [row]: Record<string, string>[] = parse(rejects, { columns: true });
    expect(row).toMatchObject({ _line: "2", _column: "description", _code: "empty_cell", product_id: "p-1" });
    expect(row?.["_reason"]).toMatch(/description .*; price .*--empty keep$/);
    expect((await readProducts(server, utoken)).get("p-1")).toMatchObject({ description: "First words" });
    const corrected = write(
      "corrected.csv",
      rejects.replace("https://s.example/1,,,", "https://s.example/1,Corrected,4,"),
    );
    const again = ["products", "import", corrected, "--update", "--empty", "error"];
    expect((await home.run(again, { env })).exitCode).toBe(0);
    expect((await readProducts(server, utoken)).get("p-1")).toMatchObject({ description: "Corrected" });
  });
});

describe("the embedded engine", () => {
  const home = homes.open();
  const write = (name: string, content: string) => {
    const path = join(home.folder, name);
    writeFileSync(path, content);
    return path;
  };

  test("resumes a run with the same value of --empty", async () => {
    await home.run(["products", "import", write("full.csv", full)]);
    const bad = `${emptied}${"p-3,,x,,,\n".repeat(3)}`;
    const file = write("stopped.csv", bad);
    const args = ["products", "import", file, "--update", "--empty", "clear", "--max-errors", "0", "--json"];
    const stopped = await home.run(args);
    expect(stopped.exitCode).toBe(6);
    const { import_id } = JSON.parse(stopped.stdout) as { import_id: string };
    const resumed = await home.run(["imports", "resume", import_id, "--max-errors", "10"]);
    expect(resumed.exitCode).toBe(3);
    expect(resumed.stderr).toMatch(/1 empty cell .*description/);
  });

  test("accepts an empty type of an unsubscriber, except with --empty error", async () => {
    const file = write("u.csv", "email,email_type_id\na@example.com,\n");
    expect((await home.run(["unsubscribers", "import", file, "--type", "1"])).exitCode).toBe(0);
    const cleared = await home.run(["unsubscribers", "import", file, "--type", "1", "--empty", "clear"]);
    expect(cleared.exitCode).toBe(0);
    expect(cleared.stderr).toMatch(/email_type_id: .*--type/);
    expect((await home.run(["unsubscribers", "import", file, "--type", "1", "--empty", "error"])).exitCode).toBe(3);
  });
});
