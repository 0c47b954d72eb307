import { describe, expect, test } from "vitest";
import { findBlocking, parsePolicies, policyDirectives } from "../../../../src/doctor/shop/content-security-policy.ts";

const page = new URL("https://shop.example/teapot");
const script = {
  url: new URL("https://reviews.shop.example/starpost/v1/elements.js?app_key=k"),
  directives: policyDirectives.script,
};

const blockingOf = (policy: string, request: Parameters<typeof findBlocking>[1] = script, from = page) =>
  parsePolicies(policy).map((one) => findBlocking(one, request, from));

describe("findBlocking", () => {
  test.each([
    "",
    "img-src 'none'",
    "script-src https://reviews.shop.example",
    "script-src reviews.shop.example",
    "SCRIPT-SRC REVIEWS.SHOP.EXAMPLE",
    "script-src *.shop.example",
    "script-src http://reviews.shop.example",
    "script-src https:",
    "script-src *",
    "script-src reviews.shop.example:443",
    "script-src reviews.shop.example:*",
    "script-src reviews.shop.example/starpost/v1/",
    "script-src reviews.shop.example/starpost/v1/elements.js",
    "script-src 'self'; script-src-elem reviews.shop.example",
    "default-src 'none'; script-src reviews.shop.example; script-src 'none'",
  ])("allows the script: %s", (policy) => {
    expect(blockingOf(policy).filter(Boolean)).toEqual([]);
  });

  test.each([
    ["script-src", "script-src"],
    ["script-src 'none'", "script-src"],
    ["default-src 'self'", "default-src"],
    ["script-src shop.example", "script-src"],
    ["script-src *.reviews.shop.example", "script-src"],
    ["script-src reviews.shop.example:8443", "script-src"],
    ["script-src reviews.shop.example/static/", "script-src"],
    ["script-src reviews.shop.example/starpost/v1", "script-src"],
    ["script-src 'strict-dynamic' 'nonce-a' https:", "script-src"],
    ["script-src *; script-src-elem 'self'", "script-src-elem"],
    ["script-src evilreviews.shop.example", "script-src"],
    ["script-src 'unsafe-inline' data: blob:", "script-src"],
  ])("blocks the script: %s", (policy, directive) => {
    expect(blockingOf(policy)).toEqual([directive]);
  });

  test("allows scripts by nonce and by integrity", () => {
    const policy = "script-src 'strict-dynamic' 'nonce-abc' 'sha384-x'";
    expect(blockingOf(policy, { ...script, nonce: "abc" })).toEqual([undefined]);
    expect(blockingOf(policy, { ...script, nonce: "other" })).toEqual(["script-src"]);
    expect(blockingOf(policy, { ...script, integrity: "sha384-x" })).toEqual([undefined]);
    expect(blockingOf(policy, { ...script, integrity: "sha384-x sha384-y" })).toEqual(["script-src"]);
  });

  test("allows scripts that a trusted script imports", () => {
    const imported = { ...script, isImported: true };
    expect(blockingOf("script-src 'strict-dynamic' 'sha384-x'", imported)).toEqual([undefined]);
    expect(blockingOf("script-src 'sha384-x'", imported)).toEqual(["script-src"]);
  });

  test("checks each policy of a header, and 'self' with the port", () => {
    expect(blockingOf("script-src *, script-src 'self'")).toEqual([undefined, "script-src"]);
    const local = { ...script, url: new URL("http://127.0.0.1:8080/a.js") };
    expect(blockingOf("script-src 'self'", local, new URL("http://127.0.0.1:8080/"))).toEqual([undefined]);
    expect(blockingOf("script-src 'self'", local, new URL("http://127.0.0.1:3000/"))).toEqual(["script-src"]);
  });
});
