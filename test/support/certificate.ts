import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";

/** A certificate of 127.0.0.1 and service.example that vouches for itself. */
export interface OwnCertificate {
  readonly key: string;
  readonly cert: string;
  /** For `NODE_EXTRA_CA_CERTS`. */
  readonly certFile: string;
}

/** Makes a certificate with OpenSSL; nothing where the machine has none. */
export async function makeCertificate(): Promise<OwnCertificate | undefined> {
  const folder = mkdtempSync(join(tmpdir(), "starpost-certificate-"));
  const [keyFile, certFile] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const args = `req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1,DNS:service.example`;
  const made = await execa("openssl", [...args.split(" "), "-keyout", keyFile, "-out", certFile], {
    reject: false,
  });
  if (made.exitCode !== 0) return undefined;
  return { key: readFileSync(keyFile, "utf8"), cert: readFileSync(certFile, "utf8"), certFile };
}
