import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { useDocumentedCalls } from "../../../support/documented-calls.ts";

const { call, app, own, signed, withToken } = useDocumentedCalls();

describe("responses about emails match the OpenAPI document", () => {
  it("for listing and canceling", async () => {
    await call("emails.sendTest", ["POST", `${app()}/reminders/send_test_email`], {
      body: signed({ email: "ann@mail.example" }),
    });
    const path = `${own()}/mails`;
    const query = "&state=queued&email=ann@mail.example&category=map&sort=latest&since_id=1&count=5";
    const listed = await call("emails.list", ["GET", withToken(path, query)]);
    const { mails } = listed["response"] as { mails: { id: number }[] };
    expect(mails).toHaveLength(1);
    const id = mails[0]?.id ?? 0;
    await call("emails.get", ["GET", withToken(`${path}/${id}`)]);
    await call("emails.cancel", ["POST", `${path}/${id}/stop`], { body: signed() });
    await call("emails.get", ["GET", withToken(`${path}/${id + 1}`)], { status: 404 });
    await call("emailSuppressions.lift", ["DELETE", `${own()}/mail_suppressions`], {
      body: signed({ email: "ann@mail.example" }),
    });
  });

  it("for provider events", async () => {
    const path = `${own()}/mail_events`;
    const made = await call("emailEvents.setUp", ["POST", `${path}/set_up`], {
      body: signed({ rotate: true }),
    });
    const { secret } = made["response"] as { secret: string };
    const body = [
      {
        email: "ann@mail.example",
        timestamp: 1_773_576_000,
        event: "open",
        "smtp-id": "<x@y>",
        category: ["a"],
      },
    ];
    const key = Buffer.from(secret.slice("whsec_".length), "base64");
    const seconds = Math.floor(Date.UTC(2026, 2, 15, 12) / 1_000);
    const digest = createHmac("sha256", key)
      .update(`e.${seconds}.${JSON.stringify(body)}`)
      .digest("base64");
    const headers = {
      "webhook-id": "e",
      "webhook-timestamp": String(seconds),
      "webhook-signature": `v1,${digest}`,
    };
    const received = body as unknown as Record<string, unknown>;
    await call("emailEvents.receive", ["POST", path], { body: received, headers });
    await call("emailEvents.receive", ["POST", path], { body: received, status: 401 });
  });
});
