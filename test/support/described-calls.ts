import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { createJudge } from "./described.ts";
import { useWire, type Wire } from "./wire.ts";

type Fields = Record<string, unknown>;

interface CallOptions {
  readonly body?: Fields;
  /** 200 where absent. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The document as people read it. */
export const { judge } = createJudge(
  JSON.parse(
    await readFile(join(import.meta.dirname, "../../docs/reference/openapi.json"), "utf8"),
  ) as Fields,
);

/** The server, and calls of it that are held against the document. */
export interface DescribedCalls {
  readonly wire: () => Wire;
  /** Makes a call that is to be answered with a status, as the document says, and gives the JSON that came. */
  readonly call: (
    operationId: string,
    asked: readonly [method: string, path: string],
    options?: CallOptions,
  ) => Promise<Fields>;
  /** The start of the account's paths, and of those of extensions. */
  readonly app: () => string;
  readonly own: () => string;
  readonly signed: (fields?: Fields) => Fields;
  readonly withToken: (path: string, query?: string) => string;
}

/** Starts the server anew for each test of the file. */
export function useDescribedCalls(): DescribedCalls {
  const wire = useWire();
  return {
    wire,
    call: async (operationId, [method, path], { body, status = 200, headers } = {}) => {
      const reply = await wire().raw(method, path, body, headers);
      expect([operationId, reply.status, reply.text]).toEqual([operationId, status, reply.text]);
      expect(judge(operationId, { method, path, body }, reply)).toEqual([]);
      const isJson = reply.headers.get("content-type")?.startsWith("application/json") ?? false;
      return isJson ? (JSON.parse(reply.text) as Fields) : {};
    },
    app: () => `/apps/${wire().appKey}`,
    own: () => `/starpost/v1/apps/${wire().appKey}`,
    signed: (fields = {}) => ({ utoken: wire().utoken, ...fields }),
    withToken: (path, query = "") => `${path}?utoken=${wire().utoken}${query}`,
  };
}
