import { posix } from "node:path";

/** A source file, its path from `src/`. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

interface Room {
  /** Our rooms, or single files of them. */
  readonly mayImport: readonly string[];
  readonly packages: readonly string[];
}

/** The table of `docs/architecture.md`: who may import whom. A file at the top of `src/` is a room of its own. */
export const rooms: Readonly<Record<string, Room>> = {
  contract: { mayImport: [], packages: ["zod"] },
  service: { mayImport: ["contract"], packages: ["zod"] },
  storage: { mayImport: [], packages: ["kysely", "@photostructure/sqlite", "pg"] },
  pages: { mayImport: ["contract"], packages: ["zod"] },
  mails: { mayImport: ["contract", "pages"], packages: ["liquidjs"] },
  engine: {
    mayImport: ["contract", "mails", "pages", "service", "storage"],
    packages: ["ipaddr.js", "kysely", "zod"],
  },
  mailer: { mayImport: ["contract", "mails", "pages/markup.ts"], packages: ["nodemailer"] },
  dispatch: {
    mayImport: ["contract", "engine", "mailer", "mails", "storage"],
    packages: ["got", "p-limit", "pino"],
  },
  http: { mayImport: ["contract", "openapi", "pages", "service"], packages: ["fastify", "pino", "zod"] },
  openapi: { mayImport: ["contract"], packages: ["zod"] },
  client: {
    mayImport: ["contract", "service"],
    packages: ["got", "https-proxy-agent", "zod"],
  },
  importer: {
    mayImport: ["contract", "service", "storage/sqlite-file.ts"],
    packages: [
      "csv-parse",
      "p-limit",
      "iconv-lite",
      "csv-stringify",
      "html-to-text",
      "minizlib",
      "tinyglobby",
      "write-file-atomic",
      "zod",
    ],
  },
  exporter: {
    mayImport: ["contract", "service", "importer/native-columns.ts", "storage/sqlite-file.ts"],
    packages: ["csv-stringify"],
  },
  config: {
    mayImport: ["contract", "storage/address.ts", "storage/file-lock.ts"],
    packages: ["@napi-rs/keyring", "conf", "env-paths"],
  },
  output: { mayImport: [], packages: ["chalk", "ora", "inquirer", "csv-stringify", "string-width"] },
  cli: {
    mayImport: [
      "contract",
      "service",
      "importer",
      "exporter",
      "config",
      "output",
      "pages/mail-preview-page.ts",
      "pages/run-report-page.ts",
    ],
    packages: ["commander"],
  },
  "compose.ts": {
    mayImport: ["cli", "compose", "config", "engine-thread.ts", "probes", "rehearsal.ts", "service"],
    packages: [],
  },
  compose: {
    mayImport: [
      "cli",
      "client",
      "config",
      "contract",
      "engine",
      "http",
      "mailer",
      "service",
      "storage",
      "worker.ts",
    ],
    packages: [],
  },
  probes: {
    mayImport: [
      "cli",
      "client",
      "config",
      "contract",
      "database-probe.ts",
      "engine",
      "output/words.ts",
      "service",
      "storage",
    ],
    packages: [],
  },
  "database-probe.ts": { mayImport: ["storage"], packages: [] },
  "worker.ts": {
    mayImport: ["cli", "client", "dispatch", "engine", "mailer"],
    packages: [],
  },
  "rehearsal.ts": { mayImport: ["cli", "engine", "service", "storage"], packages: [] },
  "engine-thread.ts": { mayImport: ["engine", "service", "storage"], packages: [] },
  "main.ts": { mayImport: ["compose.ts", "cli"], packages: [] },
};

/** Where a thread of execution begins, and the world is met. */
const entryPoints = new Set(["main.ts", "engine-thread.ts", "database-probe.ts"]);

/** What only entry points may touch: everything else is given its clock, its streams and its signals. */
const world = [
  { pattern: /(?<![\w.$])process\s*[.[]/, name: "process" },
  { pattern: /["'](?:node:)?process["']/, name: "process" },
  { pattern: /(?<![\w.$])console\s*[.[]/, name: "console" },
  { pattern: /\bDate\s*\.\s*now\b/, name: "Date.now" },
  { pattern: /\bnew Date\(\s*\)/, name: "new Date()" },
];

/** Says what in the sources breaks the rules, a line each; nothing where all is well. */
export function findBreaches(files: readonly SourceFile[]): string[] {
  return files.flatMap((file) => {
    const name = roomOf(file.path);
    const room = rooms[name];
    if (!room) return [`${file.path}: ${name} is no room of the table`];
    const text = withoutComments(file.text);
    return [
      ...importsOf(text).flatMap((target) => judgeImport(file.path, name, room, target)),
      ...(entryPoints.has(name) ? [] : judgeWorld(file.path, text)),
    ];
  });
}

/** Every module that a text names: imports, exports, dynamic imports, types, and workers' files. */
export function importsOf(text: string): string[] {
  const patterns = [
    /\bfrom\s*["']([^"'\s()]+)["']/g,
    /\bimport\s*\(?\s*["']([^"'\s()]+)["']/g,
    /\brequire\s*\(\s*["']([^"'\s()]+)["']/g,
    /\bnew URL\(\s*["'](\.[^"'\s()]+)["']\s*,\s*import\.meta\.url/g,
  ];
  return patterns.flatMap((pattern) => [...text.matchAll(pattern)].map((match) => match[1] ?? ""));
}

function judgeImport(path: string, name: string, room: Room, target: string): string[] {
  if (target.startsWith("node:")) return [];
  if (!target.startsWith(".")) {
    const parts = target.split("/").slice(0, target.startsWith("@") ? 2 : 1);
    const bare = parts.join("/");
    return room.packages.includes(bare) ? [] : [`${path}: ${name} may not use the package ${bare}`];
  }
  const found = posix.normalize(posix.join(posix.dirname(path), target));
  if (found.startsWith("..")) return name === "main.ts" ? [] : [`${path}: ${target} is outside src/`];
  const other = roomOf(found);
  const isAllowed = other === name || room.mayImport.includes(other) || room.mayImport.includes(found);
  return isAllowed ? [] : [`${path}: ${name} may not import ${found}`];
}

function judgeWorld(path: string, text: string): string[] {
  return world
    .filter(({ pattern }) => pattern.test(text))
    .map(({ name }) => `${path}: ${name} is for entry points alone`);
}

function roomOf(path: string): string {
  return path.split("/")[0] ?? "";
}

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\//g, "").replaceAll(/^\s*\/\/.*$/gm, "");
}
