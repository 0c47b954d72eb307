import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { execa } from "execa";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { type Home, Homes, remoteEnv } from "../support/starpost.ts";

const guide = readFileSync("docs/guides/nightly-import.md", "utf8");

/** The code blocks of a language in the guide. */
function blocksOf(language: string): string[] {
  return [...guide.matchAll(/^```(\w+)\n(.*?)^```$/gms)].flatMap(([, found, code = ""]) =>
    found === language ? [code] : [],
  );
}

interface Workflow {
  readonly jobs: Readonly<
    Record<string, { readonly env: Readonly<Record<string, string>>; readonly steps: readonly Step[] }>
  >;
}

interface Step {
  readonly uses?: string;
  readonly run?: string;
}

const homes = new Homes();
let server: Awaited<ReturnType<Home["serve"]>>;
let service: Home;

beforeAll(async () => {
  service = homes.open();
  server = await service.serve();
});
afterAll(async () => {
  await server.stop();
  homes.remove();
});

/** A folder with the documented script, a mapping, an orders file, and programs named `starpost` and `npm`. */
async function makeWorkspace() {
  const { env } = homes.open();
  const folder = join(env["STARPOST_HOME"] ?? "", "workspace");
  const programs = join(folder, "bin");
  mkdirSync(programs, { recursive: true });
  const install = (name: string, line: string) => {
    writeFileSync(join(programs, name), `#!/bin/sh\n${line}\n`);
    chmodSync(join(programs, name), 0o755);
  };
  install("starpost", `exec "${process.execPath}" "${resolve("bin/starpost.js")}" "$@"`);
  // Nothing is downloaded.
  install("npm", 'echo "$@" > npm.txt');
  copyFileSync("fixtures/good/orders.csv", join(folder, "orders.csv"));
  writeFileSync(join(folder, "nightly-import.sh"), blocksOf("sh")[0] ?? "");
  const variables = { PATH: `${programs}:${process.env["PATH"]}`, STARPOST_KEYRING: "off", CI: "true" };
  const [map = ""] = /starpost orders map orders\.csv --out mapping\.json/.exec(guide) ?? [];
  const home = { STARPOST_HOME: join(folder, "mapping-home") };
  await execa("bash", ["-c", `${map} --no-input`], { cwd: folder, env: { ...variables, ...home } });
  return { folder, variables };
}

async function countOrders(): Promise<number> {
  const listed = await service.run(["orders", "list", "--json"]);
  return (JSON.parse(listed.stdout) as unknown[]).length;
}

test("the GitHub Actions workflow imports the orders", async () => {
  const { folder, variables } = await makeWorkspace();
  const remote = remoteEnv(server);
  const expressions: Readonly<Record<string, string | undefined>> = {
    "vars.STARPOST_BASE_URL": remote["STARPOST_BASE_URL"],
    "vars.STARPOST_APP_KEY": remote["STARPOST_APP_KEY"],
    "secrets.STARPOST_SECRET": remote["STARPOST_SECRET"],
    "github.workspace": folder,
  };
  const { jobs } = parse(blocksOf("yaml")[0] ?? "") as Workflow;
  const { env, steps } = Object.values(jobs)[0] ?? { env: {}, steps: [] };
  const filled = Object.entries(env).map(([name, value]) => {
    const text = value.replaceAll(/\$\{\{ (.*?) \}\}/g, (_, expression: string) => {
      const found = expressions[expression];
      if (found === undefined) throw new Error(`unknown expression ${expression}`);
      return found;
    });
    return [name, text];
  });
  const output: string[] = [];
  for (const { run, uses } of steps) {
    if (run === undefined) expect(uses).toMatch(/^actions\/(?:checkout|setup-node)@v\d+$/);
    else {
      // As GitHub Actions runs it.
      const { stdout } = await execa("bash", ["-eo", "pipefail", "-c", run], {
        cwd: folder,
        env: { ...variables, ...(Object.fromEntries(filled) as Record<string, string>) },
      });
      output.push(stdout);
    }
  }
  expect(readFileSync(join(folder, "npm.txt"), "utf8")).toBe("install --global starpost\n");
  expect(output.at(-1)).toMatch(/^\S+\tfinished\t[1-9]\d*\t0$/);
  expect(await countOrders()).toBeGreaterThan(0);
});

test("the systemd service imports the orders, and its timer starts it", async () => {
  const { folder, variables } = await makeWorkspace();
  const [unit = "", timer = ""] = blocksOf("ini");
  const settings = (text: string, name: string) =>
    [...text.matchAll(new RegExp(`^${name}=(.*)$`, "gm"))].map(([, value = ""]) => value);
  expect(settings(timer, "OnCalendar")).toEqual(["*-*-* 02:17:00"]);
  expect(settings(timer, "WantedBy")).toEqual(["timers.target"]);
  const [workingFolder = "-"] = settings(unit, "WorkingDirectory");
  const given = settings(unit, "Environment").map((pair) => pair.replace(workingFolder, folder).split("=", 2));
  const env = { ...variables, ...remoteEnv(server), ...(Object.fromEntries(given) as Record<string, string>) };
  const commands = [...settings(unit, "ExecStart"), ...settings(unit, "ExecStopPost")];
  expect(commands).toHaveLength(2);
  for (const command of commands) {
    // Without a shell in between that the unit does not name.
    const { exitCode } = await execa("bash", ["-c", `exec ${command}`], { cwd: folder, env });
    expect(exitCode).toBe(0);
  }
  const runs = await execa("starpost", ["imports", "list", "--json"], { cwd: folder, env });
  expect(JSON.parse(runs.stdout)).toMatchObject([{ kind: "orders", state: "finished", rows: { rejected: 0 } }]);
});
