import type { ConnectionProvider, Kysely } from "kysely";
import type { Tables } from "./tables.ts";

/**
 * Lets transactions execute statements while others are being executed. Otherwise, Kysely would wait for the result of
 * each before it executes the next.
 */
export function pipelineTransactions(db: Kysely<Tables>): void {
  const executor = db.getExecutor();
  const withProvider = executor.withConnectionProvider.bind(executor);
  Object.assign(executor, {
    withConnectionProvider: (provider: ConnectionProvider) => withProvider(shareConnection(provider)),
  });
}

/** @param provider provides one connection to one user at a time */
function shareConnection(provider: ConnectionProvider): ConnectionProvider {
  const connection = provider.provideConnection(async (provided) => provided);
  return { provideConnection: async (use) => use(await connection) };
}
