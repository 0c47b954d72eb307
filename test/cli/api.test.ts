import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { type Loopback, type Responder, sendJson, startLoopback } from "../support/loopback.ts";
import { makeFolder, run, type RunSettings } from "./support.ts";

const utoken = "utoken-5f3c";
const ok = { status: { code: 200, message: "OK" } };

interface Setup {
  readonly service: Loopback;
  /** The calls other than those for a token. */
  readonly calls: () => readonly string[];
  readonly folder: string;
  readonly api: (argv: readonly string[], settings?: RunSettings) => ReturnType<typeof run>;
}

/** Starts a service that issues a token to any client and answers all other calls with `respond`. */
async function setUp(respond: Responder = (response) => sendJson(response, 200, ok)): Promise<Setup> {
  let at = 0;
  const service = await startLoopback((response, _at, request) => {
    if (request.url === "/oauth/token") sendJson(response, 200, { access_token: utoken, token_type: "bearer" });
    else respond(response, at++, request);
  });
  onTestFinished(() => service.close());
  const folder = makeFolder();
  const env = {
    STARPOST_HOME: join(folder, "home"),
    STARPOST_BASE_URL: service.url,
    STARPOST_APP_KEY: "key",
    STARPOST_SECRET: "sesame",
  };
  return {
    service,
    folder,
    calls: () =>
      service.received
        .filter(({ url }) => url !== "/oauth/token")
        .map(({ method, url, body }) => `${method} ${url} ${body}`.trim()),
    api: (argv, settings = {}) => run(["api", ...argv], { ...settings, env: { ...env, ...settings.env } }),
  };
}

describe("starpost api: authentication", () => {
  test("sends the token in the query of a GET, in other bodies, and in the header of core API calls", async () => {
    const { service, calls, api } = await setUp();
    await api(["GET", "/apps/{app_key}/purchases", "--field", "count=5"]);
    await api(["post", "v1/apps/{app_key}/products_groups", "--field", "group_name=Teas"]);
    await api(["GET", "/core/v3/stores/{store_id}/products?limit=1"]);
    expect(calls()).toEqual([
      `GET /apps/key/purchases?count=5&utoken=${utoken}`,
      `POST /v1/apps/key/products_groups {"utoken":"${utoken}","group_name":"Teas"}`,
      "GET /core/v3/stores/key/products?limit=1",
    ]);
    expect(service.received.at(-1)?.headers["x-service-token"]).toBe(utoken);
  });

  test("sends no token to public endpoints or with --no-auth", async () => {
    const { service, calls, api } = await setUp();
    await api(["GET", "/products/{app_key}/p-1/bottomline"]);
    await api(["GET", "/apps/{app_key}/purchases", "--no-auth"]);
    expect(calls()).toEqual(["GET /products/key/p-1/bottomline", "GET /apps/key/purchases"]);
    expect(service.received).toHaveLength(2);
  });

  test("sends the token to unknown paths depending on the method", async () => {
    const { calls, api } = await setUp();
    await api(["GET", "/new/things?a=1"]);
    await api(["PATCH", "/new/things/1", "--field", "b=2"]);
    await api(["DELETE", "/new/things/1", "--yes"]);
    expect(calls()).toEqual([
      `GET /new/things?a=1&utoken=${utoken}`,
      `PATCH /new/things/1 {"utoken":"${utoken}","b":2}`,
      `DELETE /new/things/1 {"utoken":"${utoken}"}`,
    ]);
  });

  test("requests a new token and retries if the cached token is rejected", async () => {
    const { service, calls, api } = await setUp((response, at) =>
      at === 0
        ? sendJson(response, 401, {
            status: { code: 401, message: "no", error_type: "Exceptions::AccessDenied" },
          })
        : sendJson(response, 200, ok),
    );
    expect((await api(["GET", "/apps/{app_key}/purchases"])).status).toBe(0);
    expect(calls()).toHaveLength(2);
    expect(service.received.filter(({ url }) => url === "/oauth/token")).toHaveLength(2);
  });

  test.each([
    "https://evil.example/apps/{app_key}/purchases",
    "http://127.0.0.1:1/apps/{app_key}/purchases",
    "//evil.example/x",
    "/../elsewhere",
    "/apps/%2e%2E/x",
    String.raw`/\evil.example`,
  ])("rejects %s", async (path) => {
    const { service, api } = await setUp();
    const ran = await api(["GET", path]);
    expect(ran).toMatchObject({ status: 2, stdout: "" });
    expect(service.received).toHaveLength(0);
  });

  test("accepts the profile's own URL, and does not follow redirects", async () => {
    const elsewhere = await setUp();
    const { service, calls, api } = await setUp((response) => {
      response.writeHead(302, { location: `${elsewhere.service.url}/x?utoken=${utoken}` }).end();
    });
    const ran = await api(["GET", `${service.url}/apps/{app_key}/purchases?count=1`, "--include"]);
    expect(calls()).toEqual([`GET /apps/key/purchases?count=1&utoken=${utoken}`]);
    expect(ran.status).toBe(1);
    expect(ran.stdout).toContain("HTTP/1.1 302 Found\n");
    expect(ran.stderr).toContain("redirects (302)");
    expect(ran.stdout + ran.stderr).not.toContain(utoken);
    expect(elsewhere.service.received).toHaveLength(0);
  });

  test("rejects credentials in headers, fields, and paths", async () => {
    const { service, api } = await setUp();
    const given = [
      ["GET", "/x", "--header", "X-Service-Token: hush"],
      ["GET", "/x", "--header", "Authorization:hush"],
      ["GET", "/apps/{app_key}/purchases?utoken=hush"],
      ["POST", "/apps/{app_key}/coupons/unique", "--field", "utoken=hush"],
      ["POST", "/oauth/token", "--raw-field", "client_secret=hush"],
      ["POST", "/new/things", "--field", "user[password]=hush"],
    ];
    for (const argv of given) {
      const ran = await api([...argv]);
      expect(ran, argv.join(" ")).toMatchObject({ status: 2, stdout: "" });
      expect(ran.stderr, argv.join(" ")).not.toContain("hush");
    }
    expect(service.received).toHaveLength(0);
  });

  test("reads a secret field from a file", async () => {
    const { calls, folder, api } = await setUp();
    writeFileSync(join(folder, "secret"), "hush\n");
    const path = join(folder, "secret");
    await api(["POST", "/core/v3/stores/{store_id}/access_tokens", "--field", `secret=@${path}`, "--verbose"]);
    expect(calls()).toEqual(['POST /core/v3/stores/key/access_tokens {"secret":"hush"}']);
  });
});

