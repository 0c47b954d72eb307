import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { EmailRecord } from "../../src/contract/emails/emails.ts";
import { startMailServer } from "../support/mail-server.ts";
import { type Home, Homes } from "../support/starpost.ts";

const homes = new Homes();
afterAll(() => homes.remove());

interface Resent {
  readonly mails: readonly { readonly mail_id: number; readonly copy_id: number; readonly email: string }[];
  readonly skipped: readonly { readonly id: number; readonly problem: string }[];
}

const day = new Date(Date.now() - 20 * 86_400_000).toISOString().slice(0, 10);
const people = ["ann", "bo", "cy", "dee"];

async function listEmails(home: Home) {
  const { data } = await home.json<readonly EmailRecord[]>(["mail", "list"]);
  return new Map(data.map((mail) => [mail.id, mail]));
}

test("resends emails that bounced or failed, and those that were sent by ID, by all rules", async () => {
  const smtp = await startMailServer({
    decide: (step, address) =>
      step === "rcpt" && /^(?:ann|bo)@/.test(address) ? { code: 550, text: "5.1.1 unknown user" } : undefined,
  });
  const home = homes.open({
    STARPOST_SMTP_HOST: smtp.host,
    STARPOST_SMTP_PORT: String(smtp.port),
    STARPOST_SMTP_TLS: "none",
    STARPOST_MAIL_FROM: "shop@shop.example",
    STARPOST_PUBLIC_URL: "https://reviews.example",
  });
  const file = join(home.folder, "orders.csv");
  const rows = people.map((name, nth) => `${nth},${day},${name},${name}@mail.example,pot,Pot,https://shop.example/pot`);
  writeFileSync(
    file,
    ["order_id,order_date,customer_name,email,product_id,product_name,product_url", ...rows].join("\n"),
  );
  const { app_key } = await home.init();
  await home.json(["account", "enable-email", app_key, "--yes"]);
  await home.json(["orders", "import", file, "--send-mail", "--yes"]);
  const send = () => home.json(["mail", "run", "--once"]);
  const resend = (...words: string[]) => home.json<Resent>(["mail", "resend", ...words]);

  expect(await resend("1")).toMatchObject({ exitCode: 1 });
  await send();
  const sent = await listEmails(home);
  expect(people.map((_, nth) => sent.get(nth + 1)?.state)).toEqual(["bounced", "bounced", "sent", "sent"]);

  // Bounced addresses get nothing before the operator has cleared them.
  expect(await resend("--state", "bounced", "--since", "2d", "--yes")).toMatchObject({
    exitCode: 0,
    data: { mails: [] },
  });
  smtp.decide = () => undefined;
  await home.json(["mail", "unsuppress", "ann@mail.example"]);
  expect(await resend("--state", "bounced", "--since", "2d")).toMatchObject({ exitCode: 2, stdout: "" });
  const byState = await resend("--state", "bounced", "--since", "2d", "--yes");
  expect(byState).toMatchObject({ exitCode: 0, data: { mails: [{ mail_id: 1, email: "ann@mail.example" }] } });

  // An email that was sent, one that the customer does not want, one that was resent, and one that does not exist.
  await home.json(["unsubscribers", "add", "dee@mail.example", "--type", "reviews"]);
  const byId = await home.json<Resent>(["mail", "resend", "-", "--yes"], { input: "1 3\n4,99" });
  expect(byId).toMatchObject({ exitCode: 3, data: { mails: [{ mail_id: 3, email: "cy@mail.example" }] } });
  expect(byId.data.skipped.map(({ id }) => id)).toEqual([1, 4, 99]);

  const received = smtp.received.length;
  await send();
  expect(smtp.received.slice(received).map(({ to }) => to)).toEqual(["ann@mail.example", "cy@mail.example"]);
  const copies = [...byState.data.mails, ...byId.data.mails].map(({ copy_id }) => copy_id);
  const all = await listEmails(home);
  for (const id of copies) expect(all.get(id)).toMatchObject({ category: "resend_map", state: "sent" });
  const [first, second] = smtp.received.filter(({ to }) => to === "cy@mail.example").map(({ raw }) => raw);
  const idOf = (raw = "") => /^Message-ID: (.*)$/im.exec(raw)?.[1];
  expect(idOf(first)).not.toBe(idOf(second));

  // The copy can be resent as well, and a verification or a test cannot.
  const copyOfCopy = await resend(String(copies[1]), "--yes");
  expect(copyOfCopy).toMatchObject({ exitCode: 0, data: { mails: [{ email: "cy@mail.example" }] } });
  await home.json(["mail", "test", "--to", "eve@mail.example"]);
  const test_id = Math.max(...(await listEmails(home)).keys());
  expect(await resend(String(test_id), "--yes")).toMatchObject({ exitCode: 1 });
  await smtp.close();
});

test("sends requests after a solved case to addresses and files, once per reference", async () => {
  const home = homes.open();
  await home.init();
  const file = join(home.folder, "solved.csv");
  writeFileSync(file, "Email;reference\nann@mail.example;7\nnot an address;8\nbo@mail.example;9\n");
  const command = ["mail", "send", "--category", "mail_after_service"];
  const send = (...words: string[]) =>
    home.json<Record<string, readonly Record<string, unknown>[]>>([...command, ...words]);
  expect(await send("--file", file)).toMatchObject({ exitCode: 2, stdout: "" });
  expect((await listEmails(home)).size).toBe(0);
  const rejects = join(home.folder, "rejects.csv");
  const first = await send("--file", file, "--rejects", rejects, "--yes");
  expect(first).toMatchObject({ exitCode: 3, data: { rejects_file: rejects, skipped: [] } });
  expect(first.data["mails"]?.map(({ email }) => email)).toEqual(["ann@mail.example", "bo@mail.example"]);
  expect(first.data["rejected"]).toMatchObject([{ line: 3, column: "email", code: "bad_email" }]);
  expect(readFileSync(rejects, "utf8").split("\n").slice(0, 2)).toMatchObject([
    "Email;reference;_line;_column;_code;_reason",
    expect.stringMatching(/^not an address;8;3;email;bad_email;/),
  ]);
  const again = await send("--file", file, "--yes");
  expect(again).toMatchObject({ exitCode: 3, data: { mails: [], prevented: [{ id: "ann@mail.example" }, {}] } });
  expect(await send("--to", "ann@mail.example", "--reference", "7", "--yes")).toMatchObject({ data: { mails: [] } });
  expect(await send("--to", "ann@mail.example", "--to", "cy@mail.example", "--yes")).toMatchObject({ exitCode: 0 });
  await home.json(["unsubscribers", "add", "dee@mail.example", "--yes"]);
  expect(await send("--to", "dee@mail.example", "--yes")).toMatchObject({ exitCode: 3, data: { mails: [] } });
  expect((await listEmails(home)).size).toBe(4);
});
