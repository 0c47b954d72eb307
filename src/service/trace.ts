import { callerNames } from "../contract/endpoint.ts";
import { ServiceError } from "../contract/errors.ts";
import { findOperation } from "../contract/find-operation.ts";
import { type Transport, wrapTransport } from "./transport.ts";

/** What a connection does, for `--verbose`. Contains no secrets, but personal data in paths and queries. */
export type TraceEvent =
  /** An HTTP request is sent. `target` is the path and query. */
  | { readonly type: "request"; readonly method: string; readonly target: string }
  | {
      readonly type: "response";
      readonly method: string;
      /** Without the query. */
      readonly path: string;
      readonly status: number;
      readonly duration_ms: number;
      readonly bytes: number;
      /** As the service names the request in its log; undefined if it does not say. */
      readonly request_id: string | undefined;
    }
  /** A request got no response. */
  | {
      readonly type: "failure";
      readonly method: string;
      readonly path: string;
      readonly duration_ms: number;
      readonly message: string;
    }
  /** Nothing is sent for a while, or was sent during the last `ms` milliseconds. */
  | {
      readonly type: "wait";
      readonly reason: "pace" | "throttled" | "retry";
      readonly ms: number;
      readonly message: string;
    }
  /** A call of the embedded engine has ended. `outcome` is `ok` or the kind of the error. */
  | {
      readonly type: "call";
      readonly operation: string;
      readonly outcome: string;
      readonly duration_ms: number;
    };

export type OnTrace = (event: TraceEvent) => void;

/** Stands for a secret in a trace. */
export const hiddenSecret = "***";

const secretName = /(?:^|[._-])(?:utoken|token|secret|password|signature|sig|invitation_code)$/i;

/** Whether a field holds a secret, according to its name. */
export function isSecretName(name: string): boolean {
  return (callerNames.utoken as readonly string[]).includes(name) || secretName.test(name);
}

/** Replaces the secrets in the path and the query of a request. */
export function hideSecrets(method: string, target: string): string {
  const at = target.indexOf("?");
  const path = hideInPath(method, at === -1 ? target : target.slice(0, at));
  if (at === -1) return path;
  const query = target.slice(at + 1).split("&");
  const shown = query.map((pair) => {
    const name = pair.split("=", 1)[0] ?? "";
    return isSecretName(decode(name)) ? `${name}=${hiddenSecret}` : pair;
  });
  return `${path}?${shown.join("&")}`;
}

/** Links in emails contain their token in the path. */
function hideInPath(method: string, path: string): string {
  const { pathInput = {} } = findOperation(method, path) ?? {};
  const secrets = Object.entries(pathInput).filter(([name]) => isSecretName(name));
  const values = new Set(secrets.map(([, value]) => value));
  if (values.size === 0) return path;
  return path
    .split("/")
    .map((part) => (values.has(decode(part)) ? hiddenSecret : part))
    .join("/");
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
}

/** Reports the calls of a transport by the names of their operations. */
export function traceCalls(transport: Transport, onTrace: OnTrace, clock: () => number): Transport {
  return wrapTransport(transport, async (operation, input, caller, options) => {
    const startedAtMs = clock();
    const end = (outcome: string) => onTrace({ type: "call", operation, outcome, duration_ms: clock() - startedAtMs });
    try {
      const output = await transport.call(operation, input, caller, options);
      end("ok");
      return output;
    } catch (error) {
      end(error instanceof ServiceError ? error.kind : "failed");
      throw error;
    }
  });
}
