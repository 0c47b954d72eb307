import type { FastifyInstance, FastifyReply } from "fastify";
import type { SendingLimits } from "../contract/index.ts";
import { responseTooLarge } from "./long-json.ts";

/** A response that its client has not received completely. */
interface Pending {
  readonly bytes: number;
  readonly reply: FastifyReply;
}

/** Closes the connections of clients that do not receive their responses, which would otherwise fill the memory. */
export class PendingResponses {
  readonly #limits: SendingLimits;
  /** The oldest comes first. */
  readonly #pending = new Set<Pending>();
  #bytes = 0;

  constructor(limits: SendingLimits) {
    this.#limits = limits;
  }

  watch(app: FastifyInstance): void {
    const { responseBytes, smallBytes } = this.#limits;
    app.addHook("onSend", (request, reply, payload, done) => {
      const isText = typeof payload === "string" || Buffer.isBuffer(payload);
      if (!isText || request.method === "HEAD" || payload.length * 3 <= smallBytes) return done(null, payload);
      // As bytes, text does not count toward the heap, and takes less memory.
      const content = typeof payload === "string" ? Buffer.from(payload) : payload;
      if (content.length > responseBytes) return done(responseTooLarge(responseBytes));
      if (content.length > smallBytes) this.#add({ bytes: content.length, reply });
      return done(null, content);
    });
  }

  #add(pending: Pending): void {
    const { raw } = pending.reply;
    const { idleMs, responseWithinMs, bufferedBytes } = this.#limits;
    this.#pending.add(pending);
    this.#bytes += pending.bytes;
    raw.setTimeout(idleMs, () => raw.destroy());
    const timer = setTimeout(() => raw.destroy(), responseWithinMs).unref();
    raw.once("close", () => {
      clearTimeout(timer);
      this.#remove(pending);
    });
    for (const oldest of this.#pending) {
      if (this.#bytes <= bufferedBytes || oldest === pending) return;
      this.#remove(oldest);
      oldest.reply.raw.destroy();
    }
  }

  #remove(pending: Pending): void {
    if (this.#pending.delete(pending)) this.#bytes -= pending.bytes;
  }
}
