import { existsSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { userInfo } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Home, Homes } from "../support/starpost.ts";

const homes = new Homes();
let shop: Server;
let url: string;
let callCount = 0;

beforeAll(async () => {
  shop = createServer((_request, response) => {
    callCount += 1;
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ access_token: "t".repeat(40), token_type: "bearer" }));
  });
  await new Promise<void>((listening) => shop.listen(0, "127.0.0.1", listening));
  url = `http://127.0.0.1:${(shop.address() as AddressInfo).port}`;
});
afterAll(() => {
  shop.close();
  homes.remove();
});

/** A home with the remote live profile `shop` and the database profile `trial`, one of which may be current. */
async function openHome(current?: "shop" | "trial"): Promise<Home> {
  const home = homes.open();
  const remote = ["--base-url", url, "--app-key", "k", "--secret-stdin", "--live"];
  await home.run(["profile", "add", "shop", ...remote], { input: "secret" });
  await home.run(["profile", "add", "trial", "--database", join(home.folder, "trial.db")]);
  if (current !== undefined) await home.run(["profile", "use", current]);
  return home;
}

const adHoc = () => ({ STARPOST_BASE_URL: url, STARPOST_APP_KEY: "k", STARPOST_SECRET: "s" });

interface Selection {
  readonly current?: "shop" | "trial";
  readonly flag?: string;
  readonly env?: () => Record<string, string>;
  readonly alone: string;
  /** With STARPOST_DATABASE; undefined if the two are refused. */
  readonly withDatabase: string | undefined;
}

const selections: Readonly<Record<string, Selection>> = {
  nothing: { alone: "local", withDatabase: "local" },
  "the current remote profile": { current: "shop", alone: "shop", withDatabase: "local" },
  "the current database profile": { current: "trial", alone: "trial", withDatabase: "local" },
  "STARPOST_PROFILE, remote": { env: () => ({ STARPOST_PROFILE: "shop" }), alone: "shop", withDatabase: undefined },
  "STARPOST_PROFILE, database": { env: () => ({ STARPOST_PROFILE: "trial" }), alone: "trial", withDatabase: "local" },
  "STARPOST_PROFILE, local": {
    current: "shop",
    env: () => ({ STARPOST_PROFILE: "local" }),
    alone: "local",
    withDatabase: "local",
  },
  "the variables of a remote service": { current: "trial", env: adHoc, alone: "env", withDatabase: undefined },
  "a remote profile by flag": { flag: "shop", alone: "shop", withDatabase: "shop" },
  "a database profile by flag": { current: "shop", flag: "trial", alone: "trial", withDatabase: "trial" },
  "local by flag": { current: "shop", flag: "local", alone: "local", withDatabase: "local" },
  "the variables of a remote service by flag": { flag: "env", env: adHoc, alone: "env", withDatabase: "env" },
};

describe("the profile in effect", () => {
  test.each(Object.entries(selections))("with %s", async (_, { current, flag, env, alone, withDatabase }) => {
    const home = await openHome(current);
    const flags = flag === undefined ? [] : ["--profile", flag];
    const database = join(home.folder, "other.db");
    const status = async (more?: Record<string, string>) => {
      const options = { env: { ...env?.(), ...more } };
      const found = await home.json<{ profile: string } | undefined>(["auth", "status", ...flags], options);
      if (found.exitCode !== 1) return found;
      // There is no database yet.
      await home.run(["groups", "create", "pots", ...flags], options);
      return home.json<{ profile: string } | undefined>(["auth", "status", ...flags], options);
    };
    expect((await status()).data?.profile).toBe(alone);
    const both = await status({ STARPOST_DATABASE: database });
    expect(both.data?.profile).toBe(withDatabase);
    expect(both.exitCode).toBe(withDatabase === undefined ? 2 : both.exitCode);
    if (withDatabase === undefined) expect(both.stderr).toContain("STARPOST_DATABASE");
    expect(existsSync(database)).toBe(withDatabase === "local");
    if (withDatabase === undefined || flag !== undefined) return;
    const listed = await home.json<{ name: string; current: boolean }[]>(["profile", "list"], {
      env: { ...env?.(), STARPOST_DATABASE: database },
    });
    expect(listed.data.filter((one) => one.current).map(({ name }) => name)).toEqual([withDatabase]);
  });

  test("never is a live shop if the database is set", async () => {
    const home = await openHome("shop");
    const file = join(home.folder, "p.csv");
    writeFileSync(file, "product_id,name,url\n1,Tea,https://shop.example/1\n");
    const before = callCount;
    const env = { STARPOST_DATABASE: join(home.folder, "other.db") };
    expect((await home.json(["products", "import", file], { env })).exitCode).toBe(0);
    const refused = await home.run(["products", "import", file, "--yes"], {
      env: { ...env, STARPOST_PROFILE: "shop" },
    });
    expect(refused.exitCode).toBe(2);
    expect(callCount).toBe(before);
  });
});

describe("who makes changes", () => {
  test("is the person in the environment, in the profile, or at the computer, and the run of an import", async () => {
    const home = await openHome("trial");
    const file = join(home.folder, "reviews.csv");
    const columns =
      "product_id,product_title,product_url,display_name,email,review_content,review_title,review_score,date";
    writeFileSync(file, `${columns}\npot,Pot,https://shop.example/pot,Ann,ann@mail.example,Good,Fine,5,2024-01-05\n`);
    const { data: imported } = await home.json<{ import_id: string }>(["reviews", "import", file]);
    const hide = (name: string, ...args: string[]) =>
      home.run(["reviews", "hide", "1", "--reason", name, ...args], {
        env: { STARPOST_BY: name === "env" ? "Zoë" : "" },
      });
    await hide("user");
    await home.run(["profile", "set", "trial", "--by", "Bo"]);
    await hide("profile");
    await hide("env");
    await hide("flag", "--by", "Eve");
    await home.run(["profile", "set", "trial", "--by", ""]);
    await hide("user again");
    const history = await home.json<readonly { by: string; reason: string | null }[]>(["reviews", "history", "1"]);
    const user = userInfo().username;
    expect(history.data.map(({ by, reason }) => [reason, by])).toEqual([
      [null, `kim, import ${imported.import_id}`],
      ["user", user],
      ["profile", "Bo"],
      ["env", "Zoë"],
      ["flag", "Eve"],
      ["user again", user],
    ]);
    expect(await home.run(["profile", "set", "trial"])).toMatchObject({ exitCode: 2 });
    expect(await home.run(["groups", "list"], { env: { STARPOST_BY: "a\nb" } })).toMatchObject({ exitCode: 2 });
  });
});
