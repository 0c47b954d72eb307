import { beforeEach, describe, expect, it } from "vitest";
import { findFaults } from "../support/html.ts";
import { takePhoto } from "../support/photos.ts";
import { findDocumentFaults, useWire } from "../support/wire.ts";

const wire = useWire({
  publicLimits: { "submissions-per-client": { burst: 3, perHour: 3 }, "images-per-client": { burst: 4, perHour: 1 } },
});
const review = {
  score: "5",
  title: "Pours <b>well</b>",
  content: "No drips.",
  display_name: "Ann Tea",
  email: "ann@mail.example",
};
const asked = { content: "Does it pour?", display_name: "Ann Tea", email: "ann@mail.example" };
const personal = {
  "content-type": "text/html; charset=utf-8",
  "cache-control": "no-store",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};
const maxPhotoBytes = 5 * 1_024 * 1_024;

beforeEach(async () => {
  const products = { teapot: { name: "A <teapot>", url: "https://shop.example/teapot" } };
  await wire().own("POST", "/apps/{app}/products/mass_create", { products });
});

/** Sends a request of a browser, which does not follow redirects, and checks the page. */
async function send(method: string, path: string, init: RequestInit = {}) {
  const headers = { accept: "text/html,application/xhtml+xml", ...(init.headers as Record<string, string>) };
  const response = await fetch(wire().url + path, { redirect: "manual", ...init, method, headers });
  const reply = { status: response.status, headers: response.headers, text: await response.text() };
  expect(response.headers.get("set-cookie")).toBeNull();
  expect(findDocumentFaults(method, path.split("?")[0] ?? "", reply), `${method} ${path}`).toEqual([]);
  if (reply.text !== "") expect(await findFaults(reply.text)).toEqual([]);
  return reply;
}

const post = (path: string, fields: Record<string, string>) =>
  send("POST", path, { body: new URLSearchParams(fields) });
const writePath = (product = "teapot", page = "write") =>
  `/starpost/v1/pages/${wire().appKey}/products/${product}/${page}`;

/** Writes a review, and returns the path of the page that adds photos to it. */
async function writeReview(): Promise<string> {
  const { status, headers } = await post(writePath(), review);
  expect(status).toBe(303);
  return headers.get("location") ?? "";
}

const fileOf = (bytes: Buffer, name = "photo.jpg") => new File([bytes], name, { type: "image/jpeg" });

function addPhoto(path: string, ...files: readonly (File | string)[]) {
  const body = new FormData();
  for (const file of files) body.append("image", file);
  return send("POST", path, { body });
}

async function readReviews() {
  const { body } = await wire().request("GET", `/v1/widget/${wire().appKey}/products/teapot/reviews.json`);
  return (body as { response: { reviews: { title: string; images_data?: unknown[] }[] } }).response.reviews;
}

const textOf = (html: string) =>
  html
    .replaceAll(/<[^>]+>/g, "")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">");

/** The hidden key of a form. */
const keyOf = (html: string) => /name="idempotency_key" value="([\w-]{22})"/.exec(html)?.[1] ?? expect.unreachable();

