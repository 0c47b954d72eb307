import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { cacheControlOf, operations } from "../../../src/contract/index.ts";

it("the documentation states the Cache-Control header of every call that caches may store", async () => {
  const page = await readFile("docs/reference/api.md", "utf8");
  const [, section = ""] = page.split("\n## Caching\n");
  const documented = [...section.matchAll(/^\| (`.*) \| `(.*)` \|$/gm)].flatMap(([, calls = "", control = ""]) =>
    [...calls.matchAll(/`(\w+\.\w+)`/g)].map(([, name]) => [name, control]),
  );
  const declared = [...operations].flatMap(([name, endpoint]) =>
    endpoint.caching ? [[name, cacheControlOf(endpoint)]] : [],
  );
  expect(Object.fromEntries(documented)).toEqual(Object.fromEntries(declared));
});
