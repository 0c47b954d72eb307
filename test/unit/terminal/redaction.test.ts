import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { rejectCodes } from "../../../src/import/check/reject-codes.ts";
import { createPseudonym, hideAddresses, Redaction } from "../../../src/terminal/redaction.ts";
import { measureCpu } from "../../support/cpu-time.ts";

const pseudonym = createPseudonym(Buffer.alloc(32, 1));
const hide = (text: string) => hideAddresses(text, pseudonym);
const hidden = (address: string) => pseudonym(address);

describe("hideAddresses", () => {
  test.each(["jane@example.com", "Jane.Doe+news@shop.example.co.uk", "o'brien@example.ie", "jürgen@bücher.example"])(
    "replaces %s with a token that looks like an address",
    (address) => {
      const token = hidden(address);
      expect(token).toMatch(/^person-[0-9a-f]{10}@redacted\.invalid$/);
      expect(hide(`to ${address}, and '${address}'.`)).toBe(`to ${token}, and '${token}'.`);
      expect(hide(`<${address}>;"${address}";(${address})`)).toBe(`<${token}>;"${token}";(${token})`);
      expect(hide(token)).toBe(token);
    },
  );

  test("gives each address its own token, ignoring case", () => {
    expect(hidden("Jane@Example.COM")).toBe(hidden("jane@example.com"));
    expect(hidden("john@example.com")).not.toBe(hidden("jane@example.com"));
    expect(createPseudonym(Buffer.alloc(32, 2))("jane@example.com")).not.toBe(hidden("jane@example.com"));
  });

  test.each([
    ["no dot in its host", "jane@localhost"],
    ["a host cut off", "jane@exam…"],
    ["two signs", "jane@@example.com"],
    ["no host", "jane@"],
  ])("hides an address that contains %s", (_, address) => {
    expect(hide(`"${address}"`)).not.toContain("jane");
  });

  test("keeps the sample address in the program's own hints, and no other address", () => {
    const hints = Object.values(rejectCodes).map(({ means, hint = "" }) => `${means} ${hint}`);
    expect(hints.join("\n")).toContain("write it as name@shop.example");
    expect(hide(hints.join("\n"))).toBe(hints.join("\n"));
    for (const other of [
      "Name@shop.example",
      "my.name@shop.example",
      "name@shop.example.com",
      "jane@shop.example",
      "name@myshop.example",
    ]) {
      expect(hide(`write ${other}.`)).toBe(`write ${hidden(other)}.`);
      expect(hidden(other)).toMatch(/@redacted\.invalid$/);
    }
  });

  test("hides an address that is URL-encoded", () => {
    expect(hide("/x?email=jane%40example.com&y=1")).toBe(
      `/x?email=${hidden("jane@example.com").replace("@", "%40")}&y=1`,
    );
  });

  test("keeps JSON valid", () => {
    const values = [
      "a\njane@example.com",
      'say "hi"@example.com',
      "\u0007x@example.com",
      "back\\slash@example.com",
      "@handle",
    ];
    const read = JSON.parse(hide(JSON.stringify(values))) as string[];
    expect(read).toHaveLength(values.length);
    expect(read[0]).toBe(`a\n${hidden("jane@example.com")}`);
    expect(read[2]).toBe(`\u0007${hidden("x@example.com")}`);
    expect(read.join(" ")).not.toContain("example.com");
    expect(read[4]).toBe("@handle");
  });

  test("keeps terminal colors", () => {
    expect(hide("\u001B[31mjane@example.com\u001B[39m")).toBe(`\u001B[31m${hidden("jane@example.com")}\u001B[39m`);
  });

  test.each(["5 rows @ 3/s", "node_modules/@scope/name", "100% @", "a @ b"])("does not change %j", (text) => {
    expect(hide(text)).toBe(text);
  });

  test("takes linear time", () => {
    const texts = ["a".repeat(4_000_000), `${"a".repeat(2_000_000)}@${"b".repeat(2_000_000)}`, "@".repeat(2_000_000)];
    for (const text of texts) expect(measureCpu(() => hide(text))).toBeLessThan(1_000);
  });
});

describe("Redaction", () => {
  const address = fc
    .tuple(
      fc.stringMatching(/^[a-z0-9][A-Za-z0-9.+_'-]{0,12}[a-z0-9]$/),
      fc.stringMatching(/^[a-z0-9]{1,8}(\.[a-z]{2,5}){1,2}$/),
    )
    .map((parts) => parts.join("@"));
  const between = fc.constantFrom(" ", ", ", "\n", '","', '":"', " · ", "; ", "<", "> (", "\t", "'");

  test("hides every address, wherever the chunks end, and nothing else", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(between, address), { minLength: 1, maxLength: 12 }),
        fc.infiniteStream(fc.integer({ min: 1, max: 9 })),
        (parts, lengths) => {
          const text = `${parts.flat().join("")}\n`;
          const redaction = new Redaction(pseudonym);
          let shown = "";
          for (let at = 0; at < text.length;) {
            const length = lengths.next().value ?? 1;
            shown += redaction.push(text.slice(at, at + length));
            at += length;
          }
          shown += redaction.flush();
          expect(shown).toBe(hide(text));
          for (const [, original] of parts) expect(shown.toLowerCase()).not.toContain(original.toLowerCase());
        },
      ),
      { numRuns: 500 },
    );
  });

  test("buffers nothing that ends in a space or a line break", () => {
    const redaction = new Redaction(pseudonym);
    expect(redaction.push("Go on? (y/N) ")).toBe("Go on? (y/N) ");
    expect(redaction.push("done\n")).toBe("done\n");
    expect(redaction.push("jane")).toBe("");
    expect(redaction.push("@example.com")).toBe("");
    expect(redaction.flush()).toBe(hidden("jane@example.com"));
  });
});