describe("starpost api: request body", () => {
  test("builds a JSON body from fields", async () => {
    const { calls, api } = await setUp();
    const fields = ["a=1", "b=true", "c=null", "d=1.5", "e=007", "f=12345678901234567890", "g[h][i]=x", "l[]=1"];
    const more = ["l[]=two", "o[][n]=1", "o[][m]=2", "o[][n]=3", "empty[]", "text==="];
    const argv = [...fields, ...more].flatMap((field) => ["--field", field]);
    await api(["POST", "/new", "--no-auth", ...argv, "--raw-field", "raw=1"]);
    expect(JSON.parse(calls()[0]?.split(" ").slice(2).join(" ") ?? "")).toEqual({
      raw: "1",
      a: 1,
      b: true,
      c: null,
      d: 1.5,
      e: "007",
      f: "12345678901234567890",
      g: { h: { i: "x" } },
      l: [1, "two"],
      o: [{ n: 1, m: 2 }, { n: 3 }],
      empty: [],
      text: "==",
    });
  });

  test("sends --input unchanged except for the token, and sends fields in the query", async () => {
    const { calls, api } = await setUp();
    const body = '{ "coupon_action":"map_review",\n"n":12345678901234567890 }';
    await api(["POST", "/apps/{app_key}/coupons/unique", "--input", "-", "--field", "x[]=1"], { stdin: body });
    expect(calls()).toEqual([`POST /apps/key/coupons/unique?x%5B%5D=1 {"utoken":"${utoken}",${body.slice(1)}`]);
  });

  test("sends the token in the query if the body is not JSON", async () => {
    const { service, calls, api } = await setUp();
    await api(["POST", "/new", "--input", "-", "--header", "Content-Type: text/plain"], { stdin: "plain" });
    expect(calls()).toEqual([`POST /new?utoken=${utoken} plain`]);
    expect(service.received.at(-1)?.headers["content-type"]).toBe("text/plain");
  });

  test("rejects contradictory arguments", async () => {
    const { service, api } = await setUp();
    const given = [
      ["FETCH", "/x"],
      ["GET", "/x", "--input", "-"],
      ["GET", "/x", "--limit", "3"],
      ["GET", "/x", "--paginate"],
      ["POST", "/apps/{app_key}/purchases", "--paginate"],
      ["GET", "/x", "--format", "csv"],
      ["POST", "/x", "--input", "nowhere.json"],
      ["POST", "/x", "--field", "a"],
      ["POST", "/x", "--field", "__proto__[a]=1"],
      ["POST", "/x", "--field", "a=@-", "--input", "-"],
    ];
    for (const argv of given) expect(await api(argv), argv.join(" ")).toMatchObject({ status: 2, stdout: "" });
    expect(service.received).toHaveLength(0);
  });

  test("retries only requests that are safe to repeat: GET, and what the contract declares", async () => {
    const fail: Responder = (response, at) => (at === 0 ? sendJson(response, 502, ok) : sendJson(response, 200, ok));
    const [get, post, known] = [await setUp(fail), await setUp(fail), await setUp(fail)];
    expect((await get.api(["GET", "/new"])).status).toBe(0);
    expect(get.calls()).toHaveLength(2);
    expect((await post.api(["POST", "/new"])).status).toBe(5);
    expect(post.calls()).toHaveLength(1);
    const group = "/v1/apps/{app_key}/products_groups/Teas";
    expect((await known.api(["PUT", group, "--field", "product_ids_to_add[]=1"])).status).toBe(0);
    expect(known.calls()).toHaveLength(2);
  });
});

