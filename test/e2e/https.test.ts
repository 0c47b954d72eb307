import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { get } from "node:https";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { afterAll, expect, it, onTestFinished } from "vitest";
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
  await expect.poll(() => log).toContain("certificate not reloaded");
  expect(await call(server.url, ca)).toEqual({ status: 200, name: "one" });

  renameSync(two.cert, one.cert);
  renameSync(two.key, one.key);
  await expect.poll(() => call(server.url, ca)).toEqual({ status: 200, name: "two" });
  expect(log).not.toContain("PRIVATE KEY");
  expect(await server.stop()).toBe(0);
}, 60_000);

it("reloads a certificate behind symbolic links that change together, as mounted secrets do", async () => {
  const home = homes.open();
  const certificates = ["one", "two"].map((name) => createCertificate(home.folder, name));
  for (const [at, { cert, key }] of certificates.entries()) {
    mkdirSync(join(home.folder, `data-${at}`));
    renameSync(cert, join(home.folder, `data-${at}`, "tls.crt"));
    renameSync(key, join(home.folder, `data-${at}`, "tls.key"));
  }
  const ca = [0, 1].map((at) => readFileSync(join(home.folder, `data-${at}`, "tls.crt")));
  symlinkSync("data-0", join(home.folder, "data"));
  for (const name of ["tls.crt", "tls.key"]) symlinkSync(join("data", name), join(home.folder, name));
  const [cert, key] = [join(home.folder, "tls.crt"), join(home.folder, "tls.key")];
  const server = await home.serve(["--tls-cert", cert, "--tls-key", key]);
  onTestFinished(async () => void (await server.stop()));
  expect(await call(server.url, ca)).toEqual({ status: 200, name: "one" });
  symlinkSync("data-1", join(home.folder, "next"));
  renameSync(join(home.folder, "next"), join(home.folder, "data"));
  await expect.poll(() => call(server.url, ca)).toEqual({ status: 200, name: "two" });
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
  const encrypted = join(home.folder, "encrypted.key");
  execFileSync("openssl", ["rsa", "-aes128", "-passout", "pass:tea", "-in", one.key, "-out", encrypted], {
    stdio: "ignore",
  });
  const missing = join(home.folder, "none.crt");
  for (const [cert, key, named, text] of [
    [one.cert, encrypted, encrypted, "not an unencrypted private key"],
    [one.key, one.key, one.key, "not a certificate"],
    [missing, one.key, missing, "does not exist"],
  ] as const) {
    const { exitCode, stderr } = await home.run(["serve", "--tls-cert", cert, "--tls-key", key]);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining(`${named}: ${text}`)]);
    expect(stderr).not.toContain("PRIVATE KEY");
  }
}, 60_000);
