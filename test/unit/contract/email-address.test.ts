import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { emailKeyOf, isEmail, mailboxOf } from "../../../src/contract/email-address.ts";
import { isSurely, shape } from "../../../src/contract/index.ts";

describe("the key of an email address", () => {
  test.each([
    [
      "ann@mail.example",
      ["Ann@Mail.Example", "ann@ｍail.example", "ａｎｎ@mail.example", "ann@mail。example", "ann@mail｡example"],
    ],
    [
      "ann@xn--bcher-kva.example",
      ["ann@bücher.example", "Ann@BÜCHER.example", "ann@bu\u0308cher.example", "ann@XN--BCHER-KVA.example"],
    ],
    ["jürgen@mail.example", ["JÜRGEN@mail.example", "ju\u0308rgen@mail.example"]],
    // As an earlier version may have stored them.
    [
      "ann@mail.example",
      ["ann\u200B@mail.example", "\u001Bann@mail.example", "ann@ma\u00ADil.example", "ann\u202E@mail.example"],
    ],
    ["a@b", ["A@B", "ａ@ｂ"]],
  ])("is %s for all of its spellings", (key, spellings) => {
    expect(spellings.map(emailKeyOf)).toEqual(spellings.map(() => key));
  });

  test("distinguishes addresses of different mailboxes", () => {
    const others = [
      "ann@mail.example",
      "a.nn@mail.example",
      "ann+shop@mail.example",
      "ann@mail.example.org",
      "änn@mail.example",
    ];
    expect(new Set(others.map(emailKeyOf)).size).toBe(others.length);
  });

  test("is a key itself, short, and the same as that of its lower case", () => {
    const letters = fc.constantFrom(..."aZ@@..-+_ üÜßſKİıﬁＡ．＠。\u200B\u001B\u0308\uFE0F²ά".split(""));
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: letters }), fc.string({ unit: "binary" })), (text) => {
        const key = emailKeyOf(text);
        expect([emailKeyOf(key), emailKeyOf(text.toLowerCase())]).toEqual([key, key]);
        expect(key.length).toBeLessThanOrEqual(Math.max(254, text.toLowerCase().length));
      }),
      { numRuns: 3_000 },
    );
  });
});

describe("an email address", () => {
  test.each([
    "a@b",
    "ann@mail.example",
    "Jürgen@bücher.example",
    "ｖ@mail.example",
    "ann@mail。example",
    "o'neil+x=y@a-b.example",
  ])("can be %s, whose spelling stays", (email) => expect(shape.email.parse(email)).toBe(email));

  const [invisible, invalid] = ["contains an invisible character", "is not a valid email address (local@domain)"];
  test.each([
    ["ann\u200B@mail.example", invisible],
    ["ann@ma\u00ADil.example", invisible],
    ["\u001Bann@mail.example", invisible],
    ["ann\u202E@mail.example", invisible],
    ["ann\uFE0F@mail.example", invisible],
    ["ann @mail.example", invalid],
    ["ann\u3000@mail.example", invalid],
    ["ann＠mail.example", invalid],
    ["ann@evil.example＠mail.example", invalid],
    ["ann@mail.example。", invalid],
    ["ann．@mail.example", invalid],
    ["ann¨x@mail.example", invalid],
    ["ann@mäil.example/path", invalid],
    [`${"\uFDFA".repeat(60)}@mail.example`, invalid],
    ["mailto:ann@mail.example", invalid],
  ])("cannot be %j", (email, message) => {
    expect(shape.email.safeParse(email).error?.issues.map((issue) => issue.message)).toEqual([message]);
  });

  test("is surely one only if it is one", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'ab.@:;,<>()"[]\\{|}~!-_ü\u007F \t'.split("")) }), (text) => {
        if (isSurely.email(text)) expect(shape.email.safeParse(text).success).toBe(true);
        else if (/^[!-~]*$/.test(text)) expect(isEmail(text)).toBe(false);
      }),
      { numRuns: 3_000 },
    );
  });
});

test("the mailbox of an address ignores tags, and what large providers ignore", () => {
  const spellings = ["v.ictim+a@gmail.com", "VICTIM@GoogleMail.com", "victim＋b@ｇmail.com", "vi.c.tim@gmail.com"];
  expect(spellings.map(mailboxOf)).toEqual(spellings.map(() => "victim@gmail.com"));
  expect(["v-i_c.t@pm.me", "vict@proton.me"].map(mailboxOf)).toEqual(["vict@proton.me", "vict@proton.me"]);
  expect(["vict@me.com", "v.ict@icloud.com"].map(mailboxOf)).toEqual(["vict@icloud.com", "v.ict@icloud.com"]);
  expect(["v.i+x@mail.example", "a@b"].map(mailboxOf)).toEqual(["v.i@mail.example", "a@b"]);
});
