import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { connect, type Socket } from "node:net";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { execa } from "execa";
import { startCountingMailServer, type CountingMailServer } from "../support/counting-mail-server.ts";
import { takeEmptyDatabase } from "../support/postgres.ts";
import { Home } from "../support/starpost.ts";
import type { AttackedAccount, Send } from "./attack.ts";

/** The program to attack; another build shows what its version withstands. */
const program = resolve(process.env["STARPOST_ATTACK_PROGRAM"] ?? "bin/starpost.js");
const probe = resolve("test/attack/probe.js");
const replyWithinMs = 60_000;

/** A database with two accounts. */
export interface AttackedStore {
  readonly home: Home;
  readonly database: string;
  readonly mail: CountingMailServer;
  readonly account: AttackedAccount;
  readonly otherAccount: AttackedAccount;
  readonly neighbor: AttackedAccount;
  readonly close: () => Promise<void>;
}

export interface AttackedServer {
  readonly url: string;
  readonly pid: number;
  /** Whether the process still runs. */
  readonly isRunning: () => boolean;
  /** Returns the longest delay of the event loop and the peak memory since the last call. */
  readonly measure: () => Promise<Measured>;
  /** What the server wrote to standard error. */
  readonly log: () => string;
  readonly stop: () => Promise<void>;
}

export interface Measured {
  readonly delayMs: number;
  readonly memoryMb: number;
}

interface Keys {
  readonly app_key: string;
  readonly secret: string;
}

/** Creates a database with a first account and two that signed up. */
export async function openAttackedStore(dialect: "sqlite" | "postgres"): Promise<AttackedStore> {
  const placed = dialect === "postgres" ? await takeEmptyDatabase() : undefined;
  const mail = await startCountingMailServer();
  const home = new Home({
    STARPOST_KEY: randomBytes(32).toString("hex"),
    ...(placed && { STARPOST_DATABASE: placed.url }),
    STARPOST_ALLOW_PRIVATE_WEBHOOKS: "on",
    ...mail.env,
    STARPOST_MAIL_FROM: "shop@shop.example",
  });
  const server = await startAttackedServer(home, []);
  const send = createSend(server.url, "127.0.0.1");
  const logIn = async ({ app_key, secret }: Keys): Promise<AttackedAccount> => {
    const grant = { client_id: app_key, client_secret: secret, grant_type: "client_credentials" };
    const { access_token: utoken } = (await send("POST", "/oauth/token", grant)).json() as { access_token: string };
    return { appKey: app_key, secret, utoken };
  };
  const signUp = async (name: string) => {
    const user = { email: `${name}@mail.example`, display_name: name, password: "correct horse battery" };
    const created = await send("POST", "/users", { user: { ...user, url: `https://${name}.example` } });
    return logIn((created.json() as { response: Keys }).response);
  };
  const run = (...args: string[]) =>
    execa(process.execPath, [program, ...args, "--json"], { env: home.env, extendEnv: false, reject: false });
  const account = await logIn(JSON.parse((await run("auth", "credentials")).stdout) as Keys);
  const otherAccount = await signUp("mallory");
  const neighbor = await signUp("neighbor");
  // Earlier versions have one setting for all accounts.
  await run("account", "allow-private-webhooks", neighbor.appKey, "--yes");
  await run("account", "enable-email", neighbor.appKey, "--yes");
  await server.stop();
  return {
    home,
    database: placed?.url ?? join(home.folder, "starpost.db"),
    mail,
    account,
    otherAccount,
    neighbor,
    close: async () => {
      await mail.close();
      home.remove();
      await placed?.drop();
    },
  };
}

/** Starts `starpost serve` in its own process and waits until it listens. */
export async function startAttackedServer(home: Home, flags: readonly string[]): Promise<AttackedServer> {
  const args = ["--import", probe, program, "serve", "--port", "0", "--json", ...flags];
  const server = spawn(process.execPath, args, { env: home.env, stdio: ["ignore", "pipe", "pipe", "ipc"] });
  const ended = once(server, "exit");
  let log = "";
  server.stderr?.on("data", (data: Buffer) => {
    log = (log + data.toString()).slice(-1_000_000);
  });
  const line = await new Promise<string>((found, failed) => {
    server.stdout?.once("data", (data: Buffer) => found(data.toString()));
    void ended.then(() => failed(new Error(`serve ended: ${log}`)));
  });
  const pid = server.pid ?? 0;
  return {
    url: (JSON.parse(line) as { url: string }).url,
    pid,
    isRunning: () => server.exitCode === null && server.signalCode === null,
    measure: async () => ({ delayMs: await askForDelay(server), memoryMb: takePeakMemory(pid) }),
    log: () => log,
    stop: async () => {
      server.kill("SIGTERM");
      await Promise.race([ended, sleep(10_000, undefined, { ref: false })]);
      server.kill("SIGKILL");
      await ended;
    },
  };
}

async function askForDelay(server: ChildProcess): Promise<number> {
  const answered = once(server, "message") as Promise<[{ readonly longestMs: number }]>;
  server.send("measure");
  const [{ longestMs }] = await answered;
  return longestMs;
}

/** Returns the peak of the resident memory in MB, and starts the next measurement. */
function takePeakMemory(pid: number): number {
  const [, kilobytes = "0"] = /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  writeFileSync(`/proc/${pid}/clear_refs`, "5");
  return Math.round(Number(kilobytes) / 1_024);
}

/** Connects from an address of the loopback network. */
export async function connectFrom(url: string, localAddress: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), localAddress });
  // The server may close it at any time.
  socket.on("error", () => undefined);
  await new Promise<void>((settled) => {
    socket.once("connect", () => settled()).once("close", () => settled());
  });
  return socket;
}

/** Sends requests over keep-alive connections from an address of the loopback network. */
export function createSend(url: string, localAddress: string): Send {
  const agent = new Agent({ keepAlive: true, maxSockets: 64, localAddress, timeout: replyWithinMs });
  return (method, path, body, headers = {}) =>
    new Promise((found, failed) => {
      const content =
        typeof body === "string" || Buffer.isBuffer(body) || body === undefined ? body : JSON.stringify(body);
      const length =
        content === undefined
          ? {}
          : { "content-type": "application/json", "content-length": String(Buffer.byteLength(content)) };
      const sent = request(url + path, { method, agent, headers: { ...length, ...headers } }, (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", failed);
        response.on("end", () => {
          const text = Buffer.concat(chunks).toString();
          found({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text,
            json: () => JSON.parse(text) as unknown,
          });
        });
      });
      sent.on("timeout", () => sent.destroy(new Error(`no response within ${replyWithinMs} ms`)));
      sent.on("error", failed);
      sent.end(content);
    });
}
