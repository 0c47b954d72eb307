/** The key of the advisory lock that every transaction that may write holds. Any constant would do. Read without `pg`. */
export const writeLock = 7_378_697_629;
