import { afterAll, afterEach, describe, expect, test } from "vitest";
import { type MailServer, startMailServer } from "../support/mail-server.ts";
import { type Home, Homes } from "../support/starpost.ts";

const homes = new Homes();
afterAll(() => homes.remove());

const servers: MailServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

/** A mail server that is not on this machine. Its name does not exist, so an attempt to use it would fail. */
const remoteServer = {
  STARPOST_SMTP_HOST: "smtp.shop.invalid",
  STARPOST_SMTP_TLS: "none",
  STARPOST_MAIL_FROM: "reviews@shop.example",
};

async function startLocalServer() {
  const server = await startMailServer();
  servers.push(server);
  const env = { ...remoteServer, STARPOST_SMTP_HOST: "127.0.0.1", STARPOST_SMTP_PORT: String(server.port) };
  return { server, env };
}

/** A home with a review whose author is to be verified by email, queued without a public URL. */
async function openHome(): Promise<Home> {
  const home = homes.open();
  const review = {
    sku: "pot",
    product_title: "Teapot",
    product_url: "https://shop.example/pot",
    display_name: "Ann",
    email: "ann@mail.example",
    review_title: "Good",
    review_content: "Good",
    review_score: 5,
  };
  const created = await home.run(["reviews", "create", "--input", "-"], { input: JSON.stringify(review) });
  expect(created.exitCode).toBe(0);
  return home;
}

async function readStates(home: Home): Promise<string[]> {
  const { stdout } = await home.run(["mail", "list", "--json"]);
  return (JSON.parse(stdout) as { state: string }[]).map(({ state }) => state);
}

describe("emails with links that only work on this machine", () => {
  test.each<Record<string, string>>([{}, { STARPOST_PUBLIC_URL: "http://localhost:8080" }])(
    "are not sent through a remote mail server with %j, and stay queued",
    async (env) => {
      const home = await openHome();
      const refused = await home.run(["mail", "run", "--once"], { env: { ...remoteServer, ...env } });
      expect(refused.exitCode).toBe(2);
      expect(refused.stderr).toContain("STARPOST_PUBLIC_URL");
      expect(await readStates(home)).toEqual(["queued"]);
    },
  );

  test("are not sent by serve, which says so and serves the API", async () => {
    const home = homes.open(remoteServer);
    const server = await home.serve();
    await home.run(["mail", "test", "--to", "me@shop.example"]);
    expect((await fetch(`${server.url}/openapi.json`)).status).toBe(200);
    await server.stop();
    expect(await readStates(home)).toEqual(["queued"]);
    const stderr = String((await server.process).stderr);
    expect(stderr).toContain("STARPOST_PUBLIC_URL");
    expect(stderr).not.toContain("Sending due emails");
  });

  test("are a problem for doctor", async () => {
    const home = homes.open(remoteServer);
    const { stdout, exitCode } = await home.run(["doctor", "--json"]);
    const { checks } = JSON.parse(stdout) as { checks: { name: string; status: string; fix: string | null }[] };
    expect(checks.find(({ name }) => name === "mail")).toMatchObject({
      status: "problem",
      fix: expect.stringContaining("STARPOST_PUBLIC_URL") as string,
    });
    expect(exitCode).toBe(1);
  });

  test("get the public URL of the process that sends them", async () => {
    const home = await openHome();
    const { server, env } = await startLocalServer();
    const sent = await home.run(["mail", "run", "--once"], {
      env: { ...env, STARPOST_PUBLIC_URL: "https://reviews.shop.example/base" },
    });
    expect(sent.exitCode).toBe(0);
    const text = server.received[0]?.parsed.text ?? "";
    expect(text).toMatch(/^https:\/\/reviews\.shop\.example\/base\/starpost\/v1\/l\/\S+$/m);
    expect(text).not.toContain("127.0.0.1");
  });
});

describe("the name of the store", () => {
  const send = async (home: Home) => {
    const { server, env } = await startLocalServer();
    await home.run(["mail", "test", "--to", "me@shop.example"]);
    expect((await home.run(["mail", "run", "--once"], { env })).exitCode).toBe(0);
    const email = server.received[0];
    if (!email) throw new Error("no email arrived");
    return email;
  };

  test("is used for the sender and in the text", async () => {
    const home = homes.open();
    await home.init();
    await home.run(["account", "set", "--name", "Tea & Cups"]);
    const { parsed, from } = await send(home);
    expect(from).toBe("reviews@shop.example");
    expect(parsed.from).toMatchObject({ name: "Tea & Cups", address: "reviews@shop.example" });
    expect(parsed.text).toContain("from Tea & Cups");
  });

  test("is not replaced by the URL of a store without a name", async () => {
    const home = homes.open();
    await home.init();
    await home.run(["account", "set-platform", "--shop-domain", "http://tea.example", "--platform-type-id", "2"]);
    const { parsed } = await send(home);
    expect(parsed.from?.name).toBe("");
    expect(parsed.text).toContain("from our store");
    expect(parsed.text).not.toContain("from http://tea.example");
  });
});
