import { join, resolve } from "node:path";
import { type Environment, readVariable } from "./environment.ts";

/** Where everything is kept. None of it is made before something is written. */
export interface Paths {
  readonly configFolder: string;
  readonly dataFolder: string;
  readonly database: string;
  /** One folder an import run. */
  readonly runsFolder: string;
  /** One file an account that a token was obtained for. */
  readonly tokensFolder: string;
  /** How calls are paced: two files an account, which all processes share. */
  readonly limitsFolder: string;
  /** The key that account secrets are sealed with; apart from the database that holds them. */
  readonly keyFile: string;
}

/** With `STARPOST_HOME` one folder holds all; without, the platform's own data and config folders. */
export async function resolvePaths(env: Environment, cwd: string): Promise<Paths> {
  const home = readVariable(env, "STARPOST_HOME");
  const { configFolder, dataFolder } = home ? oneFolder(resolve(cwd, home)) : await platformFolders();
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

function oneFolder(folder: string) {
  return { configFolder: folder, dataFolder: folder };
}

async function platformFolders() {
  const { default: findPaths } = await import("env-paths");
  const { config, data } = findPaths("starpost", { suffix: "" });
  return { configFolder: config, dataFolder: data };
}
