import { expect, test } from "vitest";
import { makeFolder, run } from "./support.ts";

test.each(["--input", "--products"])("%s rejects a field that would be lost", async (flag) => {
  const products = '{"__proto__": {"name": "Teapot", "url": "https://shop.example"}}';
  const env = { STARPOST_HOME: makeFolder() };
  const isFile = flag === "--input";
  const argv = ["api", "products.massCreate", flag, isFile ? "-" : products];
  const stdin = `{"products": ${products}}`;
  const { status, stderr } = await run(argv, { env, ...(isFile && { stdin }) });
  expect(status).toBe(2);
  expect(stderr).toMatch(/^error: .*__proto__/);
});
