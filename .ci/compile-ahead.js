import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Runs the program that was built, so that what V8 compiles of it is kept for starts with the same Node. */
export async function compileAhead(root) {
  const home = await mkdtemp(join(tmpdir(), "starpost-build-"));
  const start = (node, args) =>
    run(process.execPath, [...node, join(root, "bin/starpost.js"), ...args], {
      env: { PATH: process.env.PATH, STARPOST_HOME: home, STARPOST_KEYRING: "off" },
      timeout: 120_000,
    });
  try {
    const file = join(home, "products.csv");
    await writeFile(file, "product_id,name,url\ntea,Tea,https://shop.example/tea\n");
    await start([], ["products", "import", file, "--quiet"]);
    await start(["--require", join(root, ".ci/keep-compiled.cjs")], ["products", "list", "--json"]);
  } catch (error) {
    // The program is whole without; it only starts more slowly.
    process.stderr.write(`what V8 compiles is not kept: ${error.message}\n`);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}
