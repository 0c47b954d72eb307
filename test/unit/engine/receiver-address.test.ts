import { describe, expect, it } from "vitest";
import { explainRefusedAddress, explainRefusedUrl } from "../../../src/engine/webhooks/receiver-address.ts";

/** Why an address that a host is written as is refused; nothing where it may be subscribed. */
const refusal = (url: string) =>
  explainRefusedUrl(url, false)?.replace("leads where nothing is sent to: ", "");

describe("addresses of webhooks", () => {
  it("are those of the internet, by name or number", () => {
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

  const itself = "127.0.0.1 is an address of the machine itself";
  const written: readonly (readonly [string, string])[] = [
    ["127.0.0.1", itself],
    ["127.0.0.1.", itself],
    ["127.1", itself],
    ["127.0.1", itself],
    ["2130706433", itself],
    ["0x7f000001", itself],
    ["0x7f.1", itself],
    ["0x7f.0x0.0x0.0x1", itself],
    ["0177.0.0.1", itself],
    ["017700000001", itself],
    ["%31%32%37.0.0.1", itself],
    ["127。0。0。1", itself],
    ["127．0．0．1", itself],
    ["１２７.0.0.1", itself],
    ["①②⑦.0.0.1", itself],
    ["127.255.255.254", "127.255.255.254 is an address of the machine itself"],
    ["0.0.0.0", "0.0.0.0 is an address of the machine itself"],
    ["0", "0.0.0.0 is an address of the machine itself"],
    ["0.1.2.3", "0.1.2.3 is an address of the machine itself"],
    ["10.0.0.1", "10.0.0.1 is a private address"],
    ["10.255.255.255", "10.255.255.255 is a private address"],
    ["0xa000001", "10.0.0.1 is a private address"],
    ["172.16.0.1", "172.16.0.1 is a private address"],
    ["172.31.255.255", "172.31.255.255 is a private address"],
    ["192.168.1.1", "192.168.1.1 is a private address"],
    ["3232235777", "192.168.1.1 is a private address"],
    ["169.254.169.254", "169.254.169.254 is a link-local address"],
    ["0xa9fea9fe", "169.254.169.254 is a link-local address"],
    ["100.64.0.1", "100.64.0.1 is an address inside of a provider's network"],
    ["100.100.100.200", "100.100.100.200 is an address inside of a provider's network"],
    ["168.63.129.16", "168.63.129.16 is an address that is reserved"],
    ["192.0.0.192", "192.0.0.192 is an address that is reserved"],
    ["192.0.2.1", "192.0.2.1 is an address that is reserved"],
    ["192.88.99.1", "192.88.99.1 is an address that is reserved"],
    ["198.18.0.1", "198.18.0.1 is an address that is reserved"],
    ["198.51.100.7", "198.51.100.7 is an address that is reserved"],
    ["203.0.113.7", "203.0.113.7 is an address that is reserved"],
    ["224.0.0.1", "224.0.0.1 is a multicast address"],
    ["240.0.0.1", "240.0.0.1 is an address that is reserved"],
    ["255.255.255.255", "255.255.255.255 is a broadcast address"],
    ["[::]", ":: is an address of the machine itself"],
    ["[::1]", "::1 is an address of the machine itself"],
    ["[0:0:0:0:0:0:0:1]", "::1 is an address of the machine itself"],
    ["[::ffff:7f00:1]", `::ffff:7f00:1 stands for another: ${itself}`],
    ["[::ffff:127.0.0.1]", `::ffff:7f00:1 stands for another: ${itself}`],
    ["[::ffff:10.0.0.1]", "::ffff:a00:1 stands for another: 10.0.0.1 is a private address"],
    ["[::ffff:a9fe:a9fe]", "::ffff:a9fe:a9fe stands for another: 169.254.169.254 is a link-local address"],
    ["[64:ff9b::7f00:1]", `64:ff9b::7f00:1 stands for another: ${itself}`],
    ["[64:ff9b::10.0.0.1]", "64:ff9b::a00:1 stands for another: 10.0.0.1 is a private address"],
    ["[64:ff9b:1::808:808]", "64:ff9b:1::808:808 is an address that is reserved"],
    ["[::7f00:1]", "::7f00:1 is an address that is reserved"],
    ["[::ffff:0:7f00:1]", "::ffff:0:7f00:1 is an address that is reserved"],
    ["[2002:7f00:1::]", "2002:7f00:1:: is an address that is reserved"],
    [
      "[2001:0:4136:e378:8000:63bf:80ff:fffe]",
      "2001:0:4136:e378:8000:63bf:80ff:fffe is an address that is reserved",
    ],
    ["[2001:db8::1]", "2001:db8::1 is an address that is reserved"],
    ["[100::1]", "100::1 is an address that is reserved"],
    ["[fc00::1]", "fc00::1 is a private address"],
    ["[fd00:ec2::254]", "fd00:ec2::254 is a private address"],
    ["[fe80::1]", "fe80::1 is a link-local address"],
    ["[fec0::1]", "fec0::1 is an address that is reserved"],
    ["[ff02::1]", "ff02::1 is a multicast address"],
    ["[4000::1]", "4000::1 is an address that is reserved"],
    ["[1::1]", "1::1 is an address that is reserved"],
    ["localhost", "localhost is a name of a network's own"],
    ["LOCALHOST", "localhost is a name of a network's own"],
    ["localhost.", "localhost is a name of a network's own"],
    ["localhost..", "localhost is a name of a network's own"],
    ["ⓛocalhost", "localhost is a name of a network's own"],
    ["shop.localhost", "shop.localhost is a name of a network's own"],
    ["localhost.localdomain", "localhost.localdomain is a name of a network's own"],
    ["ip6-localhost", "ip6-localhost is a name of a network's own"],
    ["postgres", "postgres is a name of a network's own"],
    ["printer.local", "printer.local is a name of a network's own"],
    ["router.lan", "router.lan is a name of a network's own"],
    ["nas.home.arpa", "nas.home.arpa is a name of a network's own"],
    ["metadata.google.internal", "metadata.google.internal is a name of a network's own"],
    ["metadata.google.internal.", "metadata.google.internal is a name of a network's own"],
  ];
  it.each(written)("are not http://%s/", (host, why) => {
    expect(refusal(`http://${host}/`)).toBe(why);
    expect(refusal(`https://${host}:8443/hook`)).toBe(why);
    expect(explainRefusedUrl(`http://${host}/`, true)).toBeUndefined();
  });

  it("have no other scheme, no credentials, and no port of another kind of server, whatever is allowed", () => {
    const wrong: readonly (readonly [string, string])[] = [
      ["ftp://shop.example/", "is neither http nor https"],
      ["file:///etc/passwd", "is neither http nor https"],
      ["gopher://shop.example/", "is neither http nor https"],
      ["data:text/plain,a", "is neither http nor https"],
      ["https://user@shop.example/", "holds a user name or a password"],
      ["https://user:secret@shop.example/", "holds a user name or a password"],
      ["https://:secret@shop.example/", "holds a user name or a password"],
      ["http://shop.example:25/", "has port 25, which is no web server's"],
      ["http://shop.example:22/", "has port 22, which is no web server's"],
      ["http://shop.example:6000/", "has port 6000, which is no web server's"],
      ["http://shop.example:0/", "has port 0, which is no web server's"],
      ["shop.example/hook", "is not a URL that can be called"],
      ["http://[::1%25eth0]/", "is not a URL that can be called"],
      ["http://1.2.3.256/", "is not a URL that can be called"],
    ];
    for (const [url, why] of wrong) {
      expect(explainRefusedUrl(url, false), url).toBe(why);
      expect(explainRefusedUrl(url, true), url).toBe(why);
    }
  });
});

describe("addresses that a name leads to", () => {
  it("are judged with and without a zone, and nothing else is taken for one", () => {
    expect(explainRefusedAddress("8.8.4.4")).toBeUndefined();
    expect(explainRefusedAddress("2a00:1450:4001::200e")).toBeUndefined();
    expect(explainRefusedAddress("fe80::1%eth0")).toBe("fe80::1%eth0 is a link-local address");
    expect(explainRefusedAddress("::ffff:192.168.0.1")).toContain("192.168.0.1 is a private address");
    expect(explainRefusedAddress("shop.example")).toBe("shop.example is no IP address");
    expect(explainRefusedAddress("")).toBe(" is no IP address");
  });
});
