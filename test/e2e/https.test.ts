import { execFileSync } from "node:child_process";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { get } from "node:https";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { afterAll, expect, it, onTestFinished, vi } from "vitest";
import { Homes } from "../support/starpost.ts";

const homes = new Homes();
afterAll(() => homes.remove());

function createCertificate(folder: string, name: string) {
  const cert = join(folder, `${name}.crt`);
  const key = join(folder, `${name}.key`);
  const subject = ["-subj", `/CN=${name}`, "-addext", "subjectAltName=IP:127.0.0.1"];
  const request = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", ...subject];
  execFileSync("openssl", [...request, "-keyout", key, "-out", cert], { stdio: "ignore" });
  return { cert, key };
}

/** Calls the server, and returns the status and the name in its certificate. */
function call(url: string, ca: readonly Buffer[]): Promise<{ status: number | undefined; name: unknown }> {
  return new Promise((resolve, reject) => {
    get(`${url}/readyz`, { ca: [...ca], agent: false }, (response) => {
      const name = (response.socket as TLSSocket).getPeerCertificate().subject.CN;
      response.resume().on("end", () => resolve({ status: response.statusCode, name }));
    }).on("error", reject);
  });
}

it("serves HTTPS and reloads the certificate", async () => {
  const home = homes.open();
  const one = createCertificate(home.folder, "one");
  const two = createCertificate(home.folder, "two");
  const ca = [readFileSync(one.cert), readFileSync(two.cert)];
  const server = await home.serve(["--tls-cert", one.cert, "--tls-key", one.key]);
  onTestFinished(async () => void (await server.stop()));
  let log = "";
  server.process.stderr?.on("data", (data: Buffer) => (log += data.toString()));
  expect(server.url).toMatch(/^https:/);
  expect(await call(server.url, ca)).toEqual({ status: 200, name: "one" });
  await expect(fetch(server.url.replace("https", "http"))).rejects.toThrow();

  writeFileSync(one.cert, "invalid");
  await vi.waitFor(() => expect(log).toContain("certificate not reloaded"), 10_000);
  expect(await call(server.url, ca)).toEqual({ status: 200, name: "one" });

  renameSync(two.cert, one.cert);
  renameSync(two.key, one.key);
  await vi.waitFor(async () => expect(await call(server.url, ca)).toEqual({ status: 200, name: "two" }), 10_000);
  expect(log).not.toContain("PRIVATE KEY");
  expect(await server.stop()).toBe(0);
}, 60_000);

it("rejects incomplete flags and files that do not match", async () => {
  const home = homes.open();
  const one = createCertificate(home.folder, "one");
  const two = createCertificate(home.folder, "two");
  const incomplete = await home.run(["serve", "--tls-cert", one.cert]);
  expect([incomplete.exitCode, incomplete.stderr]).toEqual([2, expect.stringContaining("requires --tls-key")]);
  const other = await home.run(["serve", "--tls-key", one.key]);
  expect([other.exitCode, other.stderr]).toEqual([2, expect.stringContaining("requires --tls-cert")]);
  const mismatch = await home.run(["serve", "--tls-cert", one.cert, "--tls-key", two.key]);
  expect([mismatch.exitCode, mismatch.stderr]).toEqual([1, expect.stringContaining("not the key of")]);
}, 60_000);
