import { describe, expect, it } from "vitest";
import { findPoolSize, findReader } from "../../../src/config/database-settings.ts";
import { UserError } from "../../../src/config/user-error.ts";

describe("STARPOST_DATABASE_POOL", () => {
  const read = (STARPOST_DATABASE_POOL: string | undefined) => findPoolSize({ STARPOST_DATABASE_POOL });

  it("is an integer from 2 to 1000", () => {
    expect([undefined, "", "2", "10", "1000"].map(read)).toEqual([undefined, undefined, 2, 10, 1_000]);
  });

  it.each(["1", "0", "1001", "-5", "2.5", "ten", "1e2", " 5"])("rejects %j", (text) => {
    const attempt = () => read(text);
    expect(attempt).toThrow(UserError);
    expect(attempt).toThrow("STARPOST_DATABASE_POOL");
  });
});

describe("STARPOST_DATABASE_READER", () => {
  const read = (STARPOST_DATABASE_READER: string | undefined, database = "postgres://role@primary/shop") =>
    findReader({ STARPOST_DATABASE_READER }, database);

  it("is the address of a server, for a database on a server", () => {
    expect([read(undefined), read("")]).toEqual([undefined, undefined]);
    expect(read("postgres://role:77hidden@replica/shop")).toMatchObject({
      location: "postgres://role:77hidden@replica/shop",
      shownAs: "postgres://role@replica/shop",
    });
  });

  it.each([
    ["/srv/copy.db", undefined],
    ["postgres://role:77hidden@replica", undefined],
    ["postgres://role:77hidden@replica/shop", "/srv/starpost.db"],
  ])("rejects %s", (text, database) => {
    const attempt = () => read(text, database);
    expect(attempt).toThrow(UserError);
    expect(attempt).toThrow("STARPOST_DATABASE_READER");
    expect(attempt).not.toThrow("hidden");
  });
});
