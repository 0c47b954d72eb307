import { X509Certificate, createPrivateKey } from "node:crypto";
import { readFileSync, statSync, unwatchFile, watchFile } from "node:fs";
import { platform } from "node:os";
import { createSecureContext } from "node:tls";
import type { Certificate, CertificateSource } from "../server/server.ts";
import type { WorkerLog } from "../worker/job.ts";
import { failedError, toFileError } from "../config/user-error.ts";

/** The files of a certificate, with its intermediate certificates, and of its private key (PEM). */
export interface CertificateFiles {
  readonly cert: string;
  readonly key: string;
}

const reloadEachMs = 1_000;

/**
 * Reads a certificate and its key. Messages never contain the key.
 * @throws UserError `failed`
 */
function readCertificate(files: CertificateFiles): Certificate {
  const cert = readFile(files.cert);
  const key = readFile(files.key);
  const parsed = parse(files.cert, "a certificate", () => new X509Certificate(cert));
  const privateKey = parse(files.key, "an unencrypted private key", () => createPrivateKey(key));
  if (!parsed.checkPrivateKey(privateKey)) {
    throw failedError(`${files.key}: not the key of ${files.cert}`, "Use the key that belongs to the certificate.");
  }
  parse(files.cert, "a usable certificate", () => createSecureContext({ cert, key }));
  return { cert, key };
}

function readFile(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw toFileError(error, path, "Check the path and the permissions of the file.");
  }
}

function parse<T>(path: string, wanted: string, read: () => T): T {
  try {
    return read();
  } catch {
    throw failedError(`${path}: not ${wanted} in PEM format`, "Use a PEM file, with BEGIN and END lines.");
  }
}

/**
 * Reads the certificate, and again when a file changes, also if it is a symbolic link to another file.
 * @throws UserError `failed`
 */
export function openCertificate(files: CertificateFiles | undefined, log: WorkerLog): CertificateSource | undefined {
  if (!files) return undefined;
  if ((statSync(files.key, { throwIfNoEntry: false })?.mode ?? 0) & 0o004 && platform() !== "win32") {
    log.warn({ file: files.key }, "every user of this machine can read the private key; run chmod 600");
  }
  const paths = [files.cert, files.key];
  return {
    certificate: readCertificate(files),
    watch: (onChange) => {
      const reload = () => {
        try {
          onChange(readCertificate(files));
          log.info({}, "certificate reloaded");
        } catch (error) {
          log.warn({ reason: (error as Error).message }, "certificate not reloaded; the old one stays in use");
        }
      };
      for (const path of paths) watchFile(path, { persistent: false, interval: reloadEachMs }, reload);
      return () => {
        for (const path of paths) unwatchFile(path, reload);
      };
    },
  };
}
