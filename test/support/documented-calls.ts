import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { createOpenApiChecker } from "./openapi-checker.ts";
import { useWire, type Wire } from "./wire.ts";

type Fields = Record<string, unknown>;

interface CallOptions {
  readonly body?: Fields;
  /** Expected status (default: 200). */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Compares a request and its response with the published OpenAPI document. */
export const { findContractFaults } = createOpenApiChecker(
  JSON.parse(await readFile(join(import.meta.dirname, "../../docs/reference/openapi.json"), "utf8")) as Fields,
);

/** A server whose requests and responses are checked against the OpenAPI document. */
export interface DocumentedCalls {
  readonly wire: () => Wire;
  /** Sends a request, checks its status and the document, and returns the JSON of the response. */
  readonly call: (
    operationId: string,
    request: readonly [method: string, path: string],
    options?: CallOptions,
  ) => Promise<Fields>;
  /** The prefix of the account's paths; `own` is that of the extensions. */
  readonly app: () => string;
  readonly own: () => string;
  readonly signed: (fields?: Fields) => Fields;
  readonly withToken: (path: string, query?: string) => string;
}

/** Starts a new server for each test of the file. */
export function useDocumentedCalls(): DocumentedCalls {
  const wire = useWire();
  return {
    wire,
    call: async (operationId, [method, path], { body, status = 200, headers } = {}) => {
      const reply = await wire().raw(method, path, body, headers);
      expect([operationId, reply.status, reply.text]).toEqual([operationId, status, reply.text]);
      expect(findContractFaults(operationId, { method, path, body }, reply)).toEqual([]);
      const isJson = reply.headers.get("content-type")?.startsWith("application/json") ?? false;
      return isJson ? (JSON.parse(reply.text) as Fields) : {};
    },
    app: () => `/apps/${wire().appKey}`,
    own: () => `/starpost/v1/apps/${wire().appKey}`,
    signed: (fields = {}) => ({ utoken: wire().utoken, ...fields }),
    withToken: (path, query = "") => `${path}?utoken=${wire().utoken}${query}`,
  };
}
