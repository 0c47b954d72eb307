import { findPoolSize } from "../../config/database-settings.ts";
import type { Environment } from "../../config/environment.ts";
import { defaultPoolSize, type DialectFacts } from "../../storage/dialect.ts";
import { type Check, failed, ok, problem, warning } from "../check.ts";

const name = "connections";

/** Compares the connection pool of a process with what the PostgreSQL server has left. */
export function checkConnections({ connections }: Pick<DialectFacts, "connections">, env: Environment): Check[] {
  if (!connections) return [];
  const { max, used, own } = connections;
  try {
    const pool = findPoolSize(env) ?? defaultPoolSize;
    const use = `${used} of ${max} in use, ${own} by starpost; each process opens up to ${pool} (STARPOST_DATABASE_POOL)`;
    const fix = "Raise max_connections of the server, lower STARPOST_DATABASE_POOL, or use a connection pooler.";
    if (pool > max) return [problem(name, use, fix)];
    // The connections of starpost may be those of the process that needs the most.
    const stillNeeded = Math.max(1, pool - own);
    return [max - used < stillNeeded ? warning(name, use, fix) : ok(name, use)];
  } catch (error) {
    return [failed(name, error, "Correct the variable.")];
  }
}
