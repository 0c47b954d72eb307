import { spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import type { Readable, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Environment } from "../config/environment.ts";
import { codeOf, UserError } from "../config/user-error.ts";

/** The programs of PostgreSQL that backups use. */
type Tool = "pg_dump" | "pg_restore" | "psql";

export interface ToolSettings {
  /** The environment of the program: it contains the address and the password, which must not be arguments. */
  readonly env: Environment;
  readonly signal?: AbortSignal | undefined;
}

/** How much of the output of a failed program is shown, in characters. */
const maxShown = 500;

/** The environment variables of libpq, by the parameter of a URL. Source: postgresql.org/docs/current/libpq-envars.html */
const parameterVariables: Readonly<Record<string, string>> = {
  host: "PGHOST",
  port: "PGPORT",
  user: "PGUSER",
  password: "PGPASSWORD",
  dbname: "PGDATABASE",
  options: "PGOPTIONS",
  sslmode: "PGSSLMODE",
  sslcert: "PGSSLCERT",
  sslkey: "PGSSLKEY",
  sslrootcert: "PGSSLROOTCERT",
  sslnegotiation: "PGSSLNEGOTIATION",
};

/** Describes a connection as environment variables, so that no password is on a command line. */
export function toConnectionEnv(address: string, env: Environment): Environment {
  const url = new URL(address);
  const decode = (text: string) => decodeURIComponent(text.replace(/^\[(.+)\]$/, "$1"));
  const parameters: Readonly<Record<string, string>> = {
    host: decode(url.hostname),
    port: url.port,
    user: decode(url.username),
    password: decode(url.password),
    dbname: decode(url.pathname.slice(1)),
    ...Object.fromEntries(url.searchParams),
    ...toSslMode(url.searchParams),
  };
  const found = Object.entries(parameterVariables).flatMap(([name, variable]) => {
    const value = parameters[name];
    return value === undefined || value === "" ? [] : [[variable, value] as const];
  });
  return { ...env, PGAPPNAME: "starpost backup", PGCONNECT_TIMEOUT: "10", ...Object.fromEntries(found) };
}

/** The driver knows modes that libpq does not. */
function toSslMode(parameters: URLSearchParams): Readonly<Record<string, string>> {
  if (parameters.get("sslmode") === "no-verify") return { sslmode: "require" };
  const isOn = ["true", "1"].includes(parameters.get("ssl") ?? "");
  return isOn && !parameters.has("sslmode") ? { sslmode: "verify-full", sslrootcert: "system" } : {};
}

/**
 * Finds out the major version of a program.
 * @throws UserError if it is not installed
 */
export async function readToolVersion(tool: Tool, { env }: ToolSettings): Promise<number> {
  const chunks: Buffer[] = [];
  await runTool(tool, ["--version"], { env }, { output: async (stream) => collect(stream, chunks) });
  return Number(/\(PostgreSQL\) (\d+)/.exec(Buffer.concat(chunks).toString())?.[1] ?? 0);
}

async function collect(stream: Readable, chunks: Buffer[]): Promise<void> {
  for await (const chunk of stream) chunks.push(chunk as Buffer);
}

/** @throws UserError if a program is older than what it must read */
export function requireVersion(tool: Tool, found: number, needed: number, what: string): void {
  if (found >= needed) return;
  throw new UserError(
    "failed",
    `${tool} ${found} is too old: ${what} needs version ${needed}`,
    `Install ${packageOf(needed)}, and put it first in PATH.`,
  );
}

interface ToolStreams {
  readonly input?: (stream: Writable) => Promise<void>;
  readonly output?: (stream: Readable) => Promise<void>;
}

/**
 * Runs a program.
 * @throws UserError if it is not installed, or fails
 */
export async function runTool(
  tool: Tool,
  args: readonly string[],
  { env, signal }: ToolSettings,
  { input, output }: ToolStreams,
): Promise<void> {
  const child = spawn(tool, args, {
    env: { ...env },
    stdio: [input ? "pipe" : "ignore", output ? "pipe" : "ignore", "pipe"],
    ...(signal && { signal }),
  });
  let complaint = "";
  child.stderr?.on("data", (data: Buffer) => (complaint = `${complaint}${data.toString()}`.slice(0, maxShown)));
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject).once("close", resolve);
  });
  // A program that fails closes its input.
  child.stdin?.on("error", () => {});
  const endOnError = async (work: Promise<void> | null | undefined): Promise<Error | undefined> => {
    try {
      await work;
      return undefined;
    } catch (error) {
      child.kill();
      return error as Error;
    }
  };
  const work = [endOnError(child.stdin && input?.(child.stdin)), endOnError(child.stdout && output?.(child.stdout))];
  const status = await ended.catch((error: unknown) => {
    throw codeOf(error) === "ENOENT" ? notInstalled(tool) : error;
  });
  const [inputError, outputError] = await Promise.all(work);
  // If its output cannot be stored, the program has not failed, but was ended.
  if (outputError) throw outputError;
  if (inputError instanceof UserError || (inputError && status === 0)) throw inputError;
  if (status !== 0) throw new UserError("failed", `${tool} failed: ${describe(complaint, status)}`);
}

/** Writes the output of a program to a new file, which only its owner can read. */
export function toNewFile(path: string): (stream: Readable) => Promise<void> {
  return (stream) => pipeline(stream, createWriteStream(path, { flags: "wx", mode: 0o600, flush: true }));
}

function describe(complaint: string, status: number | null): string {
  const lines = complaint
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  return lines.length === 0 ? `exit status ${status}` : lines.slice(0, 3).join("; ");
}

function notInstalled(tool: Tool): UserError {
  return new UserError(
    "failed",
    `${tool} not found: backups of PostgreSQL use its own programs`,
    `Install ${packageOf()}, or add their folder to PATH.`,
  );
}

function packageOf(version?: number): string {
  return `the client programs of PostgreSQL${version === undefined ? "" : ` ${version}`} (Debian: postgresql-client${version === undefined ? "" : `-${version}`})`;
}
