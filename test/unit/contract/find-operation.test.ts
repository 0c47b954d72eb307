import { describe, expect, it } from "vitest";
import { findOperation } from "../../../src/contract/find-operation.ts";
import { operations } from "../../../src/contract/index.ts";

const every = [...operations].flatMap(([operation, { method, paths, htmlPaths = [] }]) =>
  [...paths, ...htmlPaths].map((path) => [method, path, operation] as const),
);

/** Calls of the same method may share a path, of which the first is meant. */
const shared = new Map(
  every.toReversed().map(([method, path, operation]) => [`${method} ${path}`, operation]),
);

describe("the call of a method and a path", () => {
  it.each(every)("%s %s is %s", (method, path) => {
    const filled = path.replaceAll(/\{(\w+)\}/g, "x-$1");
    const found = findOperation(method, filled);
    expect(found?.operation).toBe(shared.get(`${method} ${path}`));
    expect(found?.pathInput).toEqual(
      Object.fromEntries([...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => [name, `x-${name}`])),
    );
    expect(findOperation(method, `${filled}/`)?.operation).toBe(found?.operation);
  });

  it("takes a HEAD for a GET, and escaped parts for what they mean", () => {
    const found = findOperation("HEAD", "/v1/apps/key/products_groups/a%2Fb%20c");
    expect(found).toMatchObject({
      operation: "groups.get",
      pathInput: { app_key: "key", group_name: "a/b c" },
    });
  });

  it("knows a fixed path with `.json` and without, and no other method or path", () => {
    expect(findOperation("GET", "/apps/key/purchases.json")?.operation).toBe("orders.list");
    expect(findOperation("PATCH", "/apps/key/purchases")).toBeUndefined();
    expect(findOperation("GET", "/apps/key/purchases/more")).toBeUndefined();
    expect(findOperation("GET", "/healthz")).toBeUndefined();
  });
});
