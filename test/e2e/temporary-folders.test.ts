import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import { Homes } from "../support/starpost.ts";

const homes = new Homes();
const temporary = mkdtempSync(join(tmpdir(), "starpost-kill-"));
afterAll(() => {
  homes.remove();
  rmSync(temporary, { recursive: true, force: true });
});

const orders =
  "order_id,order_date,customer_name,email,product_id,product_name,product_url\n1,2026-01-02,N,a@b.example,p,N,https://shop.example/p\n";

const commands = [
  ["dry run", ["orders", "import", "-", "--dry-run"], orders],
  ["mapping", ["orders", "map", "-"], orders],
  ["sync", ["unsubscribers", "sync", "-", "--type", "reviews", "--plan"], "email\na@b.example\n"],
] as const;

test.each(commands)(
  "the folder of a killed %s is removed by the next one, that of a running one is kept",
  async (_name, args, input) => {
    const home = homes.open({ TMPDIR: temporary });
    const list = () => readdirSync(temporary).filter((name) => /^starpost-(?!home)/.test(name));
    /** Starts a command, which waits for standard input. */
    const start = async () => {
      const before = list();
      const running = home.start(args, { stdin: "pipe" });
      for (;;) {
        const found = list().find((name) => !before.includes(name));
        if (
          found !== undefined &&
          readdirSync(join(temporary, found), { encoding: "utf8", recursive: true }).some((name) =>
            /input-\d/.test(name),
          )
        ) {
          return { running, found };
        }
        await sleep(20);
      }
    };
    // Without a lock, a folder may be about to get one, or belong to an earlier version.
    const unlocked = "starpost-dry-run-abcdef";
    mkdirSync(join(temporary, unlocked), { recursive: true });
    const killed = await start();
    const alive = await start();
    killed.running.kill("SIGKILL");
    await killed.running;
    expect(list()).toContain(killed.found);
    // A plan with changes ends with 1.
    expect([0, 1]).toContain((await home.runProcess(args, { input })).exitCode);
    expect(list().toSorted()).toEqual([unlocked, alive.found].toSorted());
    alive.running.stdin?.end(input);
    expect([0, 1]).toContain((await alive.running).exitCode);
    expect(list()).toEqual([unlocked]);
  },
  60_000,
);
