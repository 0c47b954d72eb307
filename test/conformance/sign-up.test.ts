import { expect, it } from "vitest";
import { createInvitation } from "../../src/engine/accounts/invitations.ts";
import { describeIsolated } from "../support/backends.ts";

const user = { email: "zoe@shop.example", display_name: "Zoe", password: "p", url: "https://shop.example" };
const refusal = { kind: "featureDisabled" };
const lifetimeMs = 60_000;

describeIsolated(
  "users.create while sign-up is closed",
  (harness) => {
    const signUp = (invitation_code?: string) =>
      harness().transport.call(
        "users.create",
        { user: { ...user, ...(invitation_code !== undefined && { invitation_code }) } },
        {},
      );
    const invite = async () =>
      (await harness().work.write(undefined, (context) => createInvitation(lifetimeMs, context))).code;
    const countRows = async () => {
      const { db } = harness().database;
      const tables = ["accounts", "users", "invitations"] as const;
      return Promise.all(tables.map(async (table) => (await db.selectFrom(table).select("id").execute()).length));
    };

    it("needs a valid invitation", async () => {
      await invite();
      for (const code of [undefined, "", "A".repeat(40)]) await expect(signUp(code)).rejects.toMatchObject(refusal);
      expect(await countRows()).toEqual([0, 0, 1]);
    });

    it("accepts an invitation once, also from simultaneous calls", async () => {
      const [code, unused] = [await invite(), await invite()];
      const results = await Promise.allSettled([signUp(code), signUp(code), signUp(code)]);
      expect(results.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected", "rejected"]);
      expect(results.filter(({ status }) => status === "rejected")).toMatchObject([
        { reason: refusal },
        { reason: refusal },
      ]);
      await expect(signUp(code)).rejects.toMatchObject(refusal);
      expect(await countRows()).toEqual([1, 1, 1]);
      await signUp(unused);
    });

    it("keeps the invitation if the call is invalid", async () => {
      const invitation_code = await invite();
      const invalid = { user: { ...user, email: "nobody", invitation_code } };
      await expect(harness().transport.call("users.create", invalid, {})).rejects.toMatchObject({
        kind: "invalidParams",
      });
      await signUp(invitation_code);
    });

    it("rejects an expired invitation, and stores only a hash of the code", async () => {
      const code = await invite();
      const stored = await harness().database.db.selectFrom("invitations").selectAll().execute();
      expect(JSON.stringify(stored)).not.toContain(code);
      harness().clock.advance(lifetimeMs);
      await expect(signUp(code)).rejects.toMatchObject(refusal);
      await invite();
      expect(await countRows()).toEqual([0, 0, 1]);
    });
  },
  { isSignUpClosed: true },
);
