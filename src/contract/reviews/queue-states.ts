/** The states of reviews that wait for a decision of the store. */
export const queueStates = ["held", "pending"] as const;
export type QueueState = (typeof queueStates)[number];
