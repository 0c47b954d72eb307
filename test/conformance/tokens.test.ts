import { expect, it } from "vitest";
import { utokenLimits } from "../../src/contract/index.ts";
import { describeIsolated, type Harness, type TestAccount } from "../support/backends.ts";

const grant_type = "client_credentials";

function credentialsOf({ caller, secret }: TestAccount) {
  return { client_id: caller.appKey, client_secret: secret, grant_type };
}

async function issue(harness: Harness, account: TestAccount): Promise<string> {
  const { access_token } = await harness.transport.call("tokens.create", credentialsOf(account), {});
  return access_token;
}

/** Returns whether a utoken grants access to an account. */
async function isAccepted(harness: Harness, appKey: string, utoken: string | undefined): Promise<boolean> {
  try {
    await harness.service({ appKey, utoken }).coupons.stats({});
    return true;
  } catch (error) {
    expect(error).toMatchObject({ kind: "unauthorized", message: "You are not authorized to access this page." });
    return false;
  }
}

describeIsolated("tokens.create", (harness) => {
  it("checks the grant type first, then the client, then the secret", async () => {
    const account = await harness().newAccount();
    const call = (fields: object) =>
      harness().transport.call("tokens.create", { ...credentialsOf(account), ...fields }, {});
    await expect(call({ grant_type: "password", client_id: "nobody" })).rejects.toMatchObject({
      kind: "unsupportedGrant",
    });
    await expect(call({ client_id: "nobody", client_secret: "wrong" })).rejects.toMatchObject({
      kind: "recordNotFound",
      message: "Couldn't find Account with app_key = nobody",
    });
    await expect(call({ client_secret: "wrong" })).rejects.toMatchObject({ kind: "invalidClient" });
    await expect(call({ client_secret: undefined })).rejects.toMatchObject({
      kind: "invalidParams",
      message: "Missing client_secret",
    });
  });

  it("returns a token that expires after 14 days", async () => {
    const account = await harness().newAccount();
    const token = await issue(harness(), account);
    harness().clock.advance(utokenLimits.lifetimeMs - 1);
    expect(await isAccepted(harness(), account.caller.appKey, token)).toBe(true);
    harness().clock.advance(1);
    expect(await isAccepted(harness(), account.caller.appKey, token)).toBe(false);
  });

  it("keeps 100 tokens per account, including the one from the user's creation, and deletes the oldest first", async () => {
    const [account, other] = [await harness().newAccount(), await harness().newAccount()];
    const { appKey, utoken } = account.caller;
    const second = await issue(harness(), account);
    for (let count = 2; count < utokenLimits.perAccount; count += 1) await issue(harness(), account);
    expect(await isAccepted(harness(), appKey, utoken)).toBe(true);
    await issue(harness(), account);
    expect(await isAccepted(harness(), appKey, utoken)).toBe(false);
    expect(await isAccepted(harness(), appKey, second)).toBe(true);
    expect(await isAccepted(harness(), other.caller.appKey, other.caller.utoken)).toBe(true);
  });

  it("deletes expired tokens, and stores only hashes of the others", async () => {
    const account = await harness().newAccount();
    harness().clock.advance(utokenLimits.lifetimeMs);
    const token = await issue(harness(), account);
    const rows = await harness().database.db.selectFrom("utokens").selectAll().execute();
    expect(rows).toHaveLength(1);
    expect(rows[0]?.token_hash).toMatch(/^[0-9a-f]{64}$/);
    expect(JSON.stringify(rows)).not.toContain(token);
  });
});
