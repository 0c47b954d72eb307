import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  blocksPerSegment,
  bucketOf,
  foldPart,
  findWithParts,
  idsAt,
  listParts,
  rankParts,
  removeSection,
  writeIds,
  writeSections,
} from "../../../../src/engine/kernel/lists/postings.ts";

function sectionsOf(block: number, texts: readonly string[]): readonly string[] {
  const writing = writeSections(block, texts);
  for (;;) {
    const { done, value } = writing.next();
    if (done === true) return value;
  }
}

/** The rows of a segment with some blocks. */
function rowsOf(blocks: readonly (readonly string[])[]) {
  const sections = blocks.map((texts, block) => sectionsOf(block, texts));
  return Array.from(sections[0] ?? [], (_, bucket) => ({
    bucket,
    segment: 0,
    postings: sections.map((own) => own[bucket]).join(""),
  }));
}

const texts = fc.array(fc.string({ unit: fc.constantFrom("a", "A", "ä", "b", "0", "@", "王", "伟", "\n") }), {
  maxLength: 30,
});

describe("postings", () => {
  it("contain every record that contains a text", () => {
    fc.assert(
      fc.property(fc.array(texts, { minLength: 1, maxLength: 4 }), fc.nat(), fc.nat(), (blocks, which, from) => {
        const all = blocks.flat();
        const part = foldPart(all[which % Math.max(1, all.length)] ?? "").slice(from % 5, (from % 5) + 4);
        const parts = listParts(part);
        fc.pre(parts.size > 0);
        const found = findWithParts(
          parts,
          rowsOf(blocks).filter(({ bucket }) => [...parts].map(bucketOf).includes(bucket)),
        );
        for (const [block, own] of blocks.entries()) {
          const containing = own.flatMap((text, at) => (foldPart(text).includes(part) ? [at] : []));
          expect(found.get(block) ?? []).toEqual(expect.arrayContaining(containing));
        }
      }),
    );
  });

  it("find the same in steps as at once, in several segments", () => {
    fc.assert(
      fc.property(fc.array(texts, { minLength: 1, maxLength: 30 }), fc.nat(), fc.nat(), (blocks, which, from) => {
        const all = blocks.flat();
        const parts = [...listParts(foldPart(all[which % Math.max(1, all.length)] ?? ""))];
        fc.pre(parts.length > 1);
        const rows = blocks.flatMap((own, block) =>
          sectionsOf(block, own).flatMap((postings, bucket) =>
            postings === "" ? [] : [{ bucket, segment: Math.floor(block / blocksPerSegment), postings }],
          ),
        );
        const at = 1 + (from % (parts.length - 1));
        const first = findWithParts(parts.slice(0, at), rows);
        expect(findWithParts(parts.slice(at), rows, first)).toEqual(findWithParts(parts, rows));
        expect(findWithParts(parts, rows).size).toBeGreaterThan(0);
      }),
    );
  });

  it("list few and many records, in order", () => {
    const own = Array.from({ length: 8_192 }, (_, at) =>
      [`all`, at % 2 === 0 ? "even" : "", at % 5_000 === 7 ? "rare" : ""].join(" "),
    );
    const find = (text: string) => findWithParts(listParts(text), rowsOf([[], own])).get(1) ?? [];
    expect(find("all")).toHaveLength(8_192);
    expect(find("all even")).toEqual(Array.from({ length: 4_096 }, (_, at) => 2 * at));
    expect(find("rare")).toEqual([7, 5_007]);
    expect(find("none")).toEqual([]);
  });

  it("are ranked so that few parts of a name find it", () => {
    const [first, last] = ["amber cedar olive linen", "Smith Jones Brown Davis"].map((names) => names.split(" "));
    const all = (first ?? []).flatMap((one) => (last ?? []).map((other) => `${one} ${other}`));
    const rows = rowsOf([all]);
    for (const name of all) {
      const { ranked, few } = rankParts(listParts(foldPart(name)), rows);
      expect(new Set(ranked)).toEqual(listParts(foldPart(name)));
      expect(few).toBeLessThanOrEqual(2);
      expect([...findWithParts(ranked.slice(0, few), rows)]).toEqual([[0, [all.indexOf(name)]]]);
    }
    expect(rankParts(listParts("none"), rows)).toMatchObject({ few: 1, found: 0 });
  });

  it("lose those of a block that is removed", () => {
    const rows = rowsOf([["first"], ["second"], ["first"]]);
    const kept = rows.map(({ bucket, segment, postings }) => {
      return { bucket, segment, postings: removeSection(postings, 0, 0) };
    });
    expect([...findWithParts(listParts("first"), kept).keys()]).toEqual([2]);
    expect([...findWithParts(listParts("second"), kept).keys()]).toEqual([1]);
  });

  it("distinguish the blocks of a segment", () => {
    const block = 3 * blocksPerSegment + 1;
    const rows = sectionsOf(block, ["ann"]).map((postings, bucket) => ({ bucket, segment: 3, postings }));
    expect([...findWithParts(listParts("ann"), rows)]).toEqual([[block, [0]]]);
  });

  it("need neither escapes nor surrogates", () => {
    const all = sectionsOf(
      7,
      Array.from({ length: 8_192 }, (_, at) => `${at} all`),
    ).join("");
    expect(all).not.toMatch(/[\0-"\\\uD800-\uDFFF]/);
  });

  it("return the IDs at positions", () => {
    const ascending = fc.uniqueArray(fc.oneof(fc.nat(20), fc.nat()), { minLength: 1, maxLength: 50 });
    fc.assert(
      fc.property(ascending, fc.nat(3), (unsorted, step) => {
        const ids = unsorted.map((id) => id + 1).toSorted((a, b) => a - b);
        const positions = ids.flatMap((_, at) => (at % (step + 1) === 0 ? [at] : []));
        expect(idsAt(positions, writeIds(ids))).toEqual(positions.map((at) => ids[at]));
        expect(idsAt([0, ids.length - 1], ids.map((id, at) => id - (ids[at - 1] ?? 0)).join(","))).toEqual([
          ids[0],
          ids.at(-1),
        ]);
      }),
    );
    expect(writeIds([5, 6, 7, 9])).toBe("5,1*2,2");
  });
});
