import { type Check, ok, problem, warning } from "../check.ts";
import { describeUnconnected } from "../../client/connection-failure.ts";
import { type Route, type RouteStep, tryRoute } from "../../client/route.ts";

/** A way that ends at a connection. */
export interface OpenRoute {
  /** The steps and what each took. */
  readonly message: string;
  readonly certificate?: Check | undefined;
}

const stepNames: Readonly<Record<RouteStep, string>> = { lookup: "DNS", connect: "TCP", secure: "TLS" };

const todos: Readonly<Record<RouteStep, string>> = {
  lookup: "See that the address is spelt right, and that this machine has a network and a name server.",
  connect:
    "See that the service runs, and that a firewall lets this machine through; a proxy goes into HTTPS_PROXY.",
  secure:
    "See that the address is right, and that it begins with http:// where the service has no TLS; an authority of your own goes into NODE_EXTRA_CA_CERTS.",
};

/** A certificate that is renewed by itself is renewed earlier than this before its end. */
const soonMs = 14 * 24 * 3_600_000;

/** Goes the way to a service, or to the proxy before it. */
export async function judgeRoute(
  address: string,
  {
    clock,
    signal,
    isProxy,
  }: { readonly clock: () => number; readonly signal: AbortSignal; readonly isProxy: boolean },
): Promise<OpenRoute | { readonly check: Check }> {
  const route = await tryRoute(new URL(address), { clock, signal });
  const { failure } = route;
  const what = isProxy ? `the proxy ${address}` : address;
  if (failure) {
    const done = describeSteps(route);
    const why = `${what}: ${stepNames[failure.step]}: ${describeUnconnected(failure.error)}`;
    return {
      check: problem("reachability", done === "" ? why : `${why} (before: ${done})`, todos[failure.step]),
    };
  }
  return {
    message: `${describeSteps(route)}${isProxy ? " to the proxy" : ""}`,
    certificate: judgeCertificate(route, clock()),
  };
}

function describeSteps({ tookMs, addresses }: Route): string {
  return Object.entries(tookMs)
    .map(([step, ms]) => {
      const found =
        step === "lookup" ? ` (${addresses.slice(0, 2).join(", ")}${addresses.length > 2 ? ", …" : ""})` : "";
      return `${stepNames[step as RouteStep]} ${ms} ms${found}`;
    })
    .join(", ");
}

function judgeCertificate({ certificateEndsMs }: Route, nowMs: number): Check | undefined {
  if (certificateEndsMs === undefined || Number.isNaN(certificateEndsMs)) return undefined;
  const day = new Date(certificateEndsMs).toISOString().slice(0, 10);
  const message = `the service's certificate is valid until ${day}`;
  if (certificateEndsMs - nowMs > soonMs) return ok("service-certificate", message);
  return warning("service-certificate", message, "Tell those who run the service: it is to be renewed.");
}
