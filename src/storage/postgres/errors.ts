import type { KnownProblem } from "../storage-error.ts";

/** The server's own codes. Source: postgresql.org/docs/current/errcodes-appendix.html */
const serverProblems: Readonly<Record<string, KnownProblem>> = {
  "25006": ["readOnly", "the database cannot be written (is the server a standby?)"],
  "25P03": ["busy", "the server took the transaction back because it stood still"],
  "28000": ["cannotOpen", "the server does not let this role in"],
  "28P01": ["cannotOpen", "the role or its password is wrong"],
  "3D000": ["cannotOpen", "the server has no database of that name"],
  "3F000": ["cannotOpen", "the database has no schema that the role may use"],
  "40001": ["busy", "another transaction was in the way"],
  "40P01": ["busy", "another transaction was in the way"],
  "42501": ["cannotOpen", "the role may not do that in this database"],
  "53100": ["full", "the disk of the server is full"],
  "53200": ["busy", "the server is short of memory"],
  "53300": ["busy", "the server has no connection left"],
  "55000": ["unreachable", "the database takes no connections now"],
  "55006": ["busy", "the database is in use"],
  "55P03": ["busy", "another process holds the database locked"],
  "57014": ["busy", "the server gave a statement up"],
  "57P01": ["unreachable", "the server is shutting down"],
  "57P02": ["unreachable", "the server has crashed and is starting again"],
  "57P03": ["unreachable", "the server is starting or shutting down"],
  "57P05": ["unreachable", "the server closed a connection that stood still"],
  "58030": ["full", "the server could not read or write (is its disk full or failing?)"],
  XX001: ["damaged", "the data of the server is damaged"],
  XX002: ["damaged", "an index of the server is damaged"],
};

/** Codes of which only the class matters: connections that failed or broke. */
const lost: KnownProblem = ["unreachable", "the connection to the server was lost"];

/** The connection was lost while the server was told to commit: it may have done so, and may not. */
export class CommitLostError extends Error {
  override readonly name = "CommitLostError";
}

const networkProblems: Readonly<Record<string, KnownProblem>> = {
  ECONNREFUSED: ["unreachable", "no server answers there (connection refused)"],
  ENOENT: ["unreachable", "no server answers there (it has no such socket)"],
  ENOTFOUND: ["unreachable", "the host is not known"],
  EAI_AGAIN: ["unreachable", "the host's name could not be looked up"],
  EHOSTUNREACH: ["unreachable", "the host cannot be reached"],
  ENETUNREACH: ["unreachable", "the host cannot be reached"],
  EACCES: ["cannotOpen", "the server's socket may not be opened (permission denied)"],
  ETIMEDOUT: ["unreachable", "the server did not answer in time"],
  ECONNRESET: lost,
  ECONNABORTED: lost,
  EPIPE: lost,
};

const networkSyscalls: ReadonlySet<unknown> = new Set(["connect", "getaddrinfo", "read", "write"]);

/** What the driver says in words alone. */
const driverProblems: readonly (readonly [RegExp, KnownProblem])[] = [
  [/^timeout exceeded when trying to connect/, ["busy", "no connection to the server came free in time"]],
  [
    /^Connection terminated due to connection timeout|^timeout expired/,
    ["unreachable", "the server did not answer in time"],
  ],
  [/^Connection terminated|is not queryable$/, lost],
  [
    /^SASL: .*client password must be/,
    ["cannotOpen", "the server wants a password, and the address has none"],
  ],
  [
    /^The server does not support SSL/,
    ["cannotOpen", "the server does not speak TLS, and the address wants it"],
  ],
  [/^There was an error establishing an SSL/, ["cannotOpen", "the server could not speak TLS"]],
];

/** Source: nodejs.org/api/tls.html "X509 certificate error codes" */
const certificateCode = /^(?:CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_CERT)/;

/** Says what an error of the PostgreSQL driver means, or nothing where it is none of storage's own. */
export function readPostgresProblem(error: unknown): KnownProblem | undefined {
  if (error instanceof CommitLostError) return ["unsure", error.message];
  const { code, syscall, message } = error as { code?: unknown; syscall?: unknown; message?: unknown };
  if (typeof code === "string") {
    const isNetwork = networkSyscalls.has(syscall) || error instanceof AggregateError;
    if (isNetwork && networkProblems[code]) return networkProblems[code];
    if (/^08...$/.test(code)) return lost;
    if (certificateCode.test(code)) return ["cannotOpen", "the certificate of the server is not trusted"];
    return serverProblems[code];
  }
  if (typeof message !== "string") return undefined;
  return driverProblems.find(([pattern]) => pattern.test(message))?.[1];
}
