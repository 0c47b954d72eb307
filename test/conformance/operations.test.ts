import { expect, it } from "vitest";
import { encodeCall } from "../../src/client/call-encoder.ts";
import { endpointOf, honorsToken, operations, type OperationName, type Role, roles } from "../../src/contract/index.ts";
import { createService } from "../../src/service/service.ts";
import { type Caller, type Transport, wrapTransport } from "../../src/service/transport.ts";
import { describeBackends, type Harness, type TestAccount } from "../support/backends.ts";
import { callEveryOperation } from "../support/every-call.ts";
import { takeServer } from "../support/shared-server.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Requests a token for each role over HTTP. */
async function openRoles(url: string, { caller: { appKey }, secret, service }: TestAccount) {
  const tokens: [Role, Caller][] = [];
  for (const role of roles) {
    const { credential } = await service.credentials.create({ secret, role });
    const grant = { client_id: appKey, client_secret: credential.secret, grant_type: "client_credentials" };
    const headers = { "content-type": "application/json" };
    const response = await fetch(`${url}/oauth/token`, { method: "POST", headers, body: JSON.stringify(grant) });
    const { access_token: utoken } = (await response.json()) as { access_token: string };
    tokens.push([role, { appKey, utoken }]);
  }
  return tokens;
}

/** Makes a call over HTTP, with the token even if the operation ignores it. */
async function send(url: string, name: OperationName, input: Fields, caller: Caller) {
  const endpoint = endpointOf(name);
  const { method, target, headers, body } = encodeCall(endpoint, input, caller);
  const isIgnored = !honorsToken(endpoint);
  const query = isIgnored && method === "GET" ? `${target.includes("?") ? "&" : "?"}utoken=${caller.utoken}` : "";
  const fields = body !== undefined && isIgnored && !endpoint.signedBody;
  const sent = fields ? JSON.stringify({ ...(JSON.parse(body) as Fields), utoken: caller.utoken }) : body;
  const response = await fetch(url + target + query, { method, headers, body: sent ?? null });
  const text = await response.text();
  return { status: response.status, isRoleDenied: text.includes("RoleDenied") };
}

/** Increases with every write. */
async function readVersion({ database: { db } }: Harness, accountId: number): Promise<number> {
  const versions = db.selectFrom("account_versions").select("version").where("account_id", "=", accountId);
  return (await versions.executeTakeFirstOrThrow()).version;
}

interface Roles {
  readonly url: string;
  readonly accountId: number;
  readonly tokens: readonly (readonly [Role, Caller])[];
  /** The operations and roles that were decided about. */
  readonly seen: Set<string>;
}

/**
 * Makes each call with all roles that permit it, after those that do not were refused over HTTP and changed nothing. Calls that
 * no role permits are the account's own.
 */
function withRoles(harness: Harness, { url, accountId, tokens, seen }: Roles): Transport {
  const { transport } = harness;
  return wrapTransport(transport, async (name, input, caller, options) => {
    const endpoint = endpointOf(name);
    const permitted: Caller[] = [];
    for (const [role, own] of tokens) {
      const isPublic = !honorsToken(endpoint);
      const isPermitted = isPublic || endpoint.roles.includes(role);
      if (isPermitted) permitted.push(own);
      const isRepeated = seen.has(`${name} ${role}`);
      seen.add(`${name} ${role}`);
      // A public call that changes data is made once, below.
      if (isRepeated || (isPermitted && endpoint.effect !== "read")) continue;
      const before = await readVersion(harness, accountId);
      const { status, isRoleDenied } = await send(url, name, input, own);
      expect({ name, role, isRoleDenied, is401: status === 401 }).toEqual({
        name,
        role,
        isRoleDenied: !isPermitted,
        is401: !isPermitted,
      });
      if (isPermitted) expect([name, role, status]).toEqual([name, role, 200]);
      else expect([name, role, await readVersion(harness, accountId)]).toEqual([name, role, before]);
    }
    const [first = caller, ...others] = honorsToken(endpoint) ? permitted : [caller];
    const output = await transport.call(name, input, first, options);
    // Repeating it has no further effect.
    if (endpoint.effect === "repeatable") for (const other of others) await transport.call(name, input, other, options);
    return output;
  });
}

/** Source: spec "Endpoints": 45 headings and the batch call. */
const specified = 46;

describeBackends("every operation", (harness) => {
  it("succeeds with the roles that permit it, and is refused with others", { timeout: 60_000 }, async () => {
    const account = await harness().newAccount();
    const accountId = await harness().newestAccountId();
    const { url, release } = await takeServer(harness().transport);
    try {
      const seen = new Set<string>();
      const tokens = await openRoles(url, account);
      const transport = withRoles(harness(), { url, accountId, tokens, seen });
      const service = createService(transport, account.caller);
      await callEveryOperation({ ...harness(), transport }, { ...account, service });
      const decisions = [...operations.keys()].flatMap((name) => roles.map((role) => `${name} ${role}`));
      expect([...seen].toSorted()).toEqual(decisions.toSorted());
      expect([...operations.values()].filter(({ extension }) => !extension)).toHaveLength(specified);
    } finally {
      release();
    }
  });
});
