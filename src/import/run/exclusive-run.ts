import { createHash } from "node:crypto";
import { join } from "node:path";
import { FileLock } from "../../storage/file-lock.ts";
import type { ImportContext } from "../context.ts";
import { ImportError } from "../import-error.ts";
import type { ImportBehavior } from "../kind.ts";
import type { ImportKind } from "../kinds.ts";
import { isHeld, listManifests } from "./run-folder.ts";

/** How long to wait for another run to end, in milliseconds. */
const waitMs = 300;

/**
 * Ensures that no other run of this machine imports the same kind into the same account, if the records may exist more
 * than once: each run would store them. Other kinds are safe, because the second run changes nothing or is refused by the
 * service. The lock of a killed run is free.
 * @returns the lock, which holds until it is disposed; undefined if none is needed
 * @throws ImportError `failed` while another run holds the lock
 */
export function lockKind(
  kind: ImportKind,
  behavior: ImportBehavior,
  { runsFolder, target }: Pick<ImportContext, "runsFolder" | "target">,
): FileLock | undefined {
  if (!behavior.numberDouble) return undefined;
  const account = createHash("sha256").update(target).digest("hex").slice(0, 16);
  const lock = FileLock.acquire(join(runsFolder, `${kind.name}-${account}.lock`), { waitMs });
  if (lock) return lock;
  const running = listManifests(runsFolder).find(
    (run) =>
      run.kind === kind.name &&
      run.target === target &&
      run.state === "running" &&
      isHeld(join(runsFolder, run.import_id)),
  );
  const name = running ? `import ${running.import_id}` : "another import";
  const { many } = behavior.itemName;
  throw new ImportError("failed", `${name} is importing ${many} into the same account`, {
    hint: `wait until it finishes or stop it, then try again; ${many} that are already stored are not stored twice`,
  });
}
