import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { type Environment, readVariable } from "../config/environment.ts";
import { type Check, ok, problem } from "./check.ts";

/** Whether the authorities that Node is to trust besides its own can be read; Node itself only warns. */
export async function checkCertificates(env: Environment, cwd: string): Promise<Check> {
  const name = "certificates";
  const given = readVariable(env, "NODE_EXTRA_CA_CERTS");
  if (given === undefined) return ok(name, "the authorities that Node brings are trusted");
  const path = resolve(cwd, given);
  const text = await readFile(path, "utf8").catch((error: Error) => error);
  if (text instanceof Error) {
    return problem(
      name,
      `NODE_EXTRA_CA_CERTS: ${text.message}`,
      "Name a file of certificates (PEM) that you may read, or unset it.",
    );
  }
  const count = text.split("-----BEGIN CERTIFICATE-----").length - 1;
  if (count === 0)
    return problem(
      name,
      `NODE_EXTRA_CA_CERTS: ${path} holds no certificate`,
      "Name a file of certificates in PEM form.",
    );
  return ok(
    name,
    `${count === 1 ? "1 more authority is" : `${count} more authorities are`} trusted: ${path}`,
  );
}
