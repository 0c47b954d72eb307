import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** What identifies a run to a person. */
export interface RunHead {
  readonly id: string;
  readonly kind: string;
  readonly files: readonly string[];
  /** Also `running` if the run was killed, which only its lock would show. */
  readonly state: string;
  /** In ISO 8601. */
  readonly startedAt: string;
}

/** Whether a folder's name is one that `createRunFolder` generates. */
export function isRunId(name: string): boolean {
  return /^\d{8}-\d{6}-[0-9a-f]{6}$/.test(name);
}

/** Lists the runs whose IDs start this way, newest first. Opens and locks nothing; skips what it cannot read. */
export function listRunHeads(runsFolder: string, start: string, atMost: number): RunHead[] {
  const found: RunHead[] = [];
  for (const id of listIds(runsFolder)) {
    if (found.length === atMost) break;
    const head = id.startsWith(start) ? readHead(runsFolder, id) : undefined;
    if (head) found.push(head);
  }
  return found;
}

function listIds(runsFolder: string): string[] {
  try {
    return readdirSync(runsFolder).filter(isRunId).toSorted().toReversed();
  } catch {
    return [];
  }
}

function readHead(runsFolder: string, id: string): RunHead | undefined {
  try {
    const text = readFileSync(join(runsFolder, id, "manifest.json"), "utf8");
    const { kind, files, state, started_at } = JSON.parse(text) as Omit<RunHead, "id" | "files" | "startedAt"> & {
      readonly files: readonly { readonly given: string }[];
      readonly started_at: string;
    };
    return { id, kind, files: files.map(({ given }) => given), state, startedAt: started_at };
  } catch {
    return undefined;
  }
}
