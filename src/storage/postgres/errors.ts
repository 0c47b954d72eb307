import type { StorageIssue } from "../storage-error.ts";

const hintToResolve = "check the spelling of the host, and the DNS settings of this machine";

/** The command that creates a database. A URL without a path names that of the role. */
function hintToCreate(shownAs: string): string {
  if (!URL.canParse(shownAs)) return "create it with `createdb`";
  const { hostname, port, username, pathname } = new URL(shownAs);
  const quote = (text: string) => `'${decodeURIComponent(text).replaceAll("'", String.raw`'\''`)}'`;
  const place = [...(hostname === "" ? [] : ["--host", hostname]), ...(port === "" ? [] : ["--port", port])];
  const owner = username === "" ? [] : ["--owner", quote(username)];
  const command = ["createdb", ...place, ...owner, quote(pathname.slice(1) || username)].join(" ");
  return `create it as a role that may create databases: \`${command}\``;
}

/** SQLSTATE codes. Source: postgresql.org/docs/current/errcodes-appendix.html */
const serverErrors: Readonly<Record<string, StorageIssue>> = {
  "25006": ["readOnly", "the database is read-only (is the server a standby?)"],
  "25P03": ["busy", "the server rolled back the transaction because it was idle"],
  "28000": ["cannotOpen", "the server does not allow this role to connect"],
  "28P01": ["cannotOpen", "the role or its password is incorrect"],
  "3D000": ["cannotOpen", "the server has no database with that name", hintToCreate],
  "3F000": ["cannotOpen", "the role has no schema in the database"],
  "40001": ["busy", "the transaction conflicted with another one"],
  "40P01": ["busy", "the transaction conflicted with another one"],
  "42P01": ["damaged", "a table is missing"],
  "42501": ["cannotOpen", "the role lacks a required permission in the database"],
  "53100": ["full", "the server's disk is full"],
  "53200": ["busy", "the server is out of memory"],
  "55000": ["unreachable", "the database does not accept connections"],
  "55006": ["busy", "the database is in use"],
  "55P03": ["busy", "another process has locked the database"],
  "57014": ["busy", "the server canceled a statement"],
  "57P01": ["unreachable", "the server is shutting down"],
  "57P02": ["unreachable", "the server crashed and is restarting"],
  "57P03": ["unreachable", "the server is starting or shutting down"],
  "57P05": ["unreachable", "the server closed an idle connection"],
  "58030": ["full", "reading or writing failed on the server (is its disk full or failing?)"],
  XX001: ["damaged", "the server's data is damaged"],
  XX002: ["damaged", "an index on the server is damaged"],
};

/** Connection failures; also all codes of SQLSTATE class 08. */
const connectionLost: StorageIssue = ["unreachable", "the connection to the server was lost"];

/** The connection was lost during a commit, so the transaction may or may not have been committed. */
export class CommitLostError extends Error {
  override readonly name = "CommitLostError";
}

const networkErrors: Readonly<Record<string, StorageIssue>> = {
  ECONNREFUSED: ["unreachable", "connection refused"],
  ENOENT: ["unreachable", "the socket does not exist"],
  ENOTFOUND: ["unreachable", "unknown host", () => hintToResolve],
  EAI_AGAIN: ["unreachable", "the host name could not be resolved", () => hintToResolve],
  EHOSTUNREACH: ["unreachable", "the host cannot be reached"],
  ENETUNREACH: ["unreachable", "the host cannot be reached"],
  EACCES: ["cannotOpen", "permission to open the socket was denied"],
  ETIMEDOUT: ["unreachable", "the server did not respond in time"],
  ECONNRESET: connectionLost,
  ECONNABORTED: connectionLost,
  EPIPE: connectionLost,
};

const networkSyscalls: ReadonlySet<unknown> = new Set(["connect", "getaddrinfo", "read", "write"]);

/** Errors for which the driver provides only a message. */
const driverErrors: readonly (readonly [RegExp, StorageIssue])[] = [
  [/^timeout exceeded when trying to connect/, ["busy", "no connection became available in time"]],
  [
    /^Connection terminated due to connection timeout|^timeout expired/,
    ["unreachable", "the server did not respond in time"],
  ],
  [/^Connection terminated|is not queryable$/, connectionLost],
  [/^SASL: .*client password must be/, ["cannotOpen", "the server requires a password, but the address contains none"]],
  [/^The server does not support SSL/, ["cannotOpen", "the address requires TLS, but the server does not support it"]],
  [/^There was an error establishing an SSL/, ["cannotOpen", "the TLS connection could not be established"]],
];

/** Source: nodejs.org/api/tls.html "X509 certificate error codes" */
const certificateCode = /^(?:CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_CERT)/;

/** How PgBouncer reports, with one code for all errors, that it or the server behind it has too many connections. */
const poolerRefusal = /^no more connections allowed|too many (?:connections|clients)|^query_wait_timeout/;

/** Whether there are too many connections for another one. */
export function refusesConnections(error: unknown): boolean {
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  return code === "53300" || (code === "08P01" && poolerRefusal.test(String(message)));
}

/** How Citus reports that the coordinator has no connection to a node. Source: its file `remote_commands.c` */
const lostNode = /^connection to the remote node (?:[^\s@]+@)?([^\s@]+) failed/;

/** The host and port of the node of a cluster that could not be reached, if that is the error. */
export function findLostNode(error: unknown): string | undefined {
  const { message } = error as { readonly message?: unknown };
  return typeof message === "string" ? lostNode.exec(message)?.[1] : undefined;
}

export function explainPostgresError(error: unknown): StorageIssue | undefined {
  if (error instanceof CommitLostError) return ["unsure", error.message];
  if (refusesConnections(error)) return ["noConnection", "the server has no free connections"];
  if (isStalePlan(error)) return ["busy", "a table of a prepared statement has changed"];
  const { code, syscall, message } = error as { code?: unknown; syscall?: unknown; message?: unknown };
  if (typeof code === "string") {
    const isNetwork = networkSyscalls.has(syscall) || error instanceof AggregateError;
    if (isNetwork && networkErrors[code]) return networkErrors[code];
    const node = findLostNode(error);
    if (node !== undefined) return ["unreachable", `the node ${node} of the cluster cannot be reached`];
    if (/^08...$/.test(code)) return connectionLost;
    if (certificateCode.test(code)) return ["cannotOpen", "the server's certificate is not trusted"];
    return serverErrors[code];
  }
  if (typeof message !== "string") return undefined;
  return driverErrors.find(([pattern]) => pattern.test(message))?.[1];
}

/** Whether a migration has changed the columns that a prepared statement returns, or somebody has deleted the statement. */
export function isStalePlan(error: unknown): boolean {
  const { code, routine } = error as { readonly code?: unknown; readonly routine?: unknown };
  return code === "26000" || routine === "RevalidateCachedQuery";
}
