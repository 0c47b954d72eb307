/** The server could not start to listen; the message says where and why, the hint what to do. */
export class ListenError extends Error {
  override readonly name = "ListenError";
  readonly hint: string;

  constructor(message: string, hint: string, cause: unknown) {
    super(message, { cause });
    this.hint = hint;
  }
}

const elsewhere = "choose an address of this machine, such as 127.0.0.1 or 0.0.0.0";

const reasons: Readonly<Record<string, readonly [string, string]>> = {
  EADDRINUSE: [
    "is already in use by another process",
    "stop that process, or choose another port (0 takes a free one)",
  ],
  EACCES: ["may not be listened on (permission denied)", "choose a port from 1024 up"],
  EADDRNOTAVAIL: ["is not an address of this machine", elsewhere],
  ENOTFOUND: ["is not an address that is known here", elsewhere],
  EAI_AGAIN: ["is not an address that could be looked up", elsewhere],
};

/** Words a failure to listen; any other error is given back as it is. */
export function asListenError(error: unknown, host: string, port: number): unknown {
  const reason = reasons[(error as NodeJS.ErrnoException).code ?? ""];
  return reason ? new ListenError(`${host}:${port} ${reason[0]}`, reason[1], error) : error;
}
