import { connect, type AddressInfo } from "node:net";
import { createServer, type Server } from "node:tls";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createCertificate, type SelfSignedCertificate } from "../support/certificate.ts";
import { type ProxyOptions, startProxy } from "../support/proxy.ts";
import { type Home, Homes, remoteEnv } from "../support/starpost.ts";

const homes = new Homes();
let service: Awaited<ReturnType<Home["serve"]>>;
let own: SelfSignedCertificate | undefined;
let front: Server | undefined;
/** The service under a host name that only the proxy can resolve, with and without TLS. */
let address: { readonly http: string; readonly https: string };

beforeAll(async () => {
  service = await homes.open().serve();
  own = await createCertificate();
  const port = Number(new URL(service.url).port);
  front = createServer({ key: own?.key, cert: own?.cert }, (socket) => {
    const onward = connect(port, "127.0.0.1");
    onward.on("error", () => socket.destroy());
    socket.on("error", () => onward.destroy());
    socket.pipe(onward).pipe(socket);
  });
  await new Promise<void>((resolve) => front?.listen(0, "127.0.0.1", resolve));
  const { port: secure } = front.address() as AddressInfo;
  address = { http: `http://service.example:${port}`, https: `https://service.example:${secure}` };
});
afterAll(async () => {
  front?.close();
  await service.stop();
  homes.remove();
});

/** Reads the status of an account through the proxy in the environment. */
async function callThroughProxy(
  url: string,
  env: (proxy: string) => Record<string, string>,
  { count = 1, ...options }: ProxyOptions & { readonly count?: number } = {},
) {
  const proxy = await startProxy(options);
  const home = homes.open({ ...remoteEnv({ ...service, url }), ...env(proxy.url) });
  try {
    let ran = await home.run(["api", "GET", "/apps/{app_key}/purchases"]);
    for (let n = 1; n < count; n++) ran = await home.run(["api", "GET", "/apps/{app_key}/purchases"]);
    return { ...ran, asked: proxy.asked, passed: proxy.passed(), proxy: proxy.url };
  } finally {
    await proxy.close();
  }
}

const withUser = (proxy: string) => proxy.replace("//", "//me:pa%23ss@");
const trusted = () => ({ NODE_EXTRA_CA_CERTS: own?.certFile ?? "" });

describe("a service with TLS", () => {
  test("is reached through a tunnel, with proxy credentials and a private certificate authority", async () => {
    const found = await callThroughProxy(address.https, (proxy) => ({ HTTPS_PROXY: withUser(proxy), ...trusted() }), {
      credentials: "me:pa#ss",
    });
    expect(found).toMatchObject({ exitCode: 0, stderr: "" });
    expect(JSON.parse(found.stdout)).toMatchObject({ response: { purchases: [] } });
    // Signing in and the call use separate tunnels.
    expect(new Set(found.asked)).toEqual(new Set([`CONNECT ${address.https.slice("https://".length)}`]));
    expect(found.passed).toBeGreaterThan(0);
  });

  test("is rejected if its certificate is not trusted, with a hint", async () => {
    const found = await callThroughProxy(address.https, (proxy) => ({ https_proxy: proxy }));
    expect(found).toMatchObject({ exitCode: 1, stdout: "" });
    expect(found.stderr).toContain("NODE_EXTRA_CA_CERTS");
  });

  test.each<[string, ProxyOptions, string]>([
    ["rejects the credentials", { credentials: "me:other" }, "407"],
    ["forbids the connection", { refuses: 403 }, "403"],
  ])("is not reached if the proxy %s, and no password is shown", async (_why, options, message) => {
    const found = await callThroughProxy(address.https, (proxy) => ({ HTTPS_PROXY: withUser(proxy) }), options);
    expect(found).toMatchObject({ exitCode: 1, stdout: "", passed: 0 });
    expect(found.stderr).toContain(`the proxy ${found.proxy} `);
    expect(found.stderr).toContain(message);
    expect(found.stderr).not.toMatch(/pa(?:%23|#)ss/);
  });
});

describe("a service without TLS", () => {
  test("is reached through a forwarding proxy", async () => {
    const found = await callThroughProxy(address.http, (proxy) => ({ HTTP_PROXY: withUser(proxy) }), {
      credentials: "me:pa#ss",
      count: 2,
    });
    expect(found).toMatchObject({ exitCode: 0, stderr: "" });
    // One sign-in, whose token is cached, and two calls.
    expect(found.asked.map((line) => line.split("?", 1)[0])).toEqual([
      `POST ${address.http}/oauth/token`,
      `GET ${address.http}/apps/${service.app_key}/purchases`,
      `GET ${address.http}/apps/${service.app_key}/purchases`,
    ]);
  });

  test("is reached directly if it is excluded or local", async () => {
    const direct = await callThroughProxy(service.url, (proxy) => ({ ALL_PROXY: proxy }));
    expect(direct).toMatchObject({ exitCode: 0, asked: [] });
    const proxied = await callThroughProxy(service.url, (proxy) => ({ ALL_PROXY: proxy, NO_PROXY: "<-loopback>" }));
    expect(proxied).toMatchObject({ exitCode: 0, passed: 2 });
    const excluded = await callThroughProxy(service.url, (proxy) => ({
      ALL_PROXY: proxy,
      NO_PROXY: "<-loopback>,127.0.0.0/8",
    }));
    expect(excluded).toMatchObject({ exitCode: 0, asked: [] });
  });

  test("is not reached with an invalid proxy setting", async () => {
    const found = await callThroughProxy(address.http, () => ({ HTTP_PROXY: "socks5://me:secret@127.0.0.1:1" }));
    expect(found).toMatchObject({ exitCode: 2, stdout: "", asked: [] });
    expect(found.stderr).toContain("HTTP_PROXY");
    expect(found.stderr).not.toContain("secret");
  });
});
