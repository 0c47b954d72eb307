import { ServiceError } from "../contract/index.ts";

/** An HTTP proxy for calls to a service. */
export interface Proxy {
  /** Scheme, host, and port, without credentials. */
  readonly address: string;
  /** The value of `Proxy-Authorization`; never shown. */
  readonly authorization?: string | undefined;
  /** The environment variable that defines the proxy. */
  readonly variable: string;
}

const hints = {
  address: "correct it, or add the service's host to NO_PROXY to bypass the proxy",
  credentials: "include them as http://user:password@host:port",
} as const;

/** The proxy could not be reached. Nothing was sent to the service. */
export function toProxyFailure(proxy: Proxy, reason: string, cause?: unknown): ServiceError {
  return new ServiceError("unavailable", `${nameProxy(proxy)}: ${reason}`, {
    hint: `the proxy is set in ${proxy.variable}: ${hints.address}`,
    cause,
  });
}

/** The proxy refused to forward a call. Nothing was sent to the service. */
export function toProxyRefusal(proxy: Proxy, status: number, service: string): ServiceError {
  const { variable, authorization } = proxy;
  const name = nameProxy(proxy);
  if (status === 407) {
    const what = authorization ? "rejected the user name and password" : "requires a user name and password";
    return new ServiceError("unexpectedAnswer", `${name} ${what} (407)`, {
      hint: `the proxy is set in ${variable}: ${hints.credentials}`,
    });
  }
  const hint = `the proxy is set in ${variable}: ${hints.address}`;
  const isTemporary = status === 429 || status >= 500;
  const reason = isTemporary ? "cannot reach" : "does not allow calls to";
  return new ServiceError(
    isTemporary ? "unavailable" : "unexpectedAnswer",
    `${name} ${reason} ${service} (status ${status})`,
    { hint },
  );
}

export function nameProxy({ address }: Proxy): string {
  return `the proxy ${address}`;
}
