/** All exit statuses. Scripts rely on them. */
export const exitStatus = {
  done: 0,
  failed: 1,
  usage: 2,
  someRejected: 3,
  notSignedIn: 4,
  temporary: 5,
  stopped: 6,
  notThere: 7,
  interrupted: 130,
} as const;

export type ExitStatus = (typeof exitStatus)[keyof typeof exitStatus];
