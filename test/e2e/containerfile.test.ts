import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { execa } from "execa";
import { describe, expect, onTestFinished, test } from "vitest";
import { sendJson, startLoopback } from "../support/loopback.ts";
import { Home } from "../support/starpost.ts";
import { isSlowSuite } from "../support/suite-size.ts";

const file = resolve("docs/operations/Containerfile");
const manifest = JSON.parse(readFileSync("package.json", "utf8")) as {
  readonly name: string;
  readonly version: string;
  readonly bin: Readonly<Record<string, string>>;
};

/** The base image, which is pinned. */
const pinned = /^docker\.io\/library\/node:[\d.]+-\w+-slim@sha256:[0-9a-f]{64}$/;

/** The instructions of the file, with continued lines joined. */
const instructions = readFileSync(file, "utf8")
  .replaceAll(/\\\n/g, " ")
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"))
  .map((line) => /^(\w+)\s+(.*)$/.exec(line)?.slice(1) as [string, string]);

const valuesOf = (name: string) => instructions.filter(([found]) => found === name).map(([, value]) => value);
const listOf = (name: string) => JSON.parse(/\[.*\]$/.exec(valuesOf(name)[0] ?? "")?.[0] ?? "[]") as string[];

describe("docs/operations/Containerfile", () => {
  test("pins the base image in one place", () => {
    const [name, image] = valuesOf("ARG")[0]?.split("=") ?? [];
    expect(image).toMatch(pinned);
    expect([valuesOf("ARG").length, valuesOf("FROM")]).toEqual([1, [`\${${name}}`]]);
  });

  test("copies only the file that npm pack creates, and runs as an unprivileged user", () => {
    expect(valuesOf("COPY")).toHaveLength(1);
    const [source = "", target] = valuesOf("COPY")[0]?.split(" ") ?? [];
    expect(source.replace("*", manifest.version)).toBe(`${manifest.name}-${manifest.version}.tgz`);
    expect(readFileSync(".containerignore", "utf8").split("\n").slice(1, 3)).toEqual(["*", `!${source}`]);
    const [tools, install] = valuesOf("RUN");
    expect(tools).toContain("postgresql-client");
    expect(install).toContain(`npm install --global ${target}`);
    expect(valuesOf("USER")).toEqual(["node"]);
    expect(valuesOf("ENV")[0]).toContain(`STARPOST_HOME=${valuesOf("VOLUME")[0]}`);
    const [user, group, mode] = [valuesOf("USER")[0], "node", "0700"];
    expect(install).toContain(`install -d -o ${user} -g ${group} -m ${mode} ${valuesOf("VOLUME")[0]}`);
  });

  test("starts a command of the package", async () => {
    expect(Object.keys(manifest.bin)).toContain(listOf("ENTRYPOINT")[0]);
    const home = new Home();
    onTestFinished(() => home.remove());
    const { exitCode, stdout } = await home.run([...listOf("CMD"), "--help"]);
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining("starpost serve")]);
    expect(listOf("CMD").join(" ")).toContain(`--port ${valuesOf("EXPOSE")[0]}`);
  });

  test("checks the health of the server", async () => {
    let status = 200;
    const server = await startLoopback((response) => sendJson(response, status, {}));
    const [, ...args] = listOf("HEALTHCHECK");
    const check = () => {
      const local = args.map((arg) => arg.replace(`http://127.0.0.1:${valuesOf("EXPOSE")[0]}`, server.url));
      return execa(process.execPath, local, { reject: false }).then(({ exitCode }) => exitCode);
    };
    expect(await check()).toBe(0);
    expect(server.received[0]?.url).toBe("/healthz");
    status = 503;
    expect(await check()).toBe(1);
    await server.close();
    expect(await check()).toBe(1);
  });

  const builder = ["podman", "buildah"].find((name) => spawnSync(name, ["--version"]).status === 0);

  test.runIf(isSlowSuite)("builds an image that runs the program", async (context) => {
    context.skip(builder === undefined, "neither podman nor buildah is installed");
    if (builder === undefined) return;
    const folder = mkdtempSync(join(tmpdir(), "starpost-image-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const storage = ["--root", join(folder, "root"), "--runroot", join(folder, "run"), "--storage-driver", "vfs"];
    const call = (...args: string[]) => execa(builder, [...storage, ...args], { reject: false, timeout: 600_000 });
    const image = valuesOf("ARG")[0]?.split("=")[1] ?? "";
    const pulled = await call("pull", image);
    context.skip(pulled.exitCode !== 0, `the base image ${image} cannot be pulled here`);
    await execa("npm", ["pack", "--ignore-scripts", "--pack-destination", folder]);
    const built = await call(builder === "podman" ? "build" : "bud", "--file", file, "--tag", "starpost", folder);
    expect(built.exitCode, built.stderr).toBe(0);
    if (builder === "buildah") await call("from", "--name", "run", "starpost");
    const ran =
      builder === "podman"
        ? await call("run", "--rm", "starpost", "--version")
        : await call("run", "run", "--", "starpost", "--version");
    expect([ran.exitCode, ran.stdout.trim()], ran.stderr).toEqual([0, manifest.version]);
  });
});
