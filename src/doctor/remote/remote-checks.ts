import { encodeCall } from "../../client/call-encoder.ts";
import { createHttpTransport, type HttpTransport } from "../../client/http-transport.ts";
import { nameProxy, type Proxy } from "../../client/proxy.ts";
import type { RemoteProfile } from "../../config/profile.ts";
import { findProxy } from "../../config/proxy-settings.ts";
import { createTokenStore } from "../../config/token-file.ts";
import { UserError } from "../../config/user-error.ts";
import { endpointOf, type OperationName, ServiceError } from "../../contract/index.ts";
import type { RawResponse } from "../../service/raw-call.ts";
import type { Caller, InputOf, OutputOf } from "../../service/transport.ts";
import { withToken } from "../../service/with-token.ts";
import { type Check, type DoctorContext, failed, ok, problem, skipAll, skipped, warning } from "../check.ts";
import { checkResponseClock, checkPacing, checkServiceLimit, checkWebhooks } from "../service-checks.ts";
import { describeConnectError } from "../../client/connection-failure.ts";
import { type ConnectionProbe, type ConnectionStep, probeConnection } from "../../client/connection-probe.ts";
import { dayMs } from "../../contract/time.ts";
import { parseResponse } from "../../client/response-parser.ts";

/** The share of the timeout for the first connection and read. */
const firstReadShare = 0.6;

/** Checks that need a response from the service. */
const dependentChecks = ["clock", "credentials", "tokens", "rate"] as const;

/**
 * Checks an account of a remote service: proxy, connection, clock, credentials, and limits.
 * Assumed: uses the cached token if there is one; otherwise requests one and caches it, as every command does, because
 * an account has only 100.
 */
export async function checkRemoteAccount(context: DoctorContext, profile: RemoteProfile): Promise<Check[]> {
  const pacing = checkPacing(context, profile.baseUrl, profile.appKey);
  let proxy: Proxy | undefined;
  try {
    proxy = findProxy(context.env, profile.baseUrl);
  } catch (error) {
    return [
      failed("proxy", error, "Correct the variable."),
      ...skipAll(["reachability", ...dependentChecks], "the proxy address is not valid"),
      await pacing,
    ];
  }
  const { host } = new URL(profile.baseUrl);
  const message = proxy ? `${nameProxy(proxy)} (from ${proxy.variable})` : `none, direct connection to ${host}`;
  return [ok("proxy", message), ...(await checkService(context, profile, proxy)), await pacing];
}

async function checkService(
  context: DoctorContext,
  profile: RemoteProfile,
  proxy: Proxy | undefined,
): Promise<Check[]> {
  const { clock, timeoutMs } = context;
  const startedMs = clock();
  const signal = AbortSignal.timeout(timeoutMs * firstReadShare);
  const connection = await checkConnection(proxy?.address ?? profile.baseUrl, {
    clock,
    signal,
    isProxy: proxy !== undefined,
  });
  if ("check" in connection) {
    return [connection.check, ...skipAll(dependentChecks, "the service cannot be reached")];
  }
  const transport = createHttpTransport({
    baseUrl: profile.baseUrl,
    proxy,
    ratePerSecond: 0,
    clock,
    maxAttempts: 1,
    maxRetryMs: 0,
    onTrace: context.onTrace,
    requestTimeoutMs: Math.max(1, timeoutMs - (clock() - startedMs)),
  });
  try {
    const read = await readOnce(transport, context, { appKey: profile.appKey, signal });
    if ("check" in read) return [read.check, ...skipAll(dependentChecks, "the service does not respond")];
    const { answer, tookMs, ...times } = read;
    const { timings, certificate } = connection;
    return [
      ok("reachability", `${profile.baseUrl}: ${timings}, response ${tookMs} ms`),
      ...(certificate ? [certificate] : []),
      checkResponseClock(answer.headers, times),
      ...(await checkAccount(transport, context, profile, answer)),
    ];
  } finally {
    await transport.close();
  }
}

interface Read {
  readonly answer: RawResponse;
  readonly tookMs: number;
  readonly sentAtMs: number;
  readonly receivedAtMs: number;
}

/** Makes a call that needs no token. Any response that follows the protocol counts, including a refusal. */
async function readOnce(
  transport: HttpTransport,
  { clock }: DoctorContext,
  { appKey, signal }: { readonly appKey: string; readonly signal: AbortSignal },
): Promise<Read | { readonly check: Check }> {
  const sentAtMs = clock();
  try {
    const answer = await send(transport, "reviews.bottomLines", { count: 1 }, { caller: { appKey }, signal });
    const receivedAtMs = clock();
    const { refusal } = answer;
    if (refusal && ["unexpectedAnswer", "unavailable", "timeout", "internal"].includes(refusal.kind)) {
      throw refusal;
    }
    return { answer, tookMs: receivedAtMs - sentAtMs, sentAtMs, receivedAtMs };
  } catch (error) {
    if (error instanceof ServiceError) {
      const fix = "Check the address, and that the service is running.";
      return { check: failed("reachability", error, fix) };
    }
    if (!signal.aborted) throw error;
    const seconds = Number(((clock() - sentAtMs) / 1_000).toFixed(1));
    return {
      check: problem(
        "reachability",
        `connected, but no response in ${seconds} s`,
        "Try again later, or allow more time with --timeout.",
      ),
    };
  }
}

