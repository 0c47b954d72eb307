import { type AddressInfo, createServer, type Server } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { composeMessage } from "../../../../src/email/transports/mime-message.ts";
import { openSmtp } from "../../../../src/email/transports/smtp.ts";
import type { ComposedMessage, EmailTransport, SmtpSettings } from "../../../../src/email/transports/transport.ts";
import { type MailServer, type MailServerOptions, startMailServer } from "../../../support/mail-server.ts";
import { anOutgoingEmail } from "../../../support/outgoing-email.ts";

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

async function start(options: MailServerOptions = {}): Promise<MailServer> {
  const server = await startMailServer(options);
  closers.push(() => server.close());
  return server;
}

function open(settings: Partial<SmtpSettings> & { port: number }, idleMs = 3_000): EmailTransport {
  const transport = openSmtp(
    { kind: "smtp", host: "127.0.0.1", tls: "none", user: null, password: null, ...settings },
    { connectMs: 1_000, idleMs },
  );
  closers.push(() => transport.close());
  return transport;
}

function aMessage(key = "m-1", address = "ana@customer.example"): Promise<ComposedMessage> {
  const mail = anOutgoingEmail({ key, to: { name: "Ana Müller", address } });
  return composeMessage(mail, { from: { name: null, address: "reviews@shop.example" }, nowMs: 0 });
}

