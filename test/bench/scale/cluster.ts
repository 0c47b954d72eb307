import { execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";

/** An account, and a token for its calls. */
export interface Account {
  readonly appKey: string;
  readonly utoken: string;
}

/** Servers that share a database. */
export interface Cluster {
  readonly urls: readonly string[];
  /** The process of each server. */
  readonly pids: readonly number[];
  readonly accounts: readonly Account[];
  /** Runs a command on the database of the servers, and returns its output. */
  readonly run: (args: readonly string[]) => string;
}

export interface ClusterOptions {
  /** For temporary files. */
  readonly folder: string;
  /** The folder of the build to run. */
  readonly build: string;
  readonly database: string;
  readonly servers: number;
  readonly accounts: number;
  readonly sealingKey?: string;
  /** Further environment variables of the servers. */
  readonly env?: Readonly<Record<string, string>>;
  readonly flags?: readonly string[];
}

/** Starts servers with accounts on a database that may be empty; `use` gets them. */
export async function withCluster<T>(options: ClusterOptions, use: (cluster: Cluster) => Promise<T>): Promise<T> {
  const home = mkdtempSync(join(options.folder, "cluster-"));
  const program = resolve(options.build, "bin/starpost.js");
  const env = {
    PATH: process.env["PATH"] ?? "",
    STARPOST_HOME: home,
    STARPOST_DATABASE: options.database,
    STARPOST_KEY: options.sealingKey ?? randomBytes(32).toString("hex"),
    STARPOST_KEYRING: "off",
    ...options.env,
  };
  const run = (args: readonly string[]) => execFileSync(process.execPath, [program, ...args], { env }).toString();
  const keys = Array.from({ length: options.accounts }, () => JSON.parse(run(["account", "create", "--json"])) as Keys);
  const started: Server[] = [];
  try {
    for (let n = 0; n < options.servers; n++) started.push(await startServer(program, env, options.flags));
    const [first] = started;
    const accounts = await Promise.all(keys.map((key) => logIn(first?.url ?? "", key)));
    return await use({ urls: started.map(({ url }) => url), pids: started.map(({ pid }) => pid), accounts, run });
  } finally {
    await Promise.all(started.map((server) => server.stop()));
    rmSync(home, { recursive: true, force: true });
  }
}

interface Keys {
  readonly app_key: string;
  readonly secret: string;
}

interface Server {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<unknown>;
}

async function startServer(
  program: string,
  env: Readonly<Record<string, string>>,
  flags: readonly string[] = [],
): Promise<Server> {
  const args = [program, "serve", "--port", "0", "--json", "--quiet", ...flags];
  const child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "ignore"] });
  const ended = new Promise((end) => child.once("close", end));
  const stop = () => {
    child.kill("SIGTERM");
    return ended;
  };
  const line = await new Promise<string>((found, failed) => {
    child.stdout.once("data", (data: Buffer) => found(data.toString()));
    child.once("close", (code) => failed(new Error(`serve ended with ${code}`)));
  });
  const { url } = JSON.parse(line) as { url: string };
  return { url, pid: child.pid ?? 0, stop };
}

async function logIn(url: string, { app_key, secret }: Keys): Promise<Account> {
  const reply = await fetch(`${url}/oauth/token`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ client_id: app_key, client_secret: secret, grant_type: "client_credentials" }),
  });
  const { access_token: utoken } = (await reply.json()) as { access_token: string };
  return { appKey: app_key, utoken };
}
