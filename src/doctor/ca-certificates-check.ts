import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { readVariable } from "../config/environment.ts";
import { countOf } from "../terminal/plural.ts";
import { type Check, type DoctorContext, ok, problem } from "./check.ts";

/** Checks that the file in `NODE_EXTRA_CA_CERTS` is readable. Node.js itself only prints a warning. */
export async function checkCaCertificates({ env, cwd }: Pick<DoctorContext, "env" | "cwd">): Promise<Check> {
  const name = "certificates";
  const value = readVariable(env, "NODE_EXTRA_CA_CERTS");
  if (value === undefined) return ok(name, "using the certificate authorities bundled with Node.js");
  const path = resolve(cwd, value);
  const text = await readFile(path, "utf8").catch((error: Error) => error);
  if (text instanceof Error) {
    return problem(
      name,
      `cannot read NODE_EXTRA_CA_CERTS: ${text.message}`,
      "Set it to a readable PEM file, or unset it.",
    );
  }
  const count = text.split("-----BEGIN CERTIFICATE-----").length - 1;
  if (count === 0) {
    return problem(
      name,
      `NODE_EXTRA_CA_CERTS: ${path} contains no certificates`,
      "Set it to a file of certificates in PEM format.",
    );
  }
  return ok(
    name,
    `using ${countOf(count, "additional certificate authority", "additional certificate authorities")} from ${path}`,
  );
}