describe("starpost api: output", () => {
  const odd = '{"n":1.50,\n "id":12345678901234567890}';
  const respondOddly: Responder = (response) => {
    response.writeHead(200, { "content-type": "application/json", "set-cookie": "session=hush" }).end(odd);
  };

  test("prints the response body unchanged, or one JSON document for scripts", async () => {
    const { api } = await setUp(respondOddly);
    expect((await api(["GET", "/new"])).stdout).toBe(odd);
    expect((await api(["GET", "/new", "--json"])).stdout).toBe(`${odd}\n`);
    expect((await api(["GET", "/new", "--format", "ndjson"])).stdout).toBe('{"n":1.50,"id":12345678901234567890}\n');
    const terminal = await api(["GET", "/new"], { io: { isStdoutTerminal: true } });
    expect(terminal.stdout).toBe('{\n  "n": 1.50,\n  "id": 12345678901234567890\n}\n');
  });

  test("--include prints the status and headers without secrets", async () => {
    const { api } = await setUp(respondOddly);
    const { stdout } = await api(["GET", "/new", "--include"]);
    expect(stdout).toMatch(/^HTTP\/1\.1 200 OK\ncontent-type: application\/json\nset-cookie: …\n/);
    expect(stdout.endsWith(`\n\n${odd}`)).toBe(true);
    const whole = await api(["GET", "/new", "--include", "--json"]);
    expect(JSON.parse(whole.stdout)).toMatchObject({ status: 200, headers: { "set-cookie": "…" }, body: { n: 1.5 } });
  });

  test("does not print binary data to a terminal", async () => {
    const png = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 255]);
    const { api } = await setUp((response) => response.writeHead(200, { "content-type": "image/png" }).end(png));
    const terminal = await api(["GET", "/new"], { io: { isStdoutTerminal: true } });
    expect(terminal).toMatchObject({ status: 2, stdout: "" });
    expect(terminal.stderr).toContain("image/png");
    expect(JSON.parse((await api(["GET", "/new", "--json"])).stdout)).toEqual({
      content_type: "image/png",
      base64: png.toString("base64"),
    });
  });

  test("prints JSON for an HTML page, an empty body, and an error without a JSON body", async () => {
    const page = "<p>\u{1B}[31mhello</p>";
    const { api } = await setUp((response, at) => {
      if (at === 0) response.writeHead(200, { "content-type": "text/html" }).end(page);
      else response.writeHead(at === 1 ? 204 : 403).end();
    });
    expect(JSON.parse((await api(["GET", "/new", "--json"])).stdout)).toEqual({
      content_type: "text/html",
      text: page,
    });
    expect((await api(["GET", "/new", "--json"])).stdout).toBe("null\n");
    const refused = await api(["GET", "/new", "--json"]);
    expect(refused).toMatchObject({ status: 4, stdout: "null\n" });
    expect(JSON.parse(refused.stderr)).toMatchObject({ error: { kind: "unauthorized" } });
  });

  test.each([
    [401, "Exceptions::AccessDenied", 4],
    [404, "Exceptions::RecordNotFound", 1],
    [400, "Exceptions::MalformedBody", 1],
    [500, "Exceptions::InvalidParams", 1],
    [504, "Exceptions::Timeout", 5],
  ])("prints an error response unchanged and fails: %i %s", async (status, type, exit) => {
    const body = { status: { code: status, message: "Couldn't find Thing", error_type: type } };
    const { api } = await setUp((response) => sendJson(response, status, body));
    const ran = await api(["POST", "/new"]);
    expect(ran).toMatchObject({ status: exit, stdout: JSON.stringify(body) });
    expect(ran.stderr).toContain("error: Couldn't find Thing\n");
  });

  test("--paginate prints every element in any format", async () => {
    const { calls, api } = await setUp((response, _at, request) => {
      const since = Number(new URL(request.url ?? "", "http://x").searchParams.get("since_id") ?? 0);
      const purchases = [1, 2, 3, 4, 5]
        .filter((id) => id > since)
        .slice(0, 2)
        .map((id) => ({ id, order_id: `o${id}` }));
      sendJson(response, 200, { status: ok.status, response: { purchases, total_purchases: 5 } });
    });
    const argv = ["GET", "/apps/{app_key}/purchases?count=2", "--paginate"];
    const whole = JSON.parse((await api(argv)).stdout) as { id: number }[];
    expect(whole.map(({ id }) => id)).toEqual([1, 2, 3, 4, 5]);
    expect(calls()[1]).toBe(`GET /apps/key/purchases?count=2&since_id=2&utoken=${utoken}`);
    const lines = (await api([...argv, "--limit", "3", "--format", "ndjson"])).stdout.trim().split("\n");
    expect(lines.map((line) => (JSON.parse(line) as { id: number }).id)).toEqual([1, 2, 3]);
    const csv = await api([...argv, "--limit", "2", "--format", "csv", "--columns", "id,order_id"]);
    expect(csv.stdout).toBe("id,order_id\n1,o1\n2,o2\n");
  });
});

