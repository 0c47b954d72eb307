import { describeConnectError } from "../../client/connection-failure.ts";
import { type ConnectionProbe, type ConnectionStep, probeConnection } from "../../client/connection-probe.ts";
import { type Check, ok, problem, warning } from "../check.ts";
import { dayMs } from "../../contract/time.ts";

export interface OpenedConnection {
  /** The steps of connecting, and the time of each. */
  readonly timings: string;
  /** The check of the TLS certificate, if there is one. */
  readonly certificate?: Check | undefined;
}

const stepNames: Readonly<Record<ConnectionStep, string>> = { lookup: "DNS", connect: "TCP", secure: "TLS" };

const fixes: Readonly<Record<ConnectionStep, string>> = {
  lookup: "Check the spelling of the address, and this machine's network and DNS settings.",
  connect: "Check that the service is running and that no firewall blocks it. If a proxy is required, set HTTPS_PROXY.",
  secure:
    "Check the address; a service without TLS needs http://. To trust a private certificate authority, set NODE_EXTRA_CA_CERTS.",
};

/** Certificates are usually renewed automatically well before this. */
const expiresSoonMs = 14 * dayMs;

/** Connects to a service, or to the proxy in front of it. */
export async function checkConnection(
  address: string,
  { clock, signal, isProxy }: { readonly clock: () => number; readonly signal: AbortSignal; readonly isProxy: boolean },
): Promise<OpenedConnection | { readonly check: Check }> {
  const probe = await probeConnection(new URL(address), { clock, signal });
  const timings = formatTimings(probe);
  const { failure } = probe;
  if (failure) {
    const target = isProxy ? `the proxy ${address}` : address;
    const message = `${target}: ${stepNames[failure.step]}: ${describeConnectError(failure.error)}`;
    const details = timings === "" ? "" : ` (before: ${timings})`;
    return { check: problem("reachability", `${message}${details}`, fixes[failure.step]) };
  }
  return {
    timings: isProxy ? `${timings} to the proxy` : timings,
    certificate: checkCertificate(probe, clock()),
  };
}

function formatTimings({ durationsMs, addresses }: ConnectionProbe): string {
  const shown = `${addresses.slice(0, 2).join(", ")}${addresses.length > 2 ? ", …" : ""}`;
  return Object.entries(durationsMs)
    .map(([step, ms]) => `${stepNames[step as ConnectionStep]} ${ms} ms${step === "lookup" ? ` (${shown})` : ""}`)
    .join(", ");
}

function checkCertificate({ certificateExpiresMs }: ConnectionProbe, nowMs: number): Check | undefined {
  if (certificateExpiresMs === undefined || Number.isNaN(certificateExpiresMs)) return undefined;
  const name = "service-certificate";
  const day = new Date(certificateExpiresMs).toISOString().slice(0, 10);
  const message = `the service's certificate expires on ${day}`;
  if (certificateExpiresMs - nowMs > expiresSoonMs) return ok(name, message);
  return warning(name, message, "Ask the operator of the service to renew it.");
}
