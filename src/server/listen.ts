import type { AddressInfo } from "node:net";
import { Server as SecureServer } from "node:tls";
import type { FastifyInstance } from "fastify";

/** The server could not listen on an address. The message states the address and the reason; the hint suggests a fix. */
export class ListenError extends Error {
  override readonly name = "ListenError";
  readonly hint: string;

  constructor(message: string, hint: string, cause: unknown) {
    super(message, { cause });
    this.hint = hint;
  }
}

const elsewhere = "Choose an address of this machine, such as 127.0.0.1 or 0.0.0.0.";

const reasons: Readonly<Record<string, readonly [string, string]>> = {
  EADDRINUSE: [
    "address already in use",
    "Stop the process that uses it, or choose another port (0 selects a free one).",
  ],
  EACCES: ["permission denied", "Choose a port of at least 1024."],
  EADDRNOTAVAIL: ["not an address of this machine", elsewhere],
  ENOTFOUND: ["host name not found", elsewhere],
  EAI_AGAIN: ["could not resolve the host name", elsewhere],
};

/**
 * Starts listening. Port 0 selects a free port.
 * @throws ListenError
 */
export async function listenOn(
  app: FastifyInstance,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<{ readonly url: string }> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    throw toListenError(error, { host, port });
  }
  const { port: foundPort } = app.server.address() as AddressInfo;
  return { url: toUrl({ host, port: foundPort, isSecure: app.server instanceof SecureServer }) };
}

/** Explains why listening failed. Other errors stay as they are. */
export function toListenError(
  error: unknown,
  { host, port }: { readonly host: string; readonly port: number },
): unknown {
  const [reason, hint] = reasons[(error as NodeJS.ErrnoException).code ?? ""] ?? [];
  if (reason === undefined || hint === undefined) return error;
  return new ListenError(`cannot listen on ${host}:${port}: ${reason}`, hint, error);
}

interface Address {
  readonly host: string;
  readonly port: number;
  readonly isSecure?: boolean;
}

export function toUrl({ host, port, isSecure = false }: Address): string {
  return `${isSecure ? "https" : "http"}://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
