import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { Server as SecureServer } from "node:tls";
import type { Socket } from "node:net";

/** What is parsed at once, in bytes: it may contain hundreds of requests or chunks. */
const sliceBytes = 8 * 1_024;

/** Requests of a connection that have not been answered, beyond which no further ones are parsed. */
const maxUnanswered = 32;

/** How long requests are parsed before other events are handled. */
const turnMs = 2;

type Parse = (bytes: Buffer) => void;

/**
 * Parses what connections send in slices, for a short time in each turn of the event loop: bytes that are expensive to
 * parse, such as chunks of one byte, do not delay other events, however many connections send them.
 */
export function receiveInTurns(server: Server, now: () => number = () => performance.now()): void {
  /** Connections with unparsed bytes, which are kept in the stream. */
  const waiting = new Set<Socket>();
  let turnEndsAt: number | undefined;

  const isTimeLeft = () => {
    if (turnEndsAt === undefined) {
      turnEndsAt = now() + turnMs;
      setImmediate(endTurn);
    }
    return now() < turnEndsAt;
  };
  const endTurn = () => {
    turnEndsAt = undefined;
    for (const socket of waiting) socket.resume();
    waiting.clear();
  };

  /** Requests of each connection that have not been answered. */
  const unanswered = new WeakMap<Socket, number>();
  const blocked = new WeakSet<Socket>();
  const countAnswer = (socket: Socket) => {
    unanswered.set(socket, (unanswered.get(socket) ?? 1) - 1);
    if (blocked.delete(socket)) socket.resume();
  };
  server.on("request", ({ socket }: IncomingMessage, response: ServerResponse) => {
    unanswered.set(socket, (unanswered.get(socket) ?? 0) + 1);
    response.once("finish", () => countAnswer(socket));
  });

  server.on(server instanceof SecureServer ? "secureConnection" : "connection", (socket: Socket) => {
    // Node.js would otherwise parse up to 64 KiB of each connection at once.
    const [parse] = socket.listeners("data") as Parse[];
    if (!parse) return;
    socket.on("data", (bytes: Buffer) => {
      let at = 0;
      // While a connection is paused, its parser must receive nothing.
      while (at < bytes.length && !socket.isPaused() && !socket.destroyed) {
        const isBlocked = (unanswered.get(socket) ?? 0) >= maxUnanswered;
        if (isBlocked || !isTimeLeft()) {
          (isBlocked ? blocked : waiting).add(socket);
          socket.pause();
          break;
        }
        parse(bytes.subarray(at, (at += sliceBytes)));
      }
      if (at < bytes.length && !socket.destroyed) socket.unshift(bytes.subarray(at));
    });
    socket.removeListener("data", parse);
  });
}