describe("the page to write a review", () => {
  it("leads to a page that shows the review, and can be reloaded", async () => {
    const shown = await send("GET", writePath());
    expect([shown.status, Object.fromEntries(shown.headers)]).toMatchObject([200, personal]);
    expect(shown.headers.get("content-security-policy")).toMatch(/default-src 'none';.*form-action 'self'/);
    expect(shown.text).toContain('<meta name="robots" content="noindex, nofollow">');
    expect(textOf(shown.text)).toContain("Your review of A <teapot>");
    const path = await writeReview();
    expect(path).toMatch(/^\/starpost\/v1\/p\/v1\./);
    for (const _ of [1, 2]) {
      const done = await send("GET", path);
      expect([done.status, Object.fromEntries(done.headers)]).toMatchObject([200, personal]);
      expect(textOf(done.text)).toContain("Pours <b>well</b>");
      expect(done.text).toContain('enctype="multipart/form-data"');
    }
    expect(await readReviews()).toMatchObject([{ title: "Pours <b>well</b>" }]);
  });

  it("keeps what was typed if fields are invalid", async () => {
    const { status, text } = await post(writePath(), {
      ...review,
      email: "ann@",
      content: "Kept & <typed>",
      score: "",
    });
    expect(status).toBe(422);
    expect(text).toContain("Kept &amp; &lt;typed&gt;</textarea>");
    expect(text).toContain('value="ann@"');
    expect(text.match(/class="fault"/g)).toHaveLength(2);
    expect(await readReviews()).toEqual([]);
    expect((await send("POST", writePath())).text.match(/class="fault"/g)).toHaveLength(5);
  });

  it("keeps what was typed when a limit refuses it, at the same call as through the API", async () => {
    const create = (email: string) =>
      wire().raw("POST", "/v1/widget/reviews", {
        app_key: wire().appKey,
        sku: "teapot",
        product_title: "Teapot",
        product_url: "https://shop.example/teapot",
        display_name: "Ann",
        email,
        review_content: "Good",
        review_title: "Good",
        review_score: 5,
      });
    expect((await create("one@mail.example")).status).toBe(200);
    await post(writePath(), { ...review, title: "" });
    await writeReview();
    expect((await post(writePath("teapot", "ask"), asked)).status).toBe(200);
    const refused = await post(writePath(), { ...review, content: "Kept & <typed>" });
    expect([refused.status, (await create("two@mail.example")).status]).toEqual([429, 429]);
    expect(Object.fromEntries(refused.headers)).toMatchObject({ ...personal, "retry-after": "1200" });
    expect(refused.text).toContain("Kept &amp; &lt;typed&gt;</textarea>");
    for (const field of ['value="5" checked', 'value="Ann Tea"', 'value="ann@mail.example"']) {
      expect(refused.text).toContain(field);
    }
    expect(textOf(refused.text)).toContain("20 minutes");
    const question = await post(writePath("teapot", "ask"), asked);
    expect(question.status).toBe(429);
    expect(question.text).toContain("Does it pour?</textarea>");
    expect(await readReviews()).toHaveLength(2);
    wire().advance(20 * 60 * 1_000);
    await writeReview();
  });

  it("stores a form that is submitted repeatedly once, and counts it once", async () => {
    const keys = new Set<string>();
    for (const page of ["write", "ask"]) {
      const fields = page === "write" ? review : asked;
      for (const _ of [1, 2]) keys.add(keyOf((await send("GET", writePath("teapot", page))).text));
      const key = [...keys].at(-1) ?? "";
      const submit = () => post(writePath("teapot", page), { ...fields, idempotency_key: key });
      const replies = [...(await Promise.all([submit(), submit(), submit()])), await submit()];
      const [first] = replies;
      for (const { status, headers, text } of replies) {
        expect([status, text]).toEqual([page === "write" ? 303 : 200, first?.text]);
        expect(headers.get("location")).toBe(first?.headers.get("location"));
      }
      expect(replies.filter(({ headers }) => headers.get("idempotent-replayed") === "true")).toHaveLength(3);
    }
    expect(keys.size).toBe(4);
    expect((await wire().emails()).map(({ email }) => email)).toEqual([review.email, asked.email]);
    expect(await readReviews()).toHaveLength(1);
    // Without the key, or with other fields, it is another submission: the third, and the fourth.
    const key = keyOf((await send("GET", writePath())).text);
    expect((await post(writePath(), { ...review, idempotency_key: key })).status).toBe(303);
    const refused = await post(writePath(), { ...review, idempotency_key: key, title: "Pours" });
    expect([refused.status, keyOf(refused.text)]).toEqual([429, key]);
    expect((await post(writePath(), { ...review, idempotency_key: key })).status).toBe(303);
    expect(await readReviews()).toHaveLength(2);
  });

  it("stores no results of invalid forms, which no limit counts", async () => {
    const key = keyOf((await send("GET", writePath())).text);
    const refused = await post(writePath(), { ...review, email: "", idempotency_key: key });
    expect([refused.status, refused.headers.get("idempotency-key")]).toEqual([422, null]);
    expect(keyOf(refused.text)).not.toBe(key);
  });

  it("does not exist for an unknown product, and exists for the store", async () => {
    expect((await send("GET", writePath("unknown"))).status).toBe(404);
    expect((await post(writePath("unknown"), review)).status).toBe(404);
    expect((await post(writePath("service_site_reviews"), review)).status).toBe(303);
  });
});

