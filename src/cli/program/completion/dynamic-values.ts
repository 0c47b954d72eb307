import { listProfileNames } from "../../../config/profile-names.ts";
import { type Paths, resolvePaths } from "../../../config/paths.ts";
import { listRunHeads } from "../../../import/run/run-headers.ts";
import type { Values } from "../flag.ts";
import type { Io } from "../io.ts";
import { topics } from "../help/topics/index.ts";

/** A completion and its description. */
export interface Candidate {
  readonly value: string;
  readonly about?: string | undefined;
}

const maxRuns = 100;

/** Finds values on this machine, without opening a database, making a call, or creating files. */
export async function findValues(
  io: Pick<Io, "env" | "cwd">,
  values: Values | undefined,
  start: string,
): Promise<readonly Candidate[]> {
  if (values === undefined || values === "files" || values === "folders" || values === "commands") return [];
  if (values === "topics") {
    return Object.entries(topics).map(([value, { summary }]) => ({ value, about: summary }));
  }
  if (values === "profiles") return findProfiles(io, await resolvePaths(io.env, io.cwd));
  if (values === "imports") return findRuns(await resolvePaths(io.env, io.cwd), start);
  return values.map((value) => ({ value }));
}

function findProfiles({ env }: Pick<Io, "env">, paths: Paths): Candidate[] {
  return listProfileNames(env, paths).map(({ name, about }) => ({ value: name, about }));
}

function findRuns({ runsFolder }: Paths, start: string): Candidate[] {
  return listRunHeads(runsFolder, start, maxRuns).map(({ id, kind, files, state }) => ({
    value: id,
    about: `${kind}, ${state === "running" ? "not finished" : state}: ${files.join(" ")}`,
  }));
}
