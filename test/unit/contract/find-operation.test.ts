import { describe, expect, it } from "vitest";
import { findOperation } from "../../../src/contract/find-operation.ts";
import { operations } from "../../../src/contract/index.ts";

const every = [...operations].flatMap(([operation, { method, paths, htmlPaths = [] }]) =>
  [...paths, ...htmlPaths].map((path) => [method, path, operation] as const),
);

/** If operations share a method and a path, the first one wins. */
const shared = new Map(every.toReversed().map(([method, path, operation]) => [`${method} ${path}`, operation]));

describe("findOperation", () => {
  it.each(every)("%s %s is %s", (method, path) => {
    const filled = path.replaceAll(/\{(\w+)\}/g, "x-$1");
    const found = findOperation(method, filled);
    expect(found?.operation).toBe(shared.get(`${method} ${path}`));
    expect(found?.pathInput).toEqual(
      Object.fromEntries([...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => [name, `x-${name}`])),
    );
    expect(findOperation(method, `${filled}/`)?.operation).toBe(found?.operation);
  });

  it("treats HEAD as GET, and decodes path segments", () => {
    const found = findOperation("HEAD", "/v1/apps/key/products_groups/a%2Fb%20c");
    expect(found).toMatchObject({ operation: "groups.get", pathInput: { app_key: "key", group_name: "a/b c" } });
  });

  it("accepts fixed paths with and without `.json`, and no other methods or paths", () => {
    expect(findOperation("GET", "/apps/key/purchases.json")?.operation).toBe("orders.list");
    expect(findOperation("PATCH", "/apps/key/purchases")).toBeUndefined();
    expect(findOperation("GET", "/apps/key/purchases/more")).toBeUndefined();
    expect(findOperation("GET", "/healthz")).toBeUndefined();
  });
});
