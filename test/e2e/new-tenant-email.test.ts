import { afterAll, expect, onTestFinished, test } from "vitest";
import { type CountingMailServer, startCountingMailServer } from "../support/counting-mail-server.ts";
import { type Home, Homes } from "../support/starpost.ts";

const homes = new Homes();
afterAll(() => homes.remove());

function sendThrough({ env }: CountingMailServer) {
  return {
    STARPOST_PUBLIC_URL: "https://reviews.example",
    ...env,
    STARPOST_MAIL_FROM: "reviews@operator.example",
  };
}

interface Tenant {
  readonly appKey: string;
  readonly utoken: string;
  readonly call: (method: string, path: string, body: object) => Promise<Response>;
}

/** Signs up like anybody can on an emulator, and queues emails to strangers: test emails and due orders. */
async function attack(home: Home, attempts: number): Promise<Tenant> {
  const server = await home.serve(["--no-worker"]);
  try {
    const send = (method: string, path: string, body: object) =>
      fetch(server.url + path, { method, headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
    const user = {
      email: "new@tenant.example",
      display_name: "Your bank",
      password: "p4ssword",
      url: "https://t.example",
    };
    const signedUp = (await (await send("POST", "/users", { user })).json()) as {
      response: { app_key: string; token: string };
    };
    const { app_key: appKey, token: utoken } = signedUp.response;
    const tenant: Tenant = { appKey, utoken, call: (method, path, body) => send(method, path, { utoken, ...body }) };
    const unsubscribe = "{{ unsubscribe_url }}";
    const template = {
      subject: "Your account",
      text: `Buy this. ${unsubscribe}`,
      html: `<p>Buy this.</p> ${unsubscribe}`,
    };
    const saved = await tenant.call("PUT", `/starpost/v1/apps/${appKey}/mail_templates/map`, template);
    expect(saved.status).toBe(200);
    const order_date = new Date(Date.now() - 20 * 86_400_000).toISOString().slice(0, 10);
    const products = { pot: { name: "Teapot", url: "https://t.example/pot", image: "" } };
    const orders = Array.from({ length: attempts }, (_, nth) => ({
      order_id: `o${nth}`,
      email: `stranger${nth}@mail.example`,
      customer_name: "You",
      order_date,
      products,
    }));
    await tenant.call("POST", `/apps/${appKey}/purchases/mass_create`, { platform: "general", orders });
    for (let nth = 0; nth < 3; nth += 1) {
      const email = `stranger${nth}@mail.example`;
      expect((await tenant.call("POST", `/apps/${appKey}/reminders/send_test_email`, { email })).status).toBe(200);
    }
    return tenant;
  } finally {
    await server.stop();
  }
}

test("a new tenant sends no email before the operator enables it", async () => {
  const home = homes.open();
  const smtp = await startCountingMailServer();
  onTestFinished(() => smtp.close());
  const { appKey } = await attack(home, 40);
  const run = () =>
    home.json<{ mails: { sent: number }; held: number }>(["mail", "run", "--once"], { env: sendThrough(smtp) });
  const first = await run();
  expect([first.exitCode, smtp.accepted.length]).toEqual([0, 0]);
  expect(first.data).toMatchObject({ mails: { sent: 0 }, held: 43 });
  expect(first.stderr).toContain(appKey);
  const sendTest = ["mail", "test", "--account", appKey, "--to", "another@mail.example"];
  const { stderr } = await home.run(sendTest, { env: sendThrough(smtp) });
  expect(stderr).toContain(`starpost account enable-email ${appKey}`);
  const account = async (...args: string[]) => (await home.json<object>(["account", ...args])).data;
  expect(await account("email-status", appKey)).toMatchObject({
    email_enabled: false,
    held: { email_not_enabled: 43 },
  });
  const { data: doctor } = await home.json<{ checks: object[] }>(["doctor"]);
  expect(doctor.checks).toContainEqual(expect.objectContaining({ name: "held-emails", status: "warning" }));
  expect(await account("approve-recipient", appKey, "stranger1@mail.example")).toMatchObject({
    test_recipients: ["stranger1@mail.example"],
    held: { email_not_enabled: 41 },
  });
  await run();
  // The order of the approved recipient is still held.
  expect(smtp.accepted).toHaveLength(1);
  await account("set-email-quota", appKey, "11");
  expect(await account("enable-email", appKey)).toMatchObject({ email_enabled: true, held: {} });
  await run();
  expect(smtp.accepted).toHaveLength(11);
  expect(await account("set-email-quota", appKey, "default")).toMatchObject({ used_today: 11, held: {} });
  await run();
  expect(smtp.accepted).toHaveLength(44);
});

test("the operator's own account may send email, and every account writes to the outbox folder", async () => {
  const home = homes.open();
  await home.init();
  const smtp = await startCountingMailServer();
  onTestFinished(() => smtp.close());
  await home.json(["mail", "test", "--to", "me@operator.example"]);
  await home.run(["mail", "run", "--once"], { env: sendThrough(smtp) });
  expect(smtp.accepted).toHaveLength(1);
  await attack(home, 2);
  expect((await home.json<{ mails: object }>(["mail", "run", "--once"])).data.mails).toMatchObject({ sent: 5 });
});

test.each([
  [["account", "enable-email", "nobody"], 1, "nobody"],
  [["account", "set-email-quota", "nobody", "-1"], 2, "<emails>"],
  [["account", "set-email-quota", "nobody", "many"], 2, "<emails>"],
  [["account", "enable-email"], 2, "app_key"],
])("%j is refused", async (args, status, expected) => {
  const home = homes.open();
  await home.init();
  const refused = await home.run(args);
  expect([refused.exitCode, refused.stderr]).toEqual([status, expect.stringContaining(expected)]);
});
