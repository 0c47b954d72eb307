import { connect, type AddressInfo } from "node:net";
import { createServer, type Server } from "node:tls";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeCertificate, type OwnCertificate } from "../support/certificate.ts";
import { type ProxyOptions, startProxy } from "../support/proxy.ts";
import { type Home, Homes, remoteEnv } from "../support/starpost.ts";

const homes = new Homes();
let service: Awaited<ReturnType<Home["serve"]>>;
let own: OwnCertificate | undefined;
let front: Server | undefined;
/** The service by a name that nothing but a proxy knows, with TLS and without. */
let address: { readonly http: string; readonly https: string };

beforeAll(async () => {
  service = await homes.open().serve();
  own = await makeCertificate();
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

/** Asks for the status of an account, through a proxy as the environment says. */
async function ask(
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
  test("is reached by a tunnel, with the proxy's credentials and the service's own authority", async () => {
    const found = await ask(address.https, (proxy) => ({ HTTPS_PROXY: withUser(proxy), ...trusted() }), {
      credentials: "me:pa#ss",
    });
    expect(found).toMatchObject({ exitCode: 0, stderr: "" });
    expect(JSON.parse(found.stdout)).toMatchObject({ response: { purchases: [] } });
    // Signing in and the call share no more than the tunnel's end.
    expect(new Set(found.asked)).toEqual(new Set([`CONNECT ${address.https.slice("https://".length)}`]));
    expect(found.passed).toBeGreaterThan(0);
  });

  test("is distrusted by itself, and what to do is said", async () => {
    const found = await ask(address.https, (proxy) => ({ https_proxy: proxy }));
    expect(found).toMatchObject({ exitCode: 1, stdout: "" });
    expect(found.stderr).toContain("NODE_EXTRA_CA_CERTS");
  });

  test.each<[string, ProxyOptions, string]>([
    ["asks who it is", { credentials: "me:other" }, "407"],
    ["forbids it", { refuses: 403 }, "403"],
  ])("is not reached where the proxy %s, and no password is shown", async (_why, options, message) => {
    const found = await ask(address.https, (proxy) => ({ HTTPS_PROXY: withUser(proxy) }), options);
    expect(found).toMatchObject({ exitCode: 1, stdout: "", passed: 0 });
    expect(found.stderr).toContain(`the proxy ${found.proxy} `);
    expect(found.stderr).toContain(message);
    expect(found.stderr).not.toMatch(/pa(?:%23|#)ss/);
  });
});

describe("a service without TLS", () => {
  test("is reached by a proxy that forwards", async () => {
    const found = await ask(address.http, (proxy) => ({ HTTP_PROXY: withUser(proxy) }), {
      credentials: "me:pa#ss",
      count: 2,
    });
    expect(found).toMatchObject({ exitCode: 0, stderr: "" });
    // One sign-in, whose token is kept, and two calls.
    expect(found.asked.map((line) => line.split("?", 1)[0])).toEqual([
      `POST ${address.http}/oauth/token`,
      `GET ${address.http}/apps/${service.app_key}/purchases`,
      `GET ${address.http}/apps/${service.app_key}/purchases`,
    ]);
  });

  test("is reached straight where it is excepted, or is this machine", async () => {
    const direct = await ask(service.url, (proxy) => ({ ALL_PROXY: proxy }));
    expect(direct).toMatchObject({ exitCode: 0, asked: [] });
    const asked = await ask(service.url, (proxy) => ({ ALL_PROXY: proxy, NO_PROXY: "<-loopback>" }));
    expect(asked).toMatchObject({ exitCode: 0, passed: 2 });
    const excepted = await ask(service.url, (proxy) => ({
      ALL_PROXY: proxy,
      NO_PROXY: "<-loopback>,127.0.0.0/8",
    }));
    expect(excepted).toMatchObject({ exitCode: 0, asked: [] });
  });

  test("is not asked by way of what is no proxy", async () => {
    const found = await ask(address.http, () => ({ HTTP_PROXY: "socks5://me:secret@127.0.0.1:1" }));
    expect(found).toMatchObject({ exitCode: 2, stdout: "", asked: [] });
    expect(found.stderr).toContain("HTTP_PROXY");
    expect(found.stderr).not.toContain("secret");
  });
});
