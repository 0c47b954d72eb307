import type { FastifyRequest } from "fastify";
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { ServiceError, type UploadLimits } from "../contract/index.ts";
import { listNetworks } from "../service/client-networks.ts";
import { addressOf } from "./request-turns.ts";

/** A request whose body may be received, until its response has been sent. */
export interface Upload {
  readonly client: string;
  /** Refuses the body, unless it has arrived. Undefined before it is received. */
  refuse: ((error: ServiceError) => void) | undefined;
}

interface Waiting {
  readonly client: string;
  readonly start: () => void;
}

/**
 * Lets few uploads be in memory at a time, each from the first byte of its body to its response. The bodies of others are
 * not read meanwhile, so that they take neither time nor memory. Clients take turns.
 */
export class Uploads {
  readonly #limits: UploadLimits;
  readonly #held = new Set<Upload>();
  readonly #waiting = new Set<Waiting>();

  constructor(limits: UploadLimits) {
    this.#limits = limits;
  }

  /** Waits until a body may be received. @throws ServiceError `unavailable` if that takes too long */
  take(request: FastifyRequest, response: ServerResponse): Promise<Upload> {
    const client = listNetworks(addressOf(request))[0]?.name ?? "";
    const { atOnce, waiting: max, waitMs } = this.#limits;
    const { socket } = request.raw;
    return new Promise((resolve, reject) => {
      // The event has passed that would release it.
      if (response.closed || socket.destroyed) return;
      const start = () => {
        leave();
        resolve(this.#hold(client, response, socket));
      };
      const waiting = { client, start };
      const leave = () => {
        clearTimeout(timer);
        // If a response waits for those before it, only its connection reports that it is closed.
        for (const from of [response, socket]) from.removeListener("close", leave);
        this.#waiting.delete(waiting);
      };
      const timer = setTimeout(() => {
        leave();
        reject(tooManyUploads());
      }, waitMs).unref();
      if (this.#held.size < atOnce) start();
      else if (this.#waiting.size >= max) {
        leave();
        reject(tooManyUploads());
      } else {
        for (const from of [response, socket]) from.once("close", leave);
        this.#waiting.add(waiting);
      }
    });
  }

  #hold(client: string, response: ServerResponse, socket: Socket): Upload {
    const upload: Upload = { client, refuse: undefined };
    this.#held.add(upload);
    const timer = setInterval(() => {
      if (this.#waiting.size > 0) upload.refuse?.(tooManyUploads());
    }, this.#limits.receiveMs).unref();
    const release = () => {
      for (const from of [response, socket]) from.removeListener("close", release);
      clearInterval(timer);
      this.#held.delete(upload);
      this.#startNext();
    };
    for (const from of [response, socket]) from.once("close", release);
    return upload;
  }

  #startNext(): void {
    const clients = new Set([...this.#held].map(({ client }) => client));
    const all = [...this.#waiting];
    (all.find(({ client }) => !clients.has(client)) ?? all[0])?.start();
  }
}

function tooManyUploads(): ServiceError {
  return new ServiceError("unavailable", "too many uploads are being received", { retryAfterMs: 10_000 });
}