describe("a mail server", () => {
  it("receives composed messages over one connection", async () => {
    const server = await start();
    const transport = open(server);
    for (const key of ["m-1", "m-2", "m-3"]) {
      expect(await transport.send(await aMessage(key))).toMatchObject({
        state: "accepted",
        answer: expect.stringMatching(/^250 /) as string,
      });
    }
    expect(server.connections).toBe(1);
    expect(server.received.map(({ parsed }) => parsed.messageId)).toEqual([
      "<m-1@shop.example>",
      "<m-2@shop.example>",
      "<m-3@shop.example>",
    ]);
    const [first] = server.received;
    expect(first).toMatchObject({ from: "reviews@shop.example", to: "ana@customer.example" });
    expect(first?.raw).toBe((await aMessage()).raw.toString());
    expect(first?.parsed.text).toContain("كوب شاي");
    expect(first?.parsed.headers).toContainEqual(
      expect.objectContaining({ key: "list-unsubscribe-post", value: "List-Unsubscribe=One-Click" }),
    );
  });

  it("receives a line that consists of a dot", async () => {
    const server = await start();
    const message = await aMessage();
    const raw = Buffer.from("Subject: x\r\n\r\n.\r\n..\r\nend\r\n");
    await open(server).send({ ...message, raw });
    expect(server.received[0]?.raw).toBe(raw.toString());
  });

  it.each([
    ["rcpt", 450, "4.2.1 mailbox busy", "deferred"],
    ["rcpt", 421, "4.7.28 too many for this mailbox", "deferred"],
    ["rcpt", 550, "5.1.1 no such user", "invalid_address"],
    ["rcpt", 553, "mailbox name not allowed", "invalid_address"],
    ["rcpt", 552, "5.2.2 mailbox full", "bounced"],
    ["rcpt", 550, "mailbox unavailable", "bounced"],
    ["rcpt", 550, "5.7.1 refused by policy", "blocked"],
    ["rcpt", 554, "your host is on a blocklist", "blocked"],
    ["rcpt", 554, "5.7.1 Relay access denied", "unreachable"],
    ["rcpt", 530, "5.7.0 Authentication required", "unreachable"],
    ["rcpt", 553, "5.1.8 sender's domain does not exist", "unreachable"],
    ["data", 451, "4.3.0 try again", "deferred"],
    ["data", 554, "5.6.0 message refused", "bounced"],
    ["data", 550, "5.7.1 looks like spam", "blocked"],
    ["mail", 451, "4.3.2 not now", "deferred"],
    ["mail", 550, "5.1.7 sender refused", "unreachable"],
    ["mail", 552, "5.3.4 too big", "bounced"],
  ] as const)("at %s answers %i %s: %s", async (at, code, text, state) => {
    const server = await start();
    const transport = open(server);
    server.decide = (step) => (step === at ? { code, text } : undefined);
    const outcome = await transport.send(await aMessage());
    expect(outcome.state).toBe(state);
    expect(JSON.stringify(outcome)).toContain(`${code} ${text}`);
    server.decide = () => undefined;
    expect(await transport.send(await aMessage("m-2"))).toMatchObject({ state: "accepted" });
    expect(server.received).toHaveLength(1);
  });

  it.each([
    ["rcpt", 550, "5.1.1 no such user", true],
    ["rcpt", 550, "mailbox unavailable", true],
    ["rcpt", 552, "5.2.2 mailbox full", false],
    ["data", 552, "5.2.2 mailbox full", false],
    ["rcpt", 552, "storage allocation exceeded", false],
    ["rcpt", 550, "4.2.2 mailbox full", false],
    ["data", 550, "5.2.1 mailbox disabled", true],
    ["data", 552, "5.2.3 message too long", false],
    ["data", 554, "5.6.0 message refused", false],
    ["data", 554, "transaction failed", false],
    ["mail", 552, "5.3.4 too big", undefined],
  ] as const)("at %s answers %i %s: suppresses the address: %s", async (at, code, text, isOfAddress) => {
    const server = await start({ decide: (step) => (step === at ? { code, text } : undefined) });
    const outcome = await open(server).send(await aMessage());
    expect("isOfAddress" in outcome ? outcome.isOfAddress : undefined).toBe(isOfAddress);
  });

  it("that does not relay is not a problem of the address", async () => {
    const text = "5.7.1 <ann@mail.example>: Relay access denied";
    const server = await start({ decide: (step) => (step === "rcpt" ? { code: 554, text } : undefined) });
    const outcome = await open(server).send(await aMessage());
    expect(outcome).toMatchObject({ problem: expect.stringContaining("Relay access denied") as string });
    expect(JSON.stringify(outcome)).not.toContain("ann@");
  });

  it("keeps the connection after a rejected email", async () => {
    const server = await start();
    const transport = open(server);
    server.decide = (step, address) =>
      step === "rcpt" && address.startsWith("bad") ? { code: 550, text: "5.1.1 unknown" } : undefined;
    for (const [at, address] of ["a@c.example", "bad@c.example", "b@c.example"].entries()) {
      await transport.send(await aMessage(`m-${at}`, address));
    }
    expect(server.received.map(({ to }) => to)).toEqual(["a@c.example", "b@c.example"]);
    expect(server.connections).toBe(1);
  });

  it("may have accepted an email if the connection was lost afterward", async () => {
    const server = await start({ decide: (step) => (step === "data" ? "drop" : undefined) });
    expect(await open(server).send(await aMessage())).toMatchObject({
      state: "unreachable",
      mayHaveArrived: true,
      problem: expect.stringContaining("closed the connection") as string,
    });
  });

  it.each(["connect", "mail", "rcpt"] as const)(
    "did not accept an email if the connection was lost at %s",
    async (at) => {
      const server = await start({ decide: (step) => (step === at ? "drop" : undefined) });
      expect(await open(server).send(await aMessage())).toMatchObject({ state: "unreachable", mayHaveArrived: false });
    },
  );

  it("is reconnected after closing an idle connection", async () => {
    const server = await start();
    const transport = open(server);
    await transport.send(await aMessage());
    let dropped = 0;
    server.decide = (step) => (step === "mail" && dropped++ === 0 ? "drop" : undefined);
    expect(await transport.send(await aMessage("m-2"))).toMatchObject({ state: "accepted" });
    expect(server.connections).toBe(2);
  });

  it.each(["connect", "mail", "rcpt", "data"] as const)("that does not answer at %s times out", async (at) => {
    const server = await start({ decide: (step) => (step === at ? "hang" : undefined) });
    const outcome = await open(server, 1_000).send(await aMessage());
    expect(outcome).toMatchObject({
      state: "unreachable",
      problem: `The mail server 127.0.0.1:${server.port} did not respond in time. The connection will be retried.`,
      mayHaveArrived: at === "data",
    });
  });

  it("that is not ready is reported with its reason", async () => {
    const server = await start({
      decide: (step) => (step === "connect" ? { code: 421, text: "4.3.2 closing" } : undefined),
    });
    expect(await open(server).send(await aMessage())).toMatchObject({
      state: "unreachable",
      problem: expect.stringMatching(/is not ready: 421.*4\.3\.2 closing/) as string,
    });
  });

  it("that cannot be reached is reported", async () => {
    const server = await startMailServer();
    await server.close();
    const transport = open(server);
    const problem = `The mail server 127.0.0.1:${server.port} refused the connection. Check the port and whether the server is running.`;
    expect(await transport.send(await aMessage())).toMatchObject({ state: "unreachable", problem });
    expect(await transport.check()).toEqual({ ready: false, problem });
  });

  it.each([
    ["drips bytes", 50, "2"],
    ["never ends a line", 0, "2".repeat(65_536)],
    ["never ends a response", 0, "250-more\r\n".repeat(6_000)],
  ])("that %s is disconnected", async (_what, pauseMs, piece) => {
    let isClosed = false;
    const server = createServer((socket) => {
      socket.on("error", () => undefined).on("close", () => (isClosed = true));
      socket.write("220 mail.example\r\n");
      socket.once("data", () => {
        const write = () => socket.writable && socket.write(piece, () => void setTimeout(write, pauseMs));
        write();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    closers.push(() => new Promise((resolve) => server.close(() => resolve())));
    const { port } = server.address() as AddressInfo;
    const startedAt = performance.now();
    expect(await open({ port }, 1_000).send(await aMessage())).toMatchObject({ state: "unreachable" });
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    await expect.poll(() => isClosed).toBe(true);
  });

  it.each([
    ["a greeting without an end", "2".repeat(3_000_000)],
    ["garbage", Buffer.from(Array.from({ length: 4_096 }, (_, at) => 128 + (at % 128))).toString("latin1")],
    ["a code that does not exist", "999 mail.example\r\n"],
    ["no code", "mail.example ready\r\n"],
  ])("that greets with %s is reported", async (_what, greeting) => {
    const port = await startSpeaker(greeting);
    expect(await open({ port }, 1_000).send(await aMessage())).toMatchObject({
      state: "unreachable",
      mayHaveArrived: false,
    });
  });

  it.each([
    ["does not offer STARTTLS", "250 mail.example\r\n", ""],
    [
      "refuses STARTTLS",
      "250-mail.example\r\n250-AUTH PLAIN LOGIN CRAM-MD5\r\n250 STARTTLS\r\n",
      "454 4.7.0 later\r\n",
    ],
    [
      "adds unencrypted responses after STARTTLS",
      "250-mail.example\r\n250 STARTTLS\r\n",
      "220 go\r\n250-mail.example\r\n250 AUTH PLAIN LOGIN\r\n235 2.7.0 welcome\r\n250 ok\r\n250 ok\r\n354 go\r\n250 ok\r\n",
    ],
  ])("that %s gets neither the password nor the email", async (_what, capabilities, answer) => {
    let received = "";
    const server = createServer((socket) => {
      socket.on("error", () => undefined).write("220 mail.example\r\n");
      socket.on("data", (data) => {
        received += data.toString("latin1");
        if (data.toString().startsWith("EHLO")) socket.write(capabilities);
        else if (data.toString().startsWith("STARTTLS")) socket.write(answer);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    closers.push(() => new Promise((resolve) => server.close(() => resolve())));
    const { port } = server.address() as AddressInfo;
    const login = { user: "shop", password: "p4ss-word" };
    const outcome = await open({ port, tls: "starttls", ...login }, 1_000).send(await aMessage());
    expect(outcome).toMatchObject({ state: "unreachable", mayHaveArrived: false });
    expect(received).not.toMatch(/AUTH|MAIL FROM|shop/);
  });

  it("that speaks another protocol is reported", async () => {
    const port = await startSpeaker("SSH-2.0-OpenSSH_9.2\r\n");
    expect(await open({ port }).send(await aMessage())).toMatchObject({ state: "unreachable" });
  });
});

describe("authentication", () => {
  const user = { name: "shop", password: "p4ss-wörd" };

  it("is done once per connection", async () => {
    const server = await start({ user });
    const transport = open({ port: server.port, user: "shop", password: user.password });
    expect(await transport.check()).toEqual({ ready: true });
    expect(await transport.send(await aMessage())).toMatchObject({ state: "accepted" });
    expect(server.received[0]?.user).toBe("shop");
  });

  it("that fails stops all emails without revealing the password", async () => {
    const server = await start({ user });
    const transport = open({ port: server.port, user: "shop", password: "wrong-password" });
    const outcome = await transport.send(await aMessage());
    expect(outcome).toMatchObject({
      state: "unreachable",
      problem: expect.stringMatching(/rejected the login of shop: 535 5\.7\.8 .*starpost mail configure/) as string,
    });
    expect(JSON.stringify([outcome, await transport.check(), transport.describe()])).not.toContain("wrong-password");
  });

  it("that is temporarily unavailable is retried", async () => {
    const server = await start({ user });
    server.decide = (step) => (step === "auth" ? { code: 454, text: "4.7.0 later" } : undefined);
    const transport = open({ port: server.port, user: "shop", password: user.password });
    expect(await transport.send(await aMessage())).toMatchObject({
      state: "unreachable",
      problem: expect.stringMatching(/is not ready: 454.*will be retried/) as string,
    });
    server.decide = () => undefined;
    expect(await transport.send(await aMessage())).toMatchObject({ state: "accepted" });
  });

  it("that is required but not configured stops all emails", async () => {
    const server = await start({ user });
    expect(await open(server).send(await aMessage())).toMatchObject({
      state: "unreachable",
      problem: expect.stringContaining("530") as string,
    });
  });
});

describe("encryption", () => {
  const encrypted = async (server: MailServer, tls: SmtpSettings["tls"]) => {
    const outcome = await open({ port: server.port, tls }).send(await aMessage());
    return [outcome, server.received[0]?.isEncrypted] as const;
  };

  it("with opportunistic is used if offered, without checking the certificate", async () => {
    expect(await encrypted(await start({ tls: "starttls" }), "opportunistic")).toMatchObject([
      { state: "accepted" },
      true,
    ]);
    expect(await encrypted(await start(), "opportunistic")).toMatchObject([{ state: "accepted" }, false]);
  });

  it("with none is not used", async () => {
    expect(await encrypted(await start({ tls: "starttls" }), "none")).toMatchObject([{ state: "accepted" }, false]);
  });

  it.each(["implicit", "starttls"] as const)("with %s requires a trusted certificate", async (tls) => {
    expect(await encrypted(await start({ tls }), tls)).toMatchObject([
      { state: "unreachable", problem: expect.stringContaining("NODE_EXTRA_CA_CERTS") as string },
      undefined,
    ]);
  });

  it("with starttls is required", async () => {
    expect(await encrypted(await start(), "starttls")).toMatchObject([
      { state: "unreachable", problem: expect.stringContaining("does not support STARTTLS") as string },
      undefined,
    ]);
  });

  it("with implicit is reported if the server starts unencrypted", async () => {
    expect(await encrypted(await start(), "implicit")).toMatchObject([
      { state: "unreachable", problem: expect.stringContaining("--tls starttls") as string },
      undefined,
    ]);
  });
});

describe("an address with a non-ASCII local part", () => {
  const address = "jürgen@bücher.example";

  it("is accepted by a server that supports SMTPUTF8", async () => {
    const server = await start();
    expect(await open(server).send(await aMessage("m-1", address))).toMatchObject({ state: "accepted" });
    expect(server.received[0]?.to).toBe("jürgen@bücher.example".normalize());
  });

  it("is rejected for a server that does not", async () => {
    const server = await start({ takesUtf8: false });
    const transport = open(server);
    expect(await transport.send(await aMessage("m-1", address))).toMatchObject({
      state: "invalid_address",
      answer: expect.stringContaining("SMTPUTF8") as string,
    });
    expect(await transport.send(await aMessage("m-2", "juergen@bücher.example"))).toMatchObject({ state: "accepted" });
    expect(server.received.map(({ to }) => to)).toEqual(["juergen@bücher.example"]);
  });
});

async function startSpeaker(greeting: string): Promise<number> {
  const server: Server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.end(greeting);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(() => new Promise((resolve) => server.close(() => resolve())));
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("no port");
  return address.port;
}
