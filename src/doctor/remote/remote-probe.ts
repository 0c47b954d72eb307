import { type Check, failed, ok, problem, skipped, warning } from "../check.ts";
import type { ProbeSettings } from "../../app/ports.ts";
import { encodeCall } from "../../client/encode-call.ts";
import { createHttpTransport, type HttpTransport } from "../../client/http-transport.ts";
import { nameProxy, type Proxy } from "../../client/proxy.ts";
import { UserError } from "../../config/user-error.ts";
import type { RemoteProfile } from "../../config/profile.ts";
import { findProxy } from "../../config/proxy-settings.ts";
import { createTokenStore } from "../../config/token-file.ts";
import { endpointOf, type OperationName, ServiceError } from "../../contract/index.ts";
import type { RawAnswer } from "../../service/raw-call.ts";
import type { Caller, InputOf } from "../../service/transport.ts";
import { withToken } from "../../service/with-token.ts";
import { judgeAnswerClock } from "./server-clock.ts";
import { judgeLimit } from "./limit-check.ts";
import { judgePace } from "./pace-check.ts";
import { judgeRoute } from "./route-check.ts";

/** Of the time allowed, what the first connection and read may take. */
const shareOfFirst = 0.6;

/** What cannot be looked at where the service does not answer. */
const behindReach = ["clock", "credentials", "tokens", "rate"] as const;

/**
 * Looks at an account of a service elsewhere: the way there, the clock, the credentials and the limits.
 * Assumed: a token that is kept is tried; where none is, one is asked for and kept, as by any command, since each is one
 * of the account's hundred.
 */
export async function probeRemote(settings: ProbeSettings, profile: RemoteProfile): Promise<Check[]> {
  const pace = judgePace(settings, profile.baseUrl, profile.appKey);
  let proxy: Proxy | undefined;
  try {
    proxy = findProxy(settings.env, profile.baseUrl);
  } catch (error) {
    const wrong = failed("proxy", error, "Put the variable right.");
    const notTried = ["reachability", ...behindReach].map((name) =>
      skipped(name, "the proxy's address is wrong"),
    );
    return [wrong, ...notTried, await pace];
  }
  const { host } = new URL(profile.baseUrl);
  const through = proxy ? `${nameProxy(proxy)}, by ${proxy.variable}` : `none: ${host} is reached directly`;
  return [ok("proxy", through), ...(await probeService(settings, profile, proxy)), await pace];
}

async function probeService(
  settings: ProbeSettings,
  profile: RemoteProfile,
  proxy: Proxy | undefined,
): Promise<Check[]> {
  const { clock, timeoutMs } = settings;
  const beganMs = clock();
  const first = AbortSignal.timeout(timeoutMs * shareOfFirst);
  const route = await judgeRoute(proxy?.address ?? profile.baseUrl, {
    clock,
    signal: first,
    isProxy: proxy !== undefined,
  });
  if ("check" in route)
    return [route.check, ...behindReach.map((name) => skipped(name, "the service cannot be reached"))];
  const leftMs = () => Math.max(1, timeoutMs - (clock() - beganMs));
  const transport = createHttpTransport({
    baseUrl: profile.baseUrl,
    proxy,
    ratePerSecond: 0,
    clock,
    maxAttempts: 1,
    maxRetryMs: 0,
    requestTimeoutMs: leftMs(),
  });
  try {
    const read = await readOnce(transport, settings, { appKey: profile.appKey, signal: first });
    if ("check" in read)
      return [read.check, ...behindReach.map((name) => skipped(name, "the service does not answer"))];
    const { answer, tookMs, ...times } = read;
    const reach = ok("reachability", `${profile.baseUrl}: ${route.message}; a read took ${tookMs} ms`);
    const known = route.certificate === undefined ? [reach] : [reach, route.certificate];
    return [
      ...known,
      judgeAnswerClock(answer.headers, times),
      ...(await probeAccount(transport, settings, profile, answer)),
    ];
  } finally {
    await transport.close();
  }
}

interface Read {
  readonly answer: RawAnswer;
  readonly tookMs: number;
  readonly sentAtMs: number;
  readonly answeredAtMs: number;
}

