import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { type Environment, readVariable } from "./environment.ts";

/** Where files are stored. Folders are created on the first write. */
export interface Paths {
  readonly configFolder: string;
  readonly dataFolder: string;
  readonly database: string;
  /** Contains a folder for each import run. */
  readonly runsFolder: string;
  /** Contains a file for each cached token. */
  readonly tokensFolder: string;
  /** Contains two files for each account, through which processes share its rate limit. */
  readonly limitsFolder: string;
  /** The key that encrypts account secrets. Not stored in the database that contains them. */
  readonly keyFile: string;
}

/** With `STARPOST_HOME`, everything is in one folder; otherwise, in the data and config folders of the platform. */
export async function resolvePaths(env: Environment, cwd: string): Promise<Paths> {
  const home = readVariable(env, "STARPOST_HOME");
  const { configFolder, dataFolder } = home ? singleFolder(resolve(cwd, home)) : await platformFolders();
  return {
    configFolder,
    dataFolder,
    database: join(dataFolder, "starpost.db"),
    runsFolder: join(dataFolder, "imports"),
    tokensFolder: join(configFolder, "tokens"),
    limitsFolder: join(dataFolder, "limits"),
    keyFile: join(configFolder, "starpost.key"),
  };
}

/** Where emails are written if no mail server is configured. */
export function outboxFolderOf({ dataFolder }: Pick<Paths, "dataFolder">): string {
  return join(dataFolder, "outbox");
}

function singleFolder(folder: string) {
  return { configFolder: folder, dataFolder: folder };
}

/** Where nothing exists and nothing can be created. */
const noFolder = "/nonexistent/starpost";

/** A user of a container may have neither `HOME` nor an entry in the list of users. Then nothing can be kept. */
async function platformFolders() {
  try {
    homedir();
  } catch {
    return singleFolder(noFolder);
  }
  const { default: findPaths } = await import("env-paths");
  const { config, data } = findPaths("starpost", { suffix: "" });
  return { configFolder: config, dataFolder: data };
}
