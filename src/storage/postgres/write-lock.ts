/** The key of the advisory lock that every transaction that may write holds. Any constant would do. */
export const writeLock = 7_378_697_629;
