import { ServiceError } from "../contract/index.ts";

/** A proxy through which a service is reached. */
export interface Proxy {
  /** Scheme, host and port, without credentials. */
  readonly address: string;
  /** The value of `Proxy-Authorization`; never shown. */
  readonly authorization?: string | undefined;
  /** What a person changes to have another: the name of a variable. */
  readonly variable: string;
}

const hints = {
  address: "see that it is right, or name the service's host in NO_PROXY to reach it without a proxy",
  credentials: "give them in it, as http://user:password@host:port",
} as const;

/** Says that a proxy could not be reached. Nothing was sent to the service. */
export function asProxyFailure(proxy: Proxy, why: string, cause?: unknown): ServiceError {
  return new ServiceError("unavailable", `${nameProxy(proxy)}: ${why}`, {
    hint: `${proxy.variable} names it: ${hints.address}`,
    cause,
  });
}

/** Says that a proxy does not let a call through. Nothing was sent to the service. */
export function asProxyRefusal(proxy: Proxy, status: number, service: string): ServiceError {
  const { variable, authorization } = proxy;
  const name = nameProxy(proxy);
  if (status === 407) {
    const what = authorization ? "refuses the user name and password" : "asks for a user name and a password";
    return new ServiceError("unexpectedAnswer", `${name} ${what} (407)`, {
      hint: `${variable} names it: ${hints.credentials}`,
    });
  }
  const hint = `${variable} names it: ${hints.address}`;
  const isTemporary = status === 429 || status >= 500;
  const why = isTemporary ? "cannot reach" : "does not let through to";
  return new ServiceError(
    isTemporary ? "unavailable" : "unexpectedAnswer",
    `${name} ${why} ${service} (it answers ${status})`,
    { hint },
  );
}

export function nameProxy({ address }: Proxy): string {
  return `the proxy ${address}`;
}
