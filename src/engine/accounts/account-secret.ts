import { ServiceError, unauthorizedMessage } from "../../contract/index.ts";
import { isSameSecret } from "../kernel/credentials.ts";
import { accountOf, type HandlerContext } from "../kernel/handler.ts";

/** Returns the secret of the call's account in plain text. */
export async function readSecret(context: HandlerContext): Promise<string> {
  const { secret_sealed } = await context.transaction
    .selectFrom("accounts")
    .select("secret_sealed")
    .where("id", "=", accountOf(context).id)
    .executeTakeFirstOrThrow();
  return context.sealer.open(secret_sealed);
}

/** @throws ServiceError `unauthorized` if `secret` is not the secret of the call's account */
export async function requireSecret(secret: string, context: HandlerContext): Promise<void> {
  if (!isSameSecret(secret, await readSecret(context))) {
    throw new ServiceError("unauthorized", unauthorizedMessage);
  }
}
