import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** What a run is known by, without its tally. */
export interface RunHead {
  readonly id: string;
  readonly kind: string;
  readonly files: readonly string[];
  /** `running` also where the run was killed: only its lock would tell. */
  readonly state: string;
}

/** Whether a folder's name is one that `createRunFolder` gives; any other was made by a person. */
export function isRunId(name: string): boolean {
  return /^\d{8}-\d{6}-[0-9a-f]{6}$/.test(name);
}

/** The runs whose ids begin so, newest first. Nothing is opened, locked or made; what cannot be read is left out. */
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
    const { kind, files, state } = JSON.parse(text) as Omit<RunHead, "id" | "files"> & {
      readonly files: readonly { readonly given: string }[];
    };
    return { id, kind, files: files.map(({ given }) => given), state };
  } catch {
    return undefined;
  }
}
