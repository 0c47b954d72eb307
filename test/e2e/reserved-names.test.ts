import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Home } from "../support/starpost.ts";

/** Property names of every object; `__proto__` is the only one that cannot be an own key everywhere. */
test("stores products whose IDs are property names of objects", async () => {
  const home = new Home();
  onTestFinished(() => home.remove());
  const ids = ["__proto__", "constructor", "toString", "hasOwnProperty"];
  const file = join(home.folder, "products.csv");
  const rows = ids.map((id) => `${id},Teapot,https://shop.example/${id}`);
  writeFileSync(file, ["product_id,name,url", ...rows, ""].join("\n"));
  const imported = await home.json(["products", "import", file]);
  expect(imported.exitCode).toBe(3);
  expect(imported.data.rows).toMatchObject({ accepted: 3, rejected: 1 });
  const listed = await home.json<{ external_id: string }[]>(["products", "list"]);
  expect(listed.data.map(({ external_id: id }) => id).toSorted()).toEqual(ids.slice(1).toSorted());
});
