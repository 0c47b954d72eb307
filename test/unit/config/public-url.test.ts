import { expect, test } from "vitest";
import { findLinkProblem } from "../../../src/config/public-url.ts";

const remote = "smtp.shop.example";

test.each([
  undefined,
  "http://127.0.0.1:8080",
  "http://127.1.2.3",
  "http://localhost/reviews",
  "http://reviews.localhost",
  "http://[::1]:8080",
  "http://0.0.0.0:8080",
  "http://[::]:8080",
])("does not send emails with links to %s through a remote server", (publicUrl) => {
  expect(findLinkProblem(publicUrl, remote)).toMatchObject({
    kind: "usage",
    hint: expect.stringContaining("STARPOST_PUBLIC_URL") as string,
  });
});

test.each([
  ["https://reviews.shop.example", remote],
  ["http://10.0.0.5:8080", remote],
  [undefined, "127.0.0.1"],
  [undefined, "localhost"],
  [undefined, "::1"],
  ["http://localhost", "LOCALHOST."],
  [undefined, undefined],
])("sends emails with links to %s through %s", (publicUrl, host) => {
  expect(findLinkProblem(publicUrl, host)).toBeUndefined();
});
