import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";

/** A self-signed certificate for 127.0.0.1 and service.example. */
export interface SelfSignedCertificate {
  readonly key: string;
  readonly cert: string;
  /** The path for `NODE_EXTRA_CA_CERTS`. */
  readonly certFile: string;
}

/** Creates a certificate with OpenSSL; returns undefined if OpenSSL is not installed. */
export async function createCertificate(): Promise<SelfSignedCertificate | undefined> {
  const folder = mkdtempSync(join(tmpdir(), "starpost-certificate-"));
  const [keyFile, certFile] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const args = `req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1,DNS:service.example`;
  const made = await execa("openssl", [...args.split(" "), "-keyout", keyFile, "-out", certFile], { reject: false });
  if (made.exitCode !== 0) return undefined;
  return { key: readFileSync(keyFile, "utf8"), cert: readFileSync(certFile, "utf8"), certFile };
}