function send<N extends OperationName>(
  transport: HttpTransport,
  operation: N,
  input: InputOf<N>,
  { caller, signal }: { readonly caller: Caller; readonly signal: AbortSignal | undefined },
): Promise<RawResponse> {
  const endpoint = endpointOf(operation);
  const { method, target, headers } = encodeCall(endpoint, input, caller);
  return transport.send({ method, target, headers, effect: endpoint.effect, utoken: caller.utoken }, { signal });
}

/** Gets a token, and makes a call with it. */
async function checkAccount(
  transport: HttpTransport,
  { paths, clock }: DoctorContext,
  profile: RemoteProfile,
  firstAnswer: RawResponse,
): Promise<Check[]> {
  const tokens = skipped("tokens", "a remote service does not report how many are in use");
  const { name, appKey, baseUrl, tokenMark: mark } = profile;
  const signed = withToken(transport, {
    appKey,
    readSecret: async () => (await profile.readSecret()) ?? refuseWithoutSecret(profile),
    cache: createTokenStore(paths.tokensFolder, { profile: name, target: baseUrl, appKey, mark }),
    utoken: profile.utoken,
    clock,
  });
  const listOrders = (token: string) =>
    send(transport, "orders.list", { count: 1 }, { caller: { appKey, utoken: token }, signal: undefined });
  try {
    let answer = await listOrders((await signed.token()).utoken);
    if (answer.refusal?.kind === "unauthorized") {
      answer = await listOrders((await signed.renewToken()).utoken);
    }
    if (answer.refusal) throw answer.refusal;
    const { utoken, expiresAtMs } = await signed.token();
    const caller = { appKey, utoken };
    const limited = await send(transport, "core.listProducts", { limit: 1 }, { caller, signal: undefined });
    const webhooks = () => send(transport, "webhooks.list", {}, { caller, signal: undefined });
    const current = () => send(transport, "credentials.current", {}, { caller, signal: undefined });
    const service = { baseUrl, utoken, nowMs: clock() };
    // A token from `STARPOST_UTOKEN` has no known expiry.
    const day = expiresAtMs === undefined ? "" : ` until ${new Date(expiresAtMs).toISOString().slice(0, 10)}`;
    return [
      ok("credentials", `app key ${appKey}, token valid${day}${await describeRole(current, service)}`),
      tokens,
      checkServiceLimit(limited.headers, clock()),
      await checkRemoteWebhooks(webhooks, service),
    ];
  } catch (error) {
    return [reportRefusal(error, profile), tokens, checkServiceLimit(firstAnswer.headers, clock())];
  }
}

function refuseWithoutSecret({ name, utoken }: RemoteProfile): never {
  if (utoken !== undefined) {
    throw new UserError(
      "auth",
      "the service rejected the token in STARPOST_UTOKEN, and STARPOST_SECRET is not set",
      "Set STARPOST_UTOKEN to a valid token.",
    );
  }
  throw new UserError("auth", `no secret stored for profile ${name}`, `Run \`starpost auth login --profile ${name}\`.`);
}

function reportRefusal(error: unknown, { appKey, baseUrl, name }: RemoteProfile): Check {
  if (error instanceof UserError) return failed("credentials", error, "Run `starpost profile show`.");
  if (!(error instanceof ServiceError)) throw error;
  if (error.kind === "invalidClient" || error.kind === "unauthorized") {
    return problem(
      "credentials",
      `${baseUrl} rejected the secret of app key ${appKey}`,
      "Correct STARPOST_SECRET if it is set; otherwise, run `starpost auth login`.",
    );
  }
  if (error.kind === "recordNotFound") {
    return problem(
      "credentials",
      `${baseUrl} has no account with app key ${appKey}`,
      `Check the app key and the address of profile ${name}.`,
    );
  }
  if (!error.temporary) return failed("credentials", error, "Check the address.");
  return warning("credentials", `could not be checked: ${error.message}`, "Try again later.");
}

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
  const day = new Date(certificateExpiresMs).toISOString().slice(0, 10);
  const message = `the service's certificate expires on ${day}`;
  if (certificateExpiresMs - nowMs > expiresSoonMs) return ok("service-certificate", message);
  return warning("service-certificate", message, "Ask the operator of the service to renew it.");
}

interface AskedService {
  readonly baseUrl: string;
  readonly utoken: string;
  readonly nowMs: number;
}

/** Reads the response of an operation that is an addition of starpost, so other services need not have it. */
async function readOwn<N extends OperationName>(
  operation: N,
  read: () => Promise<RawResponse>,
  { baseUrl: service, utoken, nowMs }: AskedService,
): Promise<OutputOf<N>> {
  const endpoint = endpointOf(operation);
  return parseResponse(await read(), { endpoint, service, path: endpoint.paths[0], utoken, nowMs }) as OutputOf<N>;
}

async function describeRole(read: () => Promise<RawResponse>, service: AskedService): Promise<string> {
  try {
    const { role } = await readOwn("credentials.current", read, service);
    return role === "full" ? ", full access" : `, role ${role}`;
  } catch {
    return "";
  }
}

/** Checks the webhooks in a response. */
export async function checkRemoteWebhooks(list: () => Promise<RawResponse>, service: AskedService): Promise<Check> {
  const { nowMs } = service;
  try {
    const { webhooks } = await readOwn("webhooks.list", list, service);
    const states = webhooks.map(({ url, event_name: event, failures_24h: failures, last_success_at: lastSuccess }) => ({
      url,
      event,
      failures,
      lastSuccessMs: typeof lastSuccess === "string" ? Date.parse(lastSuccess) : null,
    }));
    return checkWebhooks(states, nowMs);
  } catch (error) {
    return skipped("webhook-failures", `the webhooks could not be listed: ${(error as Error).message}`);
  }
}
