import { createServerLog } from "../../src/server/server-log.ts";

/** A server's log that is not kept. */
export const silentLog = createServerLog({ write: () => {} }, { level: "silent", clock: () => 0 });
