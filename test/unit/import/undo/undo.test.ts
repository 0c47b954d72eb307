import { mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { kinds } from "../../../support/record-kinds.ts";
import { startImport } from "../../../../src/import/import.ts";
import type { ImportDeps } from "../../../../src/import/deps.ts";
import { undoImport } from "../../../../src/import/undo/undo.ts";
import { createService } from "../../../../src/service/service.ts";
import type { Transport } from "../../../../src/service/transport.ts";
import { useTemporaryFolder } from "../../../support/temporary-folder.ts";

const folder = useTemporaryFolder();

/** Creates a store of products with names and URLs, and the dependencies of an import and its undo. */
function openStore(names: Record<string, string>) {
  const held = new Map(Object.entries(names));
  const time = { ms: Date.parse("2026-01-01T00:00:00Z") };
  const transport: Transport = {
    call: async (operation, input) => {
      if (operation === "core.listProducts") {
        const products = [...held].map(([external_id, name]) => ({
          external_id,
          name,
          url: `https://shop.example/${external_id}`,
        }));
        return { products, pagination: { next_page_info: null } } as never;
      }
      if (operation !== "products.massUpdate") throw new Error(`unexpected call of ${operation}`);
      const { products } = input as { products: Record<string, { name?: string }> };
      for (const [id, { name }] of Object.entries(products)) if (name !== undefined) held.set(id, name);
      return { code: 200, message: "OK" } as never;
    },
    close: async () => {},
  };
  const deps: ImportDeps = {
    kinds,
    openService: async () => ({
      service: createService(transport, {}),
      concurrency: 1,
      keepsOrder: true,
      close: async () => {},
    }),
    profileName: "test",
    target: "test",
    runsFolder: mkdtempSync(join(folder, "runs-")),
    clock: () => time.ms,
    random: (bytes) => Buffer.alloc(bytes, 7),
    stdin: Readable.from([]),
    cwd: folder,
    version: "0.0.0",
    stop: new AbortController().signal,
    abort: new AbortController().signal,
    report: () => {},
  };
  return { held, deps, time };
}

test.each([
  ["an error while the run stops is an error", true, new Error("no"), "no"],
  ["an abort that nobody asked for is an error", false, new DOMException("aborted", "AbortError"), "aborted"],
  ["an abort because the run stops ends it", true, new DOMException("aborted", "AbortError"), undefined],
])("%s", async (_what, stops, error, message) => {
  const { deps } = openStore({ a: "Old A" });
  const path = join(folder, "products.csv");
  writeFileSync(path, "product_id,name,url\na,New A,https://shop.example/a\n");
  const options = { dryRun: false, map: {}, update: true, undoable: true };
  const { import_id } = await startImport({ kind: "products", files: [path], options }, deps);
  const stop = new AbortController();
  const confirm = async () => {
    if (stops) stop.abort();
    throw error;
  };
  const request = { isPlan: false, maxListed: 10, listsExceptions: false, confirm };
  const undone = undoImport(import_id ?? "", request, { ...deps, stop: stop.signal });
  if (message === undefined) expect(await undone).toMatchObject({ state: "interrupted" });
  else await expect(undone).rejects.toThrow(message);
});

test("changes made by others during the prompt are kept", async () => {
  const { held, deps, time } = openStore({ a: "Old A", b: "Old B" });
  const path = join(folder, "products.csv");
  writeFileSync(path, "product_id,name,url\na,New A,https://shop.example/a\nb,New B,https://shop.example/b\n");
  const options = { dryRun: false, map: {}, update: true, undoable: true };
  const { import_id, rows } = await startImport({ kind: "products", files: [path], options }, deps);
  expect([rows.accepted, held.get("a"), held.get("b")]).toEqual([2, "New A", "New B"]);
  const undone = await undoImport(
    import_id ?? "",
    {
      isPlan: false,
      maxListed: 10,
      listsExceptions: false,
      confirm: async ({ reversed }) => {
        expect(reversed).toBe(2);
        held.set("b", "Newer B");
        time.ms += 60_000;
      },
    },
    deps,
  );
  expect(undone).toMatchObject({ state: "finished", reversed: 1, kept: 1 });
  expect([held.get("a"), held.get("b")]).toEqual(["Old A", "Newer B"]);
});
