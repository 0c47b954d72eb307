import { dayMs } from "./time.ts";

/** How long an invitation to create an account is valid. */
export const invitationLifetime = { defaultMs: 7 * dayMs, maxMs: 365 * dayMs } as const;
