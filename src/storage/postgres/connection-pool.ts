import { Pool, type PoolClient, type PoolConfig } from "pg";
import type { PoolUse } from "../dialect.ts";
import { refusesConnections } from "./errors.ts";

/** How long to wait for the server to accept a connection, in milliseconds. */
const connectTimeoutMs = 10_000;

/** Idle time before TCP keep-alive probes are sent, in milliseconds. */
const keepAliveMs = 10_000;

/** When to request a connection again after the server refused one, in milliseconds. The pauses double up to the maximum. */
const firstPauseMs = 50;
const maxPauseMs = 1_000;

/** How long a refusal is reported, in milliseconds, unless the server accepts all connections before. */
const reportRefusalMs = 60_000;

interface PoolOptions extends Pick<PoolConfig, "types"> {
  readonly size: number;
  /** How long a call waits for a connection, in milliseconds. */
  readonly waitMs: number;
  readonly onConnect: (client: PoolClient) => void;
}

/**
 * Connections to a server. Calls wait for them in the order in which they came. If the server refuses a connection because
 * there are too many, the calls share those that exist, and another one is requested later.
 */
export class ConnectionPool {
  readonly #pool: Pool;
  readonly #options: PoolOptions;
  readonly #waiting: (() => void)[] = [];
  /** How many connections calls may use for now. */
  #limit: number;
  #used = 0;
  #open = 0;
  #pauseMs = firstPauseMs;
  #growth: NodeJS.Timeout | undefined;
  #refusal: unknown;
  #refusedMs = Number.NEGATIVE_INFINITY;

  constructor(url: string, options: PoolOptions) {
    this.#options = options;
    this.#limit = options.size;
    this.#pool = new Pool({
      connectionString: url,
      application_name: "starpost",
      max: options.size,
      connectionTimeoutMillis: connectTimeoutMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: keepAliveMs,
      types: options.types,
      // Sends statements without waiting for the responses to earlier ones.
      pipeline: true,
    });
    // Lost connections are reported by queries. Without these listeners, they would also crash the process.
    const ignore = () => {};
    this.#pool.on("error", ignore);
    this.#pool.on("connect", (client) => {
      client.on("error", ignore);
      this.#open += 1;
      this.#limit = Math.max(this.#limit, this.#open);
      this.#pauseMs = firstPauseMs;
      if (this.#open === options.size) this.#refusedMs = Number.NEGATIVE_INFINITY;
      options.onConnect(client);
    });
    this.#pool.on("remove", () => (this.#open -= 1));
  }

  readonly readUse = (): PoolUse => ({
    total: this.#pool.totalCount,
    idle: this.#pool.idleCount,
    waiting: this.#waiting.length,
    isRefused: performance.now() - this.#refusedMs < reportRefusalMs,
  });

  async connect(): Promise<PoolClient> {
    const untilMs = performance.now() + this.#options.waitMs;
    await this.#takeTurn(untilMs);
    for (;;) {
      try {
        return await this.#pool.connect();
      } catch (error) {
        this.#used -= 1;
        if (refusesConnections(error)) this.#shrink(error);
        this.#admit();
        if (!refusesConnections(error)) throw error;
        await this.#takeTurn(untilMs, true);
      }
    }
  }

  release(client: PoolClient): void {
    client.release();
    this.#used -= 1;
    this.#admit();
  }

  end(): Promise<void> {
    return this.#pool.end();
  }

  /** @param isRetry whether the call has waited before, and is the next one */
  async #takeTurn(untilMs: number, isRetry = false): Promise<void> {
    if (this.#used < this.#limit) {
      this.#used += 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const go = () => {
        clearTimeout(timer);
        resolve();
      };
      const giveUp = () => {
        this.#waiting.splice(this.#waiting.indexOf(go), 1);
        reject(this.#limit < this.#options.size ? this.#refusal : new Error("timeout exceeded when trying to connect"));
      };
      const timer = setTimeout(giveUp, untilMs - performance.now());
      if (isRetry) this.#waiting.unshift(go);
      else this.#waiting.push(go);
    });
  }

  #admit(): void {
    while (this.#used < this.#limit && this.#waiting.length > 0) {
      this.#used += 1;
      this.#waiting.shift()?.();
    }
  }

  #shrink(refusal: unknown): void {
    this.#refusal = refusal;
    this.#refusedMs = performance.now();
    this.#limit = this.#open;
    if (this.#growth === undefined) this.#growth = this.#startGrowth();
  }

  /** Lets one call after the other request another connection. */
  #startGrowth(): NodeJS.Timeout {
    const grow = () => {
      this.#pauseMs = Math.min(this.#pauseMs * 2, maxPauseMs);
      this.#limit += 1;
      this.#growth = this.#limit < this.#options.size ? this.#startGrowth() : undefined;
      this.#admit();
    };
    return setTimeout(grow, this.#pauseMs).unref();
  }
}
