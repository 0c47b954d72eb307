import type { Writable } from "node:stream";

type Done = ((error?: Error | null) => void) | undefined;

export interface WriteHandlers {
  readonly write: (chunk: string | Uint8Array, done: Done) => boolean;
  /** Writes what is still buffered; called before the stream ends. */
  readonly flush?: () => void;
}

/** A proxy of a stream that handles everything written to it. */
export function proxyWrites(target: Writable, { write: handle, flush = () => {} }: WriteHandlers): Writable {
  const findDone = (given: readonly unknown[]) => given.find((value) => typeof value === "function") as Done;
  const write = (chunk: string | Uint8Array, ...more: unknown[]) => handle(chunk, findDone(more));
  const end = (...given: unknown[]) => {
    const [chunk] = given;
    if (typeof chunk === "string" || chunk instanceof Uint8Array) handle(chunk, undefined);
    flush();
    target.end(findDone(given));
    return stream;
  };
  const stream: Writable = new Proxy(target, {
    get: (inner, name) => {
      if (name === "write") return write;
      if (name === "end") return end;
      const value: unknown = Reflect.get(inner, name, inner);
      return typeof value === "function" ? (value.bind(inner) as unknown) : value;
    },
    // Replacing `write` would bypass the handlers.
    set: (inner, name, value) => name === "write" || Reflect.set(inner, name, value, inner),
  });
  return stream;
}
