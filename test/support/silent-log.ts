import { createServerLog } from "../../src/server/server-log.ts";

/** A server log that discards everything. */
export const silentLog = createServerLog({ write: () => {} }, { level: "silent", clock: () => 0 });
