import { expect, it } from "vitest";
import { createReview, refusal } from "../support/wire-steps.ts";
import { useWire } from "../support/wire.ts";

const wire = useWire();

/** The server of these tests compares each response with the OpenAPI document, as those of the other files do. */
it("matches its description, in further operations of the service itself", async () => {
  const { appKey, secret, utoken, request, raw } = wire();
  const own = `/starpost/v1/apps/${appKey}`;
  const review = await createReview(wire());
  const { body } = await request("GET", `/users/b2blogin.json?app_key=${appKey}&secret=${secret}`);
  const { code } = (body as { response: { code: string } }).response;
  const paths = ["/features", `/reviews/${review}/history`, "/seo_pages/teapot", "/seo_pages"];
  for (const path of [...paths.map((one) => own + one), `/starpost/v1/sign_in/${code}`]) {
    expect([path, (await raw("GET", `${path}?utoken=${utoken}`)).status]).toEqual([path, 200]);
  }
});

it("matches its description, in requests about webhooks and links", async () => {
  const { appKey, utoken, request, emails, own } = wire();
  const webhooks = `/starpost/v1/apps/${appKey}/webhooks`;
  const hook = { utoken, url: "https://shop.example/hook", event_name: "review_create" };
  expect((await request("POST", webhooks, hook)).status).toBe(200);
  expect((await request("GET", `${webhooks}?utoken=${utoken}`)).body).toMatchObject({ response: { webhooks: [{}] } });
  expect((await request("DELETE", `${webhooks}/1`, { utoken })).status).toBe(200);
  expect((await request("DELETE", `${webhooks}/1`, { utoken })).body).toEqual(
    refusal("Couldn't find Webhook with id = 1", 404, "RecordNotFound"),
  );
  await own("POST", "/apps/{app}/reminders/send_test_email", { email: "ann@mail.example" });
  const token = (await emails()).at(-1)?.linkToken ?? "";
  expect((await request("GET", `/starpost/v1/links/${token}`)).status).toBe(200);
});

it("is served by the server", async () => {
  const { status, headers, text } = await wire().raw("GET", "/openapi.json");
  expect([status, headers.get("content-type")]).toEqual([200, "application/json; charset=utf-8"]);
  expect(JSON.parse(text)).toMatchObject({ openapi: "3.1.0", info: { title: "starpost" }, servers: [{ url: "/" }] });
});
