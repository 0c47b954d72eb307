import { expect, onTestFinished, test } from "vitest";
import { type Responder, sendJson, startLoopback } from "../support/loopback.ts";
import { makeFolder, run } from "./support.ts";

const forged = "error: the payment failed";
const breaks = ["\n", "\r\n", "\r", "\u2028", "\u0085", "\v", "\f", " ".repeat(60), `${"x".repeat(38)} `];
const hostile = `no${breaks.map((each) => each + forged).join("")}\n\u202E${forged}\n hint: pay again`;

async function callHostile(argv: readonly string[], respond: Responder, isTerminal: boolean) {
  const server = await startLoopback(respond);
  onTestFinished(() => server.close());
  const env = {
    STARPOST_HOME: makeFolder(),
    STARPOST_BASE_URL: server.url,
    STARPOST_APP_KEY: "key",
    STARPOST_UTOKEN: "a-token-of-the-service",
    NO_COLOR: "1",
  };
  const { status, stdout, stderr } = await run(argv, {
    env,
    ...(isTerminal && { io: { isStdoutTerminal: true, isStderrTerminal: true, columns: 40 } }),
  });
  // Lines as a terminal and as a log show them.
  const labeled = `${stdout}\n${stderr}`
    .split(/[\n\r\u2028\u2029\u0085\v\f]/)
    .filter((line) => /^\W*error:/.test(line));
  return { status, stdout, stderr, labeled: labeled.filter((line) => !line.startsWith(" ")) };
}

const refuse: Responder = (response) => sendJson(response, 400, { status: { code: 400, message: hostile } });
const asText: Responder = (response) => void response.writeHead(200, { "content-type": "text/plain" }).end(hostile);
const asCoupons: Responder = (response) =>
  sendJson(response, 200, { status: { code: 200, message: "OK" }, response: { coupons: [{ code: forged }] } });

test.each<[string, readonly string[], Responder, number]>([
  ["an error message", ["coupons", "list"], refuse, 1],
  ["an error message of a raw call", ["api", "GET", "/v1/apps/key/reviews"], refuse, 1],
  ["an error message with --verbose", ["coupons", "list", "--verbose"], refuse, 1],
  ["a page that is not JSON", ["coupons", "list"], asText, 1],
  ["the first column of a table", ["coupons", "list"], asCoupons, 0],
  ["a raw response", ["api", "GET", "/v1/apps/key/reviews"], asText, 0],
])("a service cannot forge an error of the program in %s", async (_what, argv, respond, errors) => {
  const { labeled, stdout, stderr } = await callHostile(argv, respond, true);
  expect(labeled, stdout + stderr).toHaveLength(errors);
  expect(`${stdout}${stderr}`).toContain("payment");
});

test.each<[string, readonly string[], Responder, number]>([
  ["an error message", ["coupons", "list"], refuse, 1],
  ["an error message with --verbose", ["coupons", "list", "--verbose"], refuse, 1],
  ["the first column of a table", ["coupons", "list"], asCoupons, 0],
])("a service cannot forge an error of the program in a log, in %s", async (_what, argv, respond, errors) => {
  const { labeled, stdout, stderr } = await callHostile(argv, respond, false);
  expect(labeled, stdout + stderr).toHaveLength(errors);
});
