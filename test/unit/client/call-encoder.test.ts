import { describe, expect, test } from "vitest";
import { encodeCall } from "../../../src/client/call-encoder.ts";
import { kindOfHttpStatus, parseErrorBody, parseRefusal, parseResponse } from "../../../src/client/response-parser.ts";
import { type Endpoint, endpointOf, type OperationName, ServiceError } from "../../../src/contract/index.ts";

const caller = { appKey: "the/key", utoken: "token-1234" };

/** Operations that differ in method, credentials, paths, and the format of their requests and responses. */
const various = (
  "account.setPlatform account.features account.setFeature answers.vote answers.create batch.run core.createToken " +
  "core.listProducts groups.get groups.update groups.delete images.upload images.get links.show links.follow " +
  "emailEvents.receive emailSuppressions.lift orders.massCreate products.promoted questions.list " +
  "questions.sendConfirmation reviews.bottomLines seo.pageUrl users.signIn"
)
  .split(" ")
  .map((name) => [name, endpointOf(name as OperationName)] as const);

/** A value for each parameter in the paths of an operation. */
function inputOf({ paths }: Endpoint) {
  const names = [...paths.join("").matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
  return Object.fromEntries(names.filter((name) => name !== "app_key").map((name) => [name, `${name} 1`]));
}

function describeCall(
  endpoint: Endpoint,
  input: Readonly<Record<string, unknown>>,
  by: typeof caller | object,
): string {
  try {
    const { method, target, headers, body = "" } = encodeCall(endpoint, input, by);
    return `${method} ${target} ${JSON.stringify(headers)} ${body}`;
  } catch (error) {
    return `${(error as ServiceError).kind} ${(error as ServiceError).field}`;
  }
}

test("operations are encoded with its path, query, body, and credentials", () => {
  const input = {
    name: "a&b",
    list: ["x", "y"],
    nested: { a: 1 },
    flag: false,
    none: undefined,
    null: null,
    empty: "",
  };
  const lines = various.map(([name, endpoint]) => {
    return `${name}: ${describeCall(endpoint, { ...inputOf(endpoint), ...input }, caller)}`;
  });
  expect(lines.join("\n")).toMatchSnapshot();
});

test("calls without credentials or without parameters are encoded or refused", () => {
  const lines = various.map(([name, endpoint]) => {
    const withoutCaller = describeCall(endpoint, inputOf(endpoint), {});
    const withoutToken = describeCall(endpoint, inputOf(endpoint), { appKey: "k" });
    return `${name}\n  ${withoutCaller}\n  ${withoutToken}\n  ${describeCall(endpoint, {}, caller)}`;
  });
  expect(lines.join("\n")).toMatchSnapshot();
});

test.each([".", ".."])("a path parameter must not be %s", (value) => {
  const endpoint = endpointOf("reviews.get");
  const [name = ""] = Object.keys(inputOf(endpoint));
  expect(describeCall(endpoint, { [name]: value }, caller)).toBe(`invalidParams ${name}`);
  expect(describeCall(endpoint, { [name]: 7 }, caller)).toContain("/7");
  expect(describeCall(endpointOf("orders.list"), {}, { appKey: value })).toMatch(/^invalidParams /);
});

describe("a response", () => {
  const bodies: Readonly<Record<string, string>> = {
    nothing: "",
    HTML: "<html>\n<b>token-1234</b> is\u0007 here</html>",
    incomplete: '{"status":',
    "a list": "[]",
    "a text": '"x"',
    "an empty object": "{}",
    "an error by type": '{"status":{"code":422,"message":"Missing email","error_type":"Exceptions::InvalidParams"}}',
    "an error by code": '{"status":{"code":503,"message":"token-1234 is busy"}}',
    "an error without a message": '{"status":{"code":404}}',
    "an OAuth error": '{"error":"invalid_client"}',
    "a core error": '{"errors":[{"message":"not allowed"}]}',
    "an error with a position":
      '{"status":{"code":422,"message":"m","position":{"field":"f","line":2,"column":3,"problem":"p"}}}',
    "an error with a bad position":
      '{"status":{"code":422,"message":"m","position":{"field":"f","line":2.5,"column":3,"problem":"p"}}}',
  };
  const types = ["application/json", "text/html", "image/png", undefined];
  const statuses = [200, 204, 301, 304, 400, 401, 404, 408, 413, 429, 500, 502, 503, 504];
  const request = { service: "http://shop.example", path: "/x", utoken: "token-1234", nowMs: 1_000_000 };

  const describeError = ({ kind, outcomeUnknown, retryAfterMs, field, hint, message, position }: ServiceError) => {
    const shows = ["token-1234", "…", "here", "not allowed"].filter((text) => message.includes(text));
    return [
      kind,
      outcomeUnknown ? "unknown" : "",
      retryAfterMs ?? "",
      field ?? "",
      hint === undefined ? "" : "hint",
      position ? `${position.field}:${position.line}:${position.column}:${position.problem}` : "",
      shows.join(","),
    ].join("|");
  };
  const attempt = (read: () => unknown) => {
    try {
      const result = read();
      if (result instanceof ServiceError) return describeError(result);
      const { bytes } = (result ?? {}) as { readonly bytes?: Buffer };
      return `accepted ${JSON.stringify(bytes ? Object.assign({}, result, { bytes: bytes.toString("base64") }) : result)}`;
    } catch (error) {
      if (error instanceof ServiceError) return describeError(error);
      throw error;
    }
  };

  test.each(Object.entries(bodies))("with %s is read by its status and type", (_name, body) => {
    const endpoints = (["coupons.list", "images.get", "batch.run"] as const).map(endpointOf);
    const lines = statuses.flatMap((status) =>
      types.map((type) => {
        const headers = { ...(type && { "content-type": type }), "retry-after": "7" };
        const response = { status, headers, bytes: Buffer.from(body) };
        const parsed = endpoints.map((endpoint) => attempt(() => parseResponse(response, { ...request, endpoint })));
        return [`${status} ${type}`, ...parsed, attempt(() => parseRefusal(response, request))].join(" ; ");
      }),
    );
    expect(lines.join("\n")).toMatchSnapshot();
  });

  test("that redirects names the new address without its query", () => {
    const redirect = (location?: string) =>
      parseRefusal({ status: 302, headers: { location }, bytes: Buffer.alloc(0) }, request);
    expect(redirect("https://other.example/x?utoken=token-1234")).toMatchObject({
      kind: "unexpectedAnswer",
      message: expect.stringMatching(/302.*https:\/\/other\.example\/x$/),
      hint: expect.stringMatching(/https:\/\/other\.example$/),
    });
    expect(redirect("/y")?.hint).toMatch(/http:\/\/shop\.example\/y$/);
    expect(redirect("http://")?.message).not.toContain('http://"');
    expect(redirect()?.hint).not.toContain("http");
  });

  test("is excerpted without the token, however long it is", () => {
    const excerpt = (text: string, utoken = "token-1234") => {
      const response = { status: 500, headers: { "content-type": "text/plain" }, bytes: Buffer.from(text) };
      return parseRefusal(response, { ...request, utoken, responder: "the proxy" })?.message ?? "";
    };
    expect(excerpt("x".repeat(10_000))).toMatch(/^the proxy .*: x{80}$/);
    expect(excerpt(` ${" ".repeat(4_000)}${"token-1234".repeat(100)}`)).not.toContain("token-1234");
    expect(excerpt("a\n\t b")).toMatch(/: a b$/);
    expect(excerpt("the token is short", "short")).toContain("short");
    expect(excerpt("\u0007 \n")).not.toContain(":");
    expect(excerpt("")).toContain("500");
  });

  test("may state when to try again in two ways", () => {
    const waits = (status: number, headers: Readonly<Record<string, string>>) =>
      parseRefusal({ status, headers, bytes: Buffer.from("{}") }, request)?.retryAfterMs;
    const limit = { "ratelimit-remaining": "0", "ratelimit-reset": "1005" };
    expect(waits(429, limit)).toBe(5_000);
    expect(waits(503, limit)).toBeUndefined();
    expect(waits(429, { ...limit, "retry-after": "2" })).toBe(5_000);
    expect(waits(429, { ...limit, "retry-after": "9" })).toBe(9_000);
    expect(waits(503, { "retry-after": "0" })).toBeUndefined();
  });
});

test("the status of a response without an error has a kind", () => {
  const kinds = Array.from({ length: 200 }, (_, at) => `${400 + at} ${kindOfHttpStatus(400 + at)}`);
  const special = kinds.filter((line) => !/ (?:unexpectedAnswer|internal)$/.test(line));
  expect(special.join(", ")).toMatchSnapshot();
  expect([kindOfHttpStatus(300), kindOfHttpStatus(499), kindOfHttpStatus(500), kindOfHttpStatus(599)]).toEqual([
    "unexpectedAnswer",
    "unexpectedAnswer",
    "internal",
    "internal",
  ]);
  expect(parseErrorBody(399, { errors: [{ message: "x" }] })).toBeUndefined();
  expect(parseErrorBody(400, { errors: [] })).toMatchObject({ kind: "invalidParams" });
  expect(parseErrorBody(400, { errors: "x", status: "x" })).toBeUndefined();
  expect(parseErrorBody(400, { error: "odd" })).toEqual({ kind: "invalidParams", message: "odd" });
  expect(parseErrorBody(200, { status: { code: 399 } })).toBeUndefined();
  expect(parseErrorBody(200, { status: { code: 400, message: "m" } })).toEqual({ kind: "invalidParams", message: "m" });
});
