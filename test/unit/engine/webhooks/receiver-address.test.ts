import { describe, expect, it } from "vitest";
import { explainRefusedAddress, explainRefusedUrl } from "../../../../src/engine/webhooks/receiver-address.ts";

/** Explains why a host is refused; undefined if it is allowed. */
const refusal = (url: string) => explainRefusedUrl(url, false)?.replace("is not allowed: ", "");

describe("webhook URLs", () => {
  it("accept public names and addresses", () => {
    for (const url of [
      "https://shop.example/hook?a=b#c",
      "http://shop.example:8080",
      "https://shop.example./",
      "https://xn--caf-dma.example/",
      "https://café.example/",
      "http://8.8.8.8/",
      "http://8.8.8.8:3000/",
      "http://[2606:4700::1111]/",
      "http://[::ffff:8.8.8.8]/",
      "http://[64:ff9b::8.8.8.8]/",
      "https://local.example/",
      "https://localhost.example/",
      "https://internal.shop.example/",
    ]) {
      expect(refusal(url), url).toBeUndefined();
    }
  });

  const loopback = "127.0.0.1 is a loopback address";
  const written: readonly (readonly [string, string])[] = [
    ["127.0.0.1", loopback],
    ["127.0.0.1.", loopback],
    ["127.1", loopback],
    ["127.0.1", loopback],
    ["2130706433", loopback],
    ["0x7f000001", loopback],
    ["0x7f.1", loopback],
    ["0x7f.0x0.0x0.0x1", loopback],
    ["0177.0.0.1", loopback],
    ["017700000001", loopback],
    ["%31%32%37.0.0.1", loopback],
    ["127。0。0。1", loopback],
    ["127．0．0．1", loopback],
    ["１２７.0.0.1", loopback],
    ["①②⑦.0.0.1", loopback],
    ["127.255.255.254", "127.255.255.254 is a loopback address"],
    ["0.0.0.0", "0.0.0.0 is an unspecified address"],
    ["0", "0.0.0.0 is an unspecified address"],
    ["0.1.2.3", "0.1.2.3 is an unspecified address"],
    ["10.0.0.1", "10.0.0.1 is a private address"],
    ["10.255.255.255", "10.255.255.255 is a private address"],
    ["0xa000001", "10.0.0.1 is a private address"],
    ["172.16.0.1", "172.16.0.1 is a private address"],
    ["172.31.255.255", "172.31.255.255 is a private address"],
    ["192.168.1.1", "192.168.1.1 is a private address"],
    ["3232235777", "192.168.1.1 is a private address"],
    ["169.254.169.254", "169.254.169.254 is a link-local address"],
    ["0xa9fea9fe", "169.254.169.254 is a link-local address"],
    ["100.64.0.1", "100.64.0.1 is a carrier-grade NAT address"],
    ["100.100.100.200", "100.100.100.200 is a carrier-grade NAT address"],
    ["168.63.129.16", "168.63.129.16 is a reserved address"],
    ["192.0.0.192", "192.0.0.192 is a reserved address"],
    ["192.0.2.1", "192.0.2.1 is a reserved address"],
    ["192.88.99.1", "192.88.99.1 is a reserved address"],
    ["198.18.0.1", "198.18.0.1 is a reserved address"],
    ["198.51.100.7", "198.51.100.7 is a reserved address"],
    ["203.0.113.7", "203.0.113.7 is a reserved address"],
    ["224.0.0.1", "224.0.0.1 is a multicast address"],
    ["240.0.0.1", "240.0.0.1 is a reserved address"],
    ["255.255.255.255", "255.255.255.255 is a broadcast address"],
    ["[::]", ":: is an unspecified address"],
    ["[::1]", "::1 is a loopback address"],
    ["[0:0:0:0:0:0:0:1]", "::1 is a loopback address"],
    ["[::ffff:7f00:1]", `::ffff:7f00:1 contains an IPv4 address: ${loopback}`],
    ["[::ffff:127.0.0.1]", `::ffff:7f00:1 contains an IPv4 address: ${loopback}`],
    ["[::ffff:10.0.0.1]", "::ffff:a00:1 contains an IPv4 address: 10.0.0.1 is a private address"],
    ["[::ffff:a9fe:a9fe]", "::ffff:a9fe:a9fe contains an IPv4 address: 169.254.169.254 is a link-local address"],
    ["[64:ff9b::7f00:1]", `64:ff9b::7f00:1 contains an IPv4 address: ${loopback}`],
    ["[64:ff9b::10.0.0.1]", "64:ff9b::a00:1 contains an IPv4 address: 10.0.0.1 is a private address"],
    ["[64:ff9b:1::808:808]", "64:ff9b:1::808:808 is a reserved address"],
    ["[::7f00:1]", "::7f00:1 is a reserved address"],
    ["[::ffff:0:7f00:1]", "::ffff:0:7f00:1 is a reserved address"],
    ["[2002:7f00:1::]", "2002:7f00:1:: is a reserved address"],
    ["[2001:0:4136:e378:8000:63bf:80ff:fffe]", "2001:0:4136:e378:8000:63bf:80ff:fffe is a reserved address"],
    ["[2001:db8::1]", "2001:db8::1 is a reserved address"],
    ["[100::1]", "100::1 is a reserved address"],
    ["[fc00::1]", "fc00::1 is a private address"],
    ["[fd00:ec2::254]", "fd00:ec2::254 is a private address"],
    ["[fe80::1]", "fe80::1 is a link-local address"],
    ["[fec0::1]", "fec0::1 is a reserved address"],
    ["[ff02::1]", "ff02::1 is a multicast address"],
    ["[4000::1]", "4000::1 is a reserved address"],
    ["[1::1]", "1::1 is a reserved address"],
    ["localhost", "localhost is a name in a private network"],
    ["LOCALHOST", "localhost is a name in a private network"],
    ["localhost.", "localhost is a name in a private network"],
    ["localhost..", "localhost is a name in a private network"],
    ["ⓛocalhost", "localhost is a name in a private network"],
    ["shop.localhost", "shop.localhost is a name in a private network"],
    ["localhost.localdomain", "localhost.localdomain is a name in a private network"],
    ["ip6-localhost", "ip6-localhost is a name in a private network"],
    ["postgres", "postgres is a name in a private network"],
    ["printer.local", "printer.local is a name in a private network"],
    ["router.lan", "router.lan is a name in a private network"],
    ["nas.home.arpa", "nas.home.arpa is a name in a private network"],
    ["metadata.google.internal", "metadata.google.internal is a name in a private network"],
    ["metadata.google.internal.", "metadata.google.internal is a name in a private network"],
  ];
  it.each(written)("reject http://%s/", (host, why) => {
    expect(refusal(`http://${host}/`)).toBe(why);
    expect(refusal(`https://${host}:8443/hook`)).toBe(why);
    expect(explainRefusedUrl(`http://${host}/`, true)).toBeUndefined();
  });

  it("reject other schemes, credentials, and ports of other services, whatever is allowed", () => {
    const wrong: readonly (readonly [string, string])[] = [
      ["ftp://shop.example/", "must use http or https"],
      ["file:///etc/passwd", "must use http or https"],
      ["gopher://shop.example/", "must use http or https"],
      ["data:text/plain,a", "must use http or https"],
      ["https://user@shop.example/", "must not contain a user name or password"],
      ["https://user:secret@shop.example/", "must not contain a user name or password"],
      ["https://:secret@shop.example/", "must not contain a user name or password"],
      ["http://shop.example:25/", "must not use port 25, which belongs to another protocol"],
      ["http://shop.example:22/", "must not use port 22, which belongs to another protocol"],
      ["http://shop.example:6000/", "must not use port 6000, which belongs to another protocol"],
      ["http://shop.example:0/", "must not use port 0, which belongs to another protocol"],
      ["shop.example/hook", "is not a valid URL"],
      ["http://[::1%25eth0]/", "is not a valid URL"],
      ["http://1.2.3.256/", "is not a valid URL"],
    ];
    for (const [url, why] of wrong) {
      expect(explainRefusedUrl(url, false), url).toBe(why);
      expect(explainRefusedUrl(url, true), url).toBe(why);
    }
  });
});

describe("resolved addresses", () => {
  it("are checked with and without a zone", () => {
    expect(explainRefusedAddress("8.8.4.4")).toBeUndefined();
    expect(explainRefusedAddress("2a00:1450:4001::200e")).toBeUndefined();
    expect(explainRefusedAddress("fe80::1%eth0")).toBe("fe80::1%eth0 is a link-local address");
    expect(explainRefusedAddress("::ffff:192.168.0.1")).toContain("192.168.0.1 is a private address");
    expect(explainRefusedAddress("shop.example")).toBe("shop.example is not an IP address");
    expect(explainRefusedAddress("")).toBe(" is not an IP address");
  });
});
