import { resolve } from "node:path";
import { parsePublicUrl } from "../../../config/public-url.ts";
import type { ServeOptions } from "../../../app/ports.ts";
import { usageError } from "../../../config/user-error.ts";
import { command } from "../../program/command.ts";
import { recipientFlag } from "../backup/encryption-flags.ts";
import { findExposureSettings, readProxies, readPublicLimits } from "./exposure-flags.ts";
import { readAge, readDelay, readPort, readSize, readWholeNumber } from "../../program/flag-values.ts";

const localHost = "127.0.0.1";

export default command({
  summary: "Serve the API over HTTP from the embedded database",
  database: "created",
  examples: [
    "starpost serve",
    "starpost serve --host 0.0.0.0 --port 80 --public-url https://reviews.shop.example",
    "starpost serve --metrics-port 9464",
    "starpost serve --log-file /var/log/starpost/serve.log",
    "starpost serve --backup-every 24h --backup-keep 7 --backup-folder /backup",
  ],
  flags: {
    host: { value: "<address>", description: "address to listen on", default: localHost },
    port: { value: "<n>", description: "port to listen on; 0 selects a free port", default: 8080, read: readPort },
    "public-url": {
      value: "<url>",
      description: "base URL of links in emails and pages (default: the listening address)",
      read: parsePublicUrl,
    },
    "tls-cert": { value: "<file>", description: "certificate chain (PEM), to serve HTTPS", values: "files" },
    "tls-key": { value: "<file>", description: "private key of the certificate (PEM)", values: "files" },
    "metrics-port": {
      value: "<n>",
      description: "port of a second listener, with metrics for Prometheus; 0 selects a free port (default: none)",
      read: readPort,
    },
    "metrics-host": { value: "<address>", description: "address of that listener (default: 127.0.0.1)" },
    "limit-legacy": { description: "also limit calls outside the core API to 5 per second per account" },
    "public-limits": {
      value: "<on|off|limits>",
      description:
        "limits of calls without a token, such as votes-per-client=100/600,images-per-client=off " +
        "(default: on, or off if only this machine can call)",
      read: readPublicLimits,
    },
    "photo-storage": {
      value: "<size>",
      description: "space for the photos of each account, such as 500MB or 20GB (default: 1GB)",
      read: readSize,
    },
    "trust-proxy": {
      value: "<addresses>",
      description: "comma-separated addresses or networks of reverse proxies whose X-Forwarded-For names the client",
      read: readProxies,
    },
    "bottom-lines-delay": {
      value: "<seconds>",
      description: "delay of the list of bottom lines, in seconds, 0 to 86400 (default: the account's setting)",
      read: readDelay,
    },
    "allow-signup": { description: "let anyone create an account, even if other machines can reach the server" },
    "backup-every": {
      value: "<age>",
      description: "back up the database at this interval, such as 6h or 1d (default: never)",
      read: readAge,
    },
    "backup-keep": { value: "<n>", description: "number of these backups to keep (default: 7)", read: readWholeNumber },
    "backup-folder": {
      value: "<folder>",
      description: "folder for these backups (default: backups in the data folder)",
      values: "folders",
    },
    recipient: { ...recipientFlag, description: `${recipientFlag.description} (for these backups)` },
    "log-file": {
      value: "<file>",
      description: "append the log to this file, which SIGHUP reopens (default: standard error)",
      values: "files",
    },
    "no-worker": { description: "do not send emails and webhooks; run `starpost mail run` instead" },
    chaos: { value: "<spec>", description: "inject faults for testing: drop=5%,429=10%,500=5%,reset=5%,seed=7" },
  },
  run: async (context, { flags }) => {
    // Loads the complete contract, because a plan may name any operation.
    const chaos =
      flags.chaos === undefined
        ? undefined
        : (await import("../../../config/chaos-plan.ts")).parseChaosPlan(flags.chaos, "--chaos");
    const { runServer } = await import("./server-run.ts");
    return runServer(context, {
      host: flags.host,
      port: flags.port,
      publicUrl: flags["public-url"],
      certificate: findCertificate(flags, context.io.cwd),
      limitLegacy: flags["limit-legacy"] ?? false,
      metricsAt: findMetricsAddress(flags),
      ...findExposureSettings(
        { publicLimits: flags["public-limits"], trustedProxies: flags["trust-proxy"] },
        context.io.env,
      ),
      photoStorageBytes: flags["photo-storage"],
      bottomLinesDelayMs: flags["bottom-lines-delay"],
      backups: findBackupSchedule(flags, context.io.cwd),
      chaos,
      allowsSignUp: flags["allow-signup"] ?? false,
      hasWorker: flags["no-worker"] !== true,
      logFile: flags["log-file"] === undefined ? undefined : resolve(context.io.cwd, flags["log-file"]),
    });
  },
  render: "silent",
});

interface CertificateFlags {
  readonly "tls-cert"?: string | undefined;
  readonly "tls-key"?: string | undefined;
}

function findCertificate(flags: CertificateFlags, cwd: string): ServeOptions["certificate"] {
  const { "tls-cert": cert, "tls-key": key } = flags;
  if (cert !== undefined && key !== undefined) return { cert: resolve(cwd, cert), key: resolve(cwd, key) };
  if (cert !== undefined) throw usageError("--tls-cert requires --tls-key");
  if (key !== undefined) throw usageError("--tls-key requires --tls-cert");
  return undefined;
}

interface ListenFlags {
  readonly host: string;
  readonly port: number;
  readonly "metrics-port"?: number | undefined;
  readonly "metrics-host"?: string | undefined;
}

/** Metrics show how busy the shops are, so only this machine can read them by default. */
function findMetricsAddress(flags: ListenFlags): ServeOptions["metricsAt"] {
  const { "metrics-port": port, "metrics-host": host = localHost } = flags;
  if (port !== undefined) {
    const isTaken = port === flags.port && host === flags.host;
    if (!isTaken || port === 0) return { host, port };
    throw usageError(`--metrics-port ${port} is the port of the service`, "Choose another port.");
  }
  if (flags["metrics-host"] !== undefined) throw usageError("--metrics-host requires --metrics-port");
  return undefined;
}

/** The number of scheduled backups to keep. */
const keptBackups = 7;

interface BackupFlags {
  readonly "backup-every"?: number | undefined;
  readonly "backup-keep"?: number | undefined;
  readonly "backup-folder"?: string | undefined;
  readonly recipient?: readonly string[] | undefined;
}

function findBackupSchedule(flags: BackupFlags, cwd: string): ServeOptions["backups"] {
  const { "backup-every": everyMs, "backup-keep": keep, "backup-folder": folder, recipient: recipients } = flags;
  if (everyMs === 0) throw usageError('invalid value "0" for --backup-every: must be at least 1h');
  if (everyMs !== undefined) {
    const inFolder = folder === undefined ? undefined : resolve(cwd, folder);
    return { everyMs, keep: keep ?? keptBackups, folder: inFolder, recipients };
  }
  if (keep !== undefined) throw usageError("--backup-keep requires --backup-every");
  if (folder !== undefined) throw usageError("--backup-folder requires --backup-every");
  if (recipients !== undefined) throw usageError("--recipient requires --backup-every");
  return undefined;
}