describe("starpost api --paginate", () => {
  test.each([[{ status: ok.status, response: {} }], [null], ["words"]])(
    "fails if the response is not a list: %j",
    async (body) => {
      const { api } = await setUp((response) => sendJson(response, 200, body));
      const ran = await api(["GET", "/apps/{app_key}/purchases", "--paginate", "--json"]);
      expect(ran.status).toBe(1);
      expect(JSON.parse(ran.stderr)).toMatchObject({ error: { kind: "unexpectedAnswer" } });
    },
  );
});

test("sanitizes service messages in retry notices and hides the token", async () => {
  const message = `\u001B]0;title\u0007 \u009B31m of ${utoken}`;
  const { api } = await setUp((response, at) =>
    at === 0 ? sendJson(response, 503, { status: { code: 503, message } }) : sendJson(response, 200, ok),
  );
  const { status, stderr } = await api(["GET", "/apps/{app_key}/purchases"]);
  expect(status).toBe(0);
  expect(stderr).toMatch(/title .* of …; retrying in/);
  expect(stderr).not.toMatch(/[^\P{Cc}\n]/u);
});

describe("starpost api: deletion", () => {
  test.each([
    ["DELETE", "/v1/apps/{app_key}/products_groups/Teas", "this deletes the group Teas\n"],
    ["DELETE", "/new/things/1", "DELETE /new/things/1?"],
    ["POST", "/apps/{app_key}/coupons/unique/delete", "map_share"],
    ["POST", "/apps/{app_key}/coupons/uniqu%65/%64elete", "map_share"],
  ])("prompts before %s %s", async (method, path, question) => {
    const { calls, api } = await setUp();
    const argv = [method, path, ...(method === "POST" ? ["--field", "coupon_action=map_share"] : [])];
    const ran = await api(argv);
    expect(ran).toMatchObject({ status: 2, stdout: "" });
    expect(ran.stderr).toContain(question);
    expect(ran.stderr).toContain("--yes");
    expect(calls()).toEqual([]);
    expect((await api([...argv, "--yes"])).status).toBe(0);
    expect(calls()).toHaveLength(1);
  });
});