describe("the page to add photos", () => {
  it("adds one at a time, and shows how many there are", async () => {
    const path = await writeReview();
    for (const count of [1, 2]) {
      const added = await addPhoto(path, fileOf(await takePhoto({ width: 60, height: 40 }), 'Ä "photo".jpg'));
      expect([added.status, added.headers.get("location")]).toEqual([
        303,
        expect.stringMatching(/^\/starpost\/v1\/p\//),
      ]);
      const { text } = await send("GET", added.headers.get("location") ?? "");
      expect(textOf(text)).toContain(`Photos added: ${count} of 5`);
    }
    const verify = (await wire().emails()).find(({ linkToken }) => linkToken !== undefined);
    await send("POST", `/starpost/v1/l/${verify?.linkToken}`);
    expect((await readReviews())[0]?.images_data).toHaveLength(2);
  });

  it("explains why a photo is refused", async () => {
    const path = await writeReview();
    const cases: readonly [string, readonly (File | string)[], number][] = [
      ["Choose a photo first", [new File([], "")], 422],
      ["Choose a photo first", [], 422],
      ["cannot be read as a photo", [fileOf(Buffer.from("<svg xmlns='http://www.w3.org/2000/svg'/>"))], 422],
      ["cannot be read as a photo", ["text"], 422],
      ["larger than 5 MB", [fileOf(Buffer.alloc(maxPhotoBytes + 1, 7))], 422],
      ["larger than 5 MB", [fileOf(Buffer.alloc(2 * maxPhotoBytes, 7))], 413],
    ];
    for (const [reason, files, status] of cases) {
      const refused = await addPhoto(path, ...files);
      expect([reason, refused.status, textOf(refused.text).includes(reason)]).toEqual([reason, status, true]);
      expect(refused.text).toContain('type="file"');
    }
    expect((await addPhoto(path, fileOf(Buffer.from("x")))).status).toBe(422);
    const last = await addPhoto(path, fileOf(Buffer.from("x")));
    expect([last.status, textOf(last.text).includes("60 minutes")]).toEqual([429, true]);
    expect((await readReviews())[0]).not.toHaveProperty("images_data.0");
  });

  const boundary = "X-BOUNDARY";
  const part = (content: string, name = "image") =>
    `--${boundary}\r\nContent-Disposition: form-data; name="${name}"; filename="a.png"\r\n\r\n${content}\r\n`;
  const type = `multipart/form-data; boundary=${boundary}`;

  it.each([
    ["no boundary", part("x"), "multipart/form-data", 400],
    ["another boundary", `${part("x")}--${boundary}--\r\n`, "multipart/form-data; boundary=other", 400],
    ["a boundary that is too long", part("x"), `multipart/form-data; boundary=${"b".repeat(300)}`, 400],
    ["an end that is missing", part("x"), type, 400],
    ["no part", "", type, 400],
    ["very many parts", `${part("x").repeat(10_000)}--${boundary}--\r\n`, type, 400],
    [
      "very many parts that another boundary hides",
      `${part("x").repeat(10_000)}--${boundary}--\r\n`,
      `multipart/form-data; x=";boundary=other"; boundary=${boundary}`,
      400,
    ],
    [
      "very many parts, with a boundary that can be read in two ways",
      `${part("x").repeat(10_000)}--${boundary}--\r\n`,
      String.raw`multipart/form-data; boundary="X-BOUND\ARY"`,
      400,
    ],
    [
      "a part with very many headers",
      `${part("x").replace("\r\n\r\n", `${"\r\na: b".repeat(10_000)}\r\n\r\n`)}--${boundary}--\r\n`,
      type,
      400,
    ],
    ["a part without a name", `--${boundary}\r\n\r\nx\r\n--${boundary}--\r\n`, type, 400],
    ["a form without files", "image=x", "application/x-www-form-urlencoded", 415],
    ["JSON", "{}", "application/json", 415],
  ])("rejects %s", async (_what, body, contentType, status) => {
    const path = await writeReview();
    const reply = await send("POST", path, { body, headers: { "content-type": contentType } });
    expect(reply.status).toBe(status);
    expect(textOf((await send("GET", path)).text)).not.toContain("Photos added");
  });

  it("accepts the short boundaries of text browsers, and ignores other parts", async () => {
    const path = await writeReview();
    const photo = (await takePhoto({ type: "png", width: 30, height: 20 })).toString("latin1");
    const names = ["__proto__", "app_key", "utoken", "image_upload_token", "url"];
    const parts = names.map((name) => part("x", name)).join("");
    const body = Buffer.from(`${parts}${part(photo)}--${boundary}--\r\n`, "latin1");
    const reply = await send("POST", path, { body, headers: { "content-type": type } });
    expect(reply.status).toBe(303);
  });

  it("is gone if the token is invalid, or has expired", async () => {
    const path = await writeReview();
    wire().advance(60 * 60 * 1_000);
    const photo = fileOf(await takePhoto({ width: 30, height: 20 }));
    for (const gone of [path, "/starpost/v1/p/nothing"]) {
      for (const reply of [await send("GET", gone), await addPhoto(gone, photo)]) {
        expect([reply.status, textOf(reply.text).includes("This link no longer works")]).toEqual([200, true]);
      }
    }
  });
});

it("the page that requests a link keeps the address when a limit refuses it", async () => {
  const path = `/starpost/v1/pages/${wire().appKey}/my_reviews`;
  const request = () => post(path, { email: 'an"n<@mail.example' });
  const email = "ann@mail.example";
  while ((await post(path, { email })).status === 200);
  const refused = await post(path, { email });
  expect([refused.status, refused.text.includes(`value="${email}"`)]).toEqual([429, true]);
  expect(Object.fromEntries(refused.headers)).toMatchObject({ ...personal, "retry-after": "1200" });
  expect(textOf(refused.text)).toMatch(/The link was not sent\s+Too much .* Try again in 20 minutes/);
  // Limits count before the address is checked.
  expect((await request()).text).toContain('value="an&quot;n&lt;@mail.example"');
});

describe("the page to ask a question", () => {
  it("asks the author to confirm it", async () => {
    expect(textOf((await send("GET", writePath("teapot", "ask"))).text)).toContain("Ask a question about A <teapot>");
    const faulty = await post(writePath("teapot", "ask"), { content: "", display_name: "", email: "" });
    expect([faulty.status, faulty.text.match(/class="fault"/g)?.length]).toEqual([422, 3]);
    const sent = await post(writePath("teapot", "ask"), asked);
    expect([sent.status, textOf(sent.text).includes("To publish your question")]).toEqual([200, true]);
    expect((await wire().emails()).filter(({ email }) => email === asked.email)).toHaveLength(1);
  });
});