/** A read that needs no token: whatever a service answers to it, it answers. */
async function readOnce(
  transport: HttpTransport,
  { clock }: ProbeSettings,
  { appKey, signal }: { readonly appKey: string; readonly signal: AbortSignal },
): Promise<Read | { readonly check: Check }> {
  const sentAtMs = clock();
  try {
    const answer = await send(transport, "reviews.bottomLines", { count: 1 }, { caller: { appKey }, signal });
    const answeredAtMs = clock();
    const { refusal } = answer;
    if (refusal && ["unexpectedAnswer", "unavailable", "timeout", "internal"].includes(refusal.kind))
      throw refusal;
    return { answer, tookMs: answeredAtMs - sentAtMs, sentAtMs, answeredAtMs };
  } catch (error) {
    const fix = "See that the address is right and that the service runs.";
    if (error instanceof ServiceError) return { check: failed("reachability", error, fix) };
    if (!signal.aborted) throw error;
    const seconds = Number(((clock() - sentAtMs) / 1_000).toFixed(1));
    return {
      check: problem(
        "reachability",
        `connected, and no answer in ${seconds} s`,
        "Try again in a while; --timeout waits longer.",
      ),
    };
  }
}

function send<N extends OperationName>(
  transport: HttpTransport,
  operation: N,
  input: InputOf<N>,
  { caller, signal }: { readonly caller: Caller; readonly signal: AbortSignal | undefined },
): Promise<RawAnswer> {
  const endpoint = endpointOf(operation);
  const { method, target, headers } = encodeCall(endpoint, input, caller);
  return transport.send(
    { method, target, headers, effect: endpoint.effect, utoken: caller.utoken },
    { signal },
  );
}

/** Has a token, and makes one read with it. */
async function probeAccount(
  transport: HttpTransport,
  settings: ProbeSettings,
  profile: RemoteProfile,
  first: RawAnswer,
): Promise<Check[]> {
  const tokens = skipped("tokens", "how many of its hundred are in use is not told by the service");
  const { name, appKey, baseUrl, utoken: given, tokenMark: mark } = profile;
  const cache = createTokenStore(settings.paths.tokensFolder, {
    profile: name,
    target: baseUrl,
    appKey,
    mark,
  });
  const signed = withToken(transport, {
    appKey,
    readSecret: async () => (await profile.readSecret()) ?? refuseWithoutSecret(profile),
    cache,
    given,
    clock: settings.clock,
  });
  const readWith = (utoken: string) =>
    send(transport, "orders.list", { count: 1 }, { caller: { appKey, utoken }, signal: undefined });
  try {
    let answer = await readWith((await signed.token()).utoken);
    if (answer.refusal?.kind === "unauthorized") answer = await readWith((await signed.renewToken()).utoken);
    if (answer.refusal) throw answer.refusal;
    const { expiresAtMs } = await signed.token();
    const until =
      expiresAtMs === undefined ? "it is refused" : new Date(expiresAtMs).toISOString().slice(0, 10);
    const limited = await send(
      transport,
      "core.listProducts",
      { limit: 1 },
      { caller: { appKey, utoken: (await signed.token()).utoken }, signal: undefined },
    );
    return [
      ok("credentials", `app key ${appKey}; its token serves until ${until}`),
      tokens,
      judgeLimit(limited.headers, settings.clock()),
    ];
  } catch (error) {
    return [judgeRefusal(error, profile), tokens, judgeLimit(first.headers, settings.clock())];
  }
}

function refuseWithoutSecret({ name, utoken }: RemoteProfile): never {
  const what =
    utoken === undefined
      ? `no secret is known for the profile ${name}`
      : "the token in STARPOST_UTOKEN was refused, and STARPOST_SECRET is not set";
  const fix =
    utoken === undefined ? `Sign in: starpost auth login --profile ${name}.` : "Give another token.";
  throw new UserError("auth", what, fix);
}

function judgeRefusal(error: unknown, { appKey, baseUrl, name }: RemoteProfile): Check {
  if (error instanceof UserError) return failed("credentials", error, "See `starpost profile show`.");
  if (!(error instanceof ServiceError)) throw error;
  const fix =
    "Put STARPOST_SECRET right where it is set, or sign in with the right one: starpost auth login.";
  if (error.kind === "invalidClient" || error.kind === "unauthorized") {
    return problem("credentials", `the secret was refused for ${appKey} at ${baseUrl}`, fix);
  }
  if (error.kind === "recordNotFound") {
    return problem(
      "credentials",
      `${baseUrl} knows no account ${appKey}`,
      `Check the app key and the address of the profile ${name}.`,
    );
  }
  if (!error.temporary) return failed("credentials", error, "See that the address is right.");
  return warning("credentials", `could not be tried: ${error.message}`, "Try again in a while.");
}
