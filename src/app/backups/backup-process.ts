import { randomBytes } from "node:crypto";
import type { BackupReply, BackupRequest } from "../ports.ts";
import { createBackup } from "./backups.ts";

process.once("message", (request: BackupRequest) => {
  const stop = new AbortController();
  process.once("disconnect", () => stop.abort());
  const settings = { ...request, env: process.env, clock: Date.now, random: randomBytes, isScheduled: true };
  createBackup({ ...settings, signal: stop.signal })
    .then(
      ({ file, bytes }): BackupReply => ({ file, bytes }),
      (error: Error): BackupReply => ({ error: error.message }),
    )
    .then((reply) => process.send?.(reply, () => process.disconnect()))
    .catch(() => process.disconnect());
});
