import { describe, expect, it } from "vitest";
import { findProxy } from "../../../src/config/proxy-settings.ts";

const service = "https://api.shop.example/v1";

describe("findProxy", () => {
  it.each<[Record<string, string>, string, string | undefined]>([
    [{}, service, undefined],
    [{ HTTPS_PROXY: "http://p:3128" }, service, "http://p:3128"],
    [{ HTTPS_PROXY: "http://p:3128" }, "http://api.shop.example", undefined],
    [{ HTTP_PROXY: "http://p:3128" }, service, undefined],
    [{ HTTP_PROXY: "http://p:3128" }, "http://api.shop.example", "http://p:3128"],
    [{ ALL_PROXY: "http://all:1" }, service, "http://all:1"],
    [{ all_proxy: "http://all:1", HTTPS_PROXY: "https://p" }, service, "https://p"],
    [{ HTTPS_PROXY: "http://capital:1", https_proxy: "http://small:1" }, service, "http://small:1"],
    [{ https_proxy: "", HTTPS_PROXY: "http://p:1" }, service, "http://p:1"],
    [{ HTTPS_PROXY: "p.example:3128" }, service, "http://p.example:3128"],
    [{ HTTPS_PROXY: "user:secret@p.example:3128" }, service, "http://p.example:3128"],
    [{ HTTPS_PROXY: "http://[::1]:3128/" }, service, "http://[::1]:3128"],
  ])("%o, %s: %s", (env, address, expected) => {
    expect(findProxy(env, address)?.address).toBe(expected);
  });

  it("decodes credentials and removes them from the address", () => {
    const found = findProxy({ HTTPS_PROXY: "http://m%40x:p%23%C3%BC%zz@p:1" }, service);
    expect(found).toEqual({
      address: "http://p:1",
      authorization: `Basic ${Buffer.from("m@x:p%23%C3%BC%zz").toString("base64")}`,
      variable: "HTTPS_PROXY",
    });
    expect(findProxy({ HTTPS_PROXY: "http://m:p%23%C3%BC@p:1" }, service)?.authorization).toBe(
      `Basic ${Buffer.from("m:p#ü").toString("base64")}`,
    );
  });

  it.each([
    "socks5://user:hidden@p:1080",
    "http://user:hid#den@p:3128",
    "http://user:hidden@:3128",
    "http://user:hidden@p:3128/pac",
  ])("rejects %s without showing it", (value) => {
    const find = () => findProxy({ HTTPS_PROXY: value }, service);
    expect(find).toThrow(/\bHTTPS_PROXY\b/);
    expect(find).not.toThrow(/hid/);
  });
});

describe("NO_PROXY", () => {
  it.each<[string, string, boolean]>([
    ["*", service, true],
    ["other.example, *", service, true],
    ["api.shop.example", service, true],
    ["API.Shop.Example.", service, true],
    ["shop.example", service, true],
    [".shop.example", service, true],
    ["*.shop.example", service, true],
    [".shop.example", "https://shop.example", true],
    ["shop.example", "https://webshop.example", false],
    ["pi.shop.example", service, false],
    ["example.com shop.example", service, true],
    ["shop.example:443", service, true],
    ["shop.example:8443", service, false],
    ["shop.example:8443", "https://shop.example:8443", true],
    ["10.1.2.3", "https://10.1.2.3", true],
    ["10.1.2.3", "https://10.1.2.30", false],
    ["2.3", "https://10.1.2.3", false],
    ["10.0.0.0/8", "https://10.1.2.3:8443", true],
    ["10.0.0.0/8", "https://11.1.2.3", false],
    ["10.0.0.0/8", service, false],
    ["10.0.0.0/40", "https://10.1.2.3", false],
    ["2001:db8::1", "https://[2001:db8::1]", true],
    ["[2001:db8::1]:8443", "https://[2001:db8::1]:8443", true],
    ["[2001:db8::1]:8443", "https://[2001:db8::1]", false],
    ["2001:db8::/32", "https://[2001:db8:1::1]", true],
    ["2001:db8::/32", "https://[2001:db9::1]", false],
    ["müller.example", "https://müller.example", true],
    ["", service, false],
  ])("%j matches %s: %s", (exceptions, address, isDirect) => {
    const env = { ALL_PROXY: "http://p:1", NO_PROXY: exceptions };
    expect(findProxy(env, address) === undefined).toBe(isDirect);
  });

  it("includes loopback addresses unless it contains <-loopback>", () => {
    const loopback = [
      "http://127.0.0.1:8080",
      "https://127.9.9.9",
      "http://localhost:8080",
      "http://shop.localhost",
      "http://[::1]:8080",
      "http://[::ffff:127.0.0.1]",
      "http://2130706433",
    ];
    for (const address of loopback) {
      expect(findProxy({ ALL_PROXY: "http://p:1" }, address), address).toBeUndefined();
      expect(findProxy({ ALL_PROXY: "http://p:1", no_proxy: "<-loopback>" }, address), address).toBeDefined();
    }
    expect(findProxy({ ALL_PROXY: "http://p:1" }, "http://localhost.example")).toBeDefined();
  });
});
