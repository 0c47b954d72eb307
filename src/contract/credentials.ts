import * as z from "zod";
import { endpoint, extensionPrefix, roles, route } from "./endpoint.ts";
import { lazyObject } from "./lazy-object.ts";
import { shape, timestamp } from "./shapes.ts";

/** Maximum number of credentials per account. */
export const maxCredentials = 100;

const credential = lazyObject(() => ({
  id: z.number().int(),
  role: z.enum(roles),
  name: z.string().nullable(),
  created_at: timestamp(),
  /** When a token was last requested with it. */
  last_used_at: timestamp().nullable(),
}));

const path = `${extensionPrefix}/apps/{app_key}/credentials`;

/** Further secrets of an account, whose tokens have a role. */
export const credentials = {
  create: endpoint({
    summary: "Create a credential: a second secret of the account, whose tokens have a role",
    returnsSecret: true,
    // A token alone, which may have leaked, must not lead to a secret that outlives it.
    secretFields: ["secret"],
    needsSecret: true,
    ...route("POST", path),
    effect: "once",
    input: () => ({
      secret: z.string({ error: "is missing" }),
      role: z.enum(roles, { error: `must be one of ${roles.join(", ")}` }),
      name: shape.name.optional(),
    }),
    /** Only this call returns the secret. */
    output: () => ({ credential: credential().extend({ app_key: z.string(), secret: z.string() }) }),
  }),
  list: endpoint({
    summary: "List the credentials of the account",
    listing: { items: "credentials" },
    ...route("GET", path),
    effect: "read",
    roles: [],
    output: () => ({ credentials: z.array(credential()) }),
  }),
  current: endpoint({
    summary: "Show the role of the call's token",
    ...route("GET", `${path}/current`),
    effect: "read",
    /** `full` if the token may make all calls. */
    output: () => ({ role: z.enum([...roles, "full"]) }),
  }),
  revoke: endpoint({
    summary: "Revoke a credential and its tokens",
    destroys: { question: "Revoke credential {credential_id} and its tokens" },
    ...route("DELETE", `${path}/{credential_id}`),
    effect: "repeatable",
    input: () => ({ credential_id: shape.rowId }),
  }),
};
