import { createHmac, createSign, generateKeyPairSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import { boolean, differences, int, listOf, nullable, someText, text, timestamp } from "../support/shape.ts";
import { ok } from "../support/wire-shapes.ts";
import { refusal as bodyOf } from "../support/wire-steps.ts";
import { useWire } from "../support/wire.ts";

const wire = useWire();
const refusal = (status: number, type: string, message: string) => ({ status, body: bodyOf(message, status, type) });
const nowSeconds = Date.UTC(2026, 2, 15, 12) / 1_000;
const accountPath = (path: string) => `/starpost/v1/apps/${wire().appKey}/${path}`;
const withToken = (path: string, more = "") => `${accountPath(path)}?utoken=${wire().utoken}${more}`;
const post = (path: string, body: object = {}) =>
  wire().request("POST", accountPath(path), { utoken: wire().utoken, ...body });

async function sendTest(email = "ann@mail.example"): Promise<number> {
  const path = `/apps/${wire().appKey}/reminders/send_test_email`;
  expect((await wire().request("POST", path, { utoken: wire().utoken, email })).status).toBe(200);
  const { body } = await wire().request("GET", withToken("mails", "&count=1"));
  return (body as { response: { mails: { id: number }[] } }).response.mails[0]?.id ?? 0;
}

const record = {
  id: int,
  category: "map",
  email: "ann@mail.example",
  name: text,
  state: "queued",
  reason: null,
  created_at: timestamp,
  due_at: timestamp,
  sent_at: nullable(timestamp),
  attempts: int,
  is_test: boolean,
  order_id: nullable(text),
  product_id: nullable(text),
};

const pagination = { next_page_info: nullable(text) };

describe("emails", () => {
  it("are listed, shown, and canceled", async () => {
    const id = await sendTest();
    const listed = await wire().request("GET", withToken("mails", "&state=queued,leased&sort=soonest"));
    expect(differences(listed.body, { status: ok, response: { mails: listOf(record), pagination } })).toEqual([]);
    const shown = await wire().request("GET", withToken(`mails/${id}`));
    const event = { event: someText, occurred_at: timestamp, noted_at: timestamp, detail: nullable(text) };
    // No header section is stored until the email is sent.
    const message = { subject: someText, text: someText, html: someText, headers: null };
    expect(differences(shown.body, { status: ok, response: { mail: record, message, events: listOf(event) } })).toEqual(
      [],
    );
    // The response contains links for the recipient only.
    expect(shown.headers.get("cache-control")).toBe("no-store");
    const canceled = await post(`mails/${id}/stop`);
    expect(
      differences(canceled.body, {
        status: ok,
        response: { mail: { ...record, state: "not_sent", reason: "stopped_by_hand" } },
      }),
    ).toEqual([]);
    expect(await wire().emails()).toEqual([]);
  });

  it("require a utoken", async () => {
    const id = await sendTest();
    for (const [method, path] of [
      ["GET", accountPath("mails")],
      ["GET", accountPath(`mails/${id}`)],
      ["POST", accountPath(`mails/${id}/stop`)],
      ["POST", accountPath("mail_events/set_up")],
      ["DELETE", accountPath("mail_suppressions")],
    ] as const) {
      const body = method === "GET" ? undefined : { email: "ann@mail.example" };
      expect([path, (await wire().request(method, path, body)).status]).toEqual([path, 401]);
    }
  });

  it("return 404 for an unknown ID", async () => {
    expect(await wire().request("GET", withToken("mails/4711"))).toMatchObject(
      refusal(404, "RecordNotFound", "Couldn't find Mail with id = 4711"),
    );
  });
});

describe("events from an email provider", () => {
  const path = () => accountPath("mail_events");
  const events = (fields: object = {}) =>
    JSON.stringify([{ email: "ann@mail.example", timestamp: nowSeconds, event: "open", ...fields }]);
  const setUp = async (body: object = {}) => {
    const reply = await post("mail_events/set_up", body);
    expect(reply.headers.get("cache-control")).toBe("no-store");
    return (reply.body as { response: { url: string; secret: string; public_key: string | null } }).response;
  };
  const sign = (body: string, secret: string, id = "evt_1", seconds = nowSeconds) => {
    const key = Buffer.from(secret.slice("whsec_".length), "base64");
    return {
      "webhook-id": id,
      "webhook-timestamp": String(seconds),
      "webhook-signature": `v1,${createHmac("sha256", key).update(`${id}.${seconds}.${body}`).digest("base64")}`,
    };
  };
  const unauthorized = refusal(401, "AccessDenied", "You are not authorized to access this page.");

  it("must be signed byte for byte", async () => {
    const { secret, url, public_key } = await setUp();
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{32}$/);
    expect(public_key).toBeNull();
    expect(url.endsWith(path())).toBe(true);
    // The signature covers spaces, escapes, and the order of fields.
    const body = ` [ {"event" :"open","x":"\\u00e9 é","smtp-id":"<none@shop.example>"} ]\n`;
    const headers = sign(body, secret);
    const accepted = await wire().request("POST", path(), body, headers);
    expect(accepted).toMatchObject({
      status: 200,
      body: { status: ok, response: { accepted: 0, repeated: 0, unknown: 1, ignored: 0 } },
    });
    expect(await wire().request("POST", path(), JSON.stringify(JSON.parse(body)), headers)).toMatchObject(unauthorized);
    expect(await wire().request("POST", path(), body)).toMatchObject(unauthorized);
    expect(await wire().request("POST", path(), "", headers)).toMatchObject(unauthorized);
    const late = sign(body, secret, "evt_1", nowSeconds - 301);
    expect(await wire().request("POST", path(), body, late)).toMatchObject(unauthorized);
    const inQuery = new URLSearchParams({
      webhook_id: "evt_1",
      webhook_timestamp: String(nowSeconds),
      webhook_signature: headers["webhook-signature"],
    });
    expect(await wire().request("POST", `${path()}?${inQuery.toString()}`, body)).toMatchObject(unauthorized);
    expect(await wire().request("POST", `${path()}.json`, body, headers)).toMatchObject({ status: 200 });
  });

  it("can be signed with the provider's key instead", async () => {
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
    const shown = publicKey.export({ format: "der", type: "spki" }).toString("base64");
    expect(await setUp({ public_key: shown })).toMatchObject({ public_key: shown });
    const body = `${events()}\r\n`;
    const signature = createSign("sha256").update(`1600112502${body}`).sign(privateKey, "base64");
    const headers = {
      "X-Twilio-Email-Event-Webhook-Signature": signature,
      "X-Twilio-Email-Event-Webhook-Timestamp": "1600112502",
    };
    expect(await wire().request("POST", path(), body, headers)).toMatchObject({ status: 200 });
    expect(await wire().request("POST", path(), body.trim(), headers)).toMatchObject(unauthorized);
  });

  it("must be a JSON list of limited size", async () => {
    const { secret } = await setUp();
    const send = (body: string) => wire().request("POST", path(), body, sign(body, secret));
    expect(await send("[{]")).toMatchObject({ status: 400 });
    expect(await send('{"event":"open"}')).toMatchObject(
      refusal(500, "InvalidParams", expect.stringContaining("array") as string),
    );
    // Unknown fields are ignored, even those with names that are unsafe in objects.
    expect(await send('[{"event":"open","__proto__":{"event":"x"}}]')).toMatchObject({ status: 200 });
    const bytes = await wire().request("POST", path(), "[]", { "content-type": "text/plain" });
    expect(bytes.status).toBe(415);
    const huge = `[${" ".repeat(10 * 1_024 * 1_024)}]`;
    expect((await wire().request("POST", path(), huge, sign(huge, secret))).status).toBe(413);
  });

  it("are accepted only from servers and only with POST", async () => {
    const preflight = await wire().raw("OPTIONS", path());
    expect(preflight.headers.get("access-control-allow-origin")).toBeNull();
    expect(preflight.headers.get("allow")).toBe("POST, OPTIONS");
    expect((await wire().request("GET", path())).status).toBe(405);
    expect((await wire().request("POST", "/starpost/v1/apps/nobody/mail_events", "[]")).status).toBe(404);
  });
});

describe("a suppressed address", () => {
  it("is released once", async () => {
    const path = accountPath("mail_suppressions");
    const body = { utoken: wire().utoken, email: "ann@mail.example" };
    const reply = await wire().request("DELETE", path, body);
    expect(reply.body).toEqual({ status: ok, response: { email: "ann@mail.example", lifted: [] } });
    expect((await wire().request("DELETE", path, { ...body, email: "ann" })).status).toBe(500);
  });
});
