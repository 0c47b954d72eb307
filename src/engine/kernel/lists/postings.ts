import { foldText } from "../../../storage/search-index.ts";

/**
 * Which records of a block contain which three characters, as text that a database can append to: a column of each bucket
 * contains a section per block. Texts are stored in UTF-8, so that small numbers, of which most of it consists, take one byte.
 */

/** Records of a block. */
export const blockSize = 8_192;

/** With more buckets, a search reads less of other parts. */
export const bucketCount = 2_048;

/** Blocks whose sections are in the same row. With more, a search reads fewer rows, but each is written more often. */
export const blocksPerSegment = 8;

/** A number that is written as one character is below this one. */
const largeNumber = 0x4000;

/** Writes ascending IDs: the first, and the difference of each to the one before, with the number of equal ones after `*`. */
export function writeIds(ids: readonly number[]): string {
  const runs: { readonly difference: number; count: number }[] = [];
  for (const [at, id] of ids.entries()) {
    const difference = id - (ids[at - 1] ?? 0);
    const last = runs.at(-1);
    if (last?.difference === difference) last.count++;
    else runs.push({ difference, count: 1 });
  }
  return runs.map(({ difference, count }) => (count === 1 ? difference : `${difference}*${count}`)).join(",");
}

/** Finds the IDs at ascending positions in what {@link writeIds} has written. */
export function idsAt(positions: readonly number[], written: string): readonly number[] {
  const runs = written.split(",").values();
  let [at, id, difference, count] = [0, 0, 0, 0];
  return positions.map((position) => {
    while (position >= at + count) {
      at += count;
      id += difference * count;
      const { value = "" } = runs.next();
      [difference = 0, count = 1] = value.split("*").map(Number);
    }
    return id + difference * (position - at + 1);
  });
}

/** From `#` on, without the backslash, so that JSON and SQL need no escapes. There are no surrogates either. */
function write(number: number): string {
  return String.fromCharCode(number < 0x39 ? number + 0x23 : number + 0x24);
}

function read(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code < 0x5c ? code - 0x23 : code - 0x24;
}

/** A text as it is compared: without case and accents. */
export function foldPart(text: string): string {
  return /^[\0-\x7F]*$/.test(text) ? text.toLowerCase() : foldText(text);
}

/** Characters of scripts in which names often have two characters, from the radicals of Chinese on. */
const firstIdeograph = 0x2e80;

const isIdeograph = (code: number) => code >= firstIdeograph;

const hash = (first: number, second: number, third: number) =>
  Math.imul((first << 16) ^ (second << 8) ^ third, 0x9e_37_79_b1) >>> 8;

/** The hashes of the parts by which a folded text is found: of three characters, or of two ideographs. They have 24 bits. */
export function listParts(folded: string): Set<number> {
  const parts = new Set<number>();
  let [before, last] = [0, 0];
  for (let at = 0; at < folded.length; at++) {
    const code = folded.charCodeAt(at);
    if (at > 1) parts.add(hash(before, last, code));
    if (at > 0 && isIdeograph(code) && isIdeograph(last)) parts.add(hash(0, last, code));
    [before, last] = [last, code];
  }
  return parts;
}

const tagSize = 2 ** 24 / bucketCount;

export const bucketOf = (part: number) => Math.floor(part / tagSize);
const tagOf = (part: number) => part % tagSize;

/** With more records, a bit per record is shorter than a list. Six bits fit into a number of one byte. */
const bitsPerNumber = 6;
const maxListed = Math.ceil(blockSize / bitsPerNumber);

/** The sections of a block: for each bucket, the records that contain each part, by their position. */
export function* writeSections(block: number, texts: readonly string[]): Generator<undefined, readonly string[]> {
  const buckets: Map<number, number[]>[] = Array.from({ length: bucketCount }, () => new Map());
  for (const [position, text] of texts.entries()) {
    for (const part of listParts(foldPart(text))) {
      const bucket = buckets[bucketOf(part)];
      const positions = bucket?.get(tagOf(part));
      if (positions) positions.push(position);
      else bucket?.set(tagOf(part), [position]);
    }
    if (position % 100 === 0) yield;
  }
  return buckets.map((bucket) => {
    const lists = Array.from(bucket, ([tag, positions]) => writePositions(tag, positions));
    return lists.length === 0 ? "" : writeSection(block, lists.join(""));
  });
}

function writeSection(block: number, content: string): string {
  const { length } = content;
  return `${write(block % blocksPerSegment)}${write(Math.floor(length / largeNumber))}${write(length % largeNumber)}${content}`;
}

function writePositions(tag: number, positions: readonly number[]): string {
  const numbers: number[] = [tag >> 7, tag & 127, positions.length];
  if (positions.length < maxListed) {
    let last = 0;
    for (const position of positions) {
      numbers.push(position - last);
      last = position;
    }
  } else {
    const bits = Array.from({ length: maxListed }, () => 0);
    for (const position of positions) {
      bits[Math.floor(position / bitsPerNumber)]! |= 1 << (position % bitsPerNumber);
    }
    numbers.push(...bits);
  }
  return numbers.map(write).join("");
}

interface Section {
  readonly block: number;
  readonly start: number;
  readonly end: number;
}

const headLength = 3;

function* listSections(postings: string, segment: number): Generator<Section> {
  for (let start = 0; start < postings.length;) {
    const end = start + headLength + read(postings, start + 1) * largeNumber + read(postings, start + 2);
    yield { block: segment * blocksPerSegment + read(postings, start), start, end };
    start = end;
  }
}

/** The postings of a row without those of a block. */
export function removeSection(postings: string, segment: number, removed: number): string {
  const kept = [...listSections(postings, segment)].filter(({ block }) => block !== removed);
  return kept.map(({ start, end }) => postings.slice(start, end)).join("");
}

/** The records of a block that contain a part. */
interface Listed {
  readonly count: number;
  readonly postings: string;
  /** Where the list of the part begins in the postings. */
  readonly start: number;
}

/** The postings of a row, as the table contains them. */
export interface PostingsRow {
  readonly bucket: number;
  readonly segment: number;
  readonly postings: string;
}

/** The records that contain a part, by block. */
type Lists = ReadonlyMap<number, Listed>;

/** Records by their positions in each block, in ascending order. Each block has at least one. */
export type Positions = ReadonlyMap<number, readonly number[]>;

function findLists(part: number, rows: readonly PostingsRow[]): Lists {
  const lists = new Map<number, Listed>();
  for (const { bucket, segment, postings } of rows) {
    if (bucket !== bucketOf(part)) continue;
    for (const section of listSections(postings, segment)) {
      const listed = findPart(postings, section, tagOf(part));
      if (listed) lists.set(section.block, listed);
    }
  }
  return lists;
}

const countListed = (lists: Lists) => [...lists.values()].reduce((sum, { count }) => sum + count, 0);

/** The number of records. */
export const countPositions = (found: Positions) => [...found.values()].reduce((sum, { length }) => sum + length, 0);

/** Finds the records that contain all parts, among those of `within` if it is given. */
export function findWithParts(parts: Iterable<number>, rows: readonly PostingsRow[], within?: Positions): Positions {
  const lists = Array.from(parts, (part) => findLists(part, rows)).toSorted((a, b) => countListed(a) - countListed(b));
  return lists.reduce<Positions | undefined>(narrow, within) ?? new Map<number, readonly number[]>();
}

function narrow(within: Positions | undefined, lists: Lists): Positions {
  const blocks = [...lists].map(([block, listed]) => {
    const positions = within ? (within.get(block) ?? []).filter(createTest(listed)) : readPositions(listed);
    return [block, positions] as const;
  });
  return new Map(blocks.filter(([, { length }]) => length > 0));
}

/** A part that leaves this share of the records, or a larger one, makes little difference. */
const uselessShare = 0.9;

/**
 * Sorts parts so that the first few find about as few records as all of them: each next one is the one that leaves the fewest.
 * @returns also the number of the first few, and of the records that they find
 */
export function rankParts(parts: Iterable<number>, rows: readonly PostingsRow[]) {
  const all = Array.from(parts, (part) => ({ part, lists: findLists(part, rows) }));
  const [rarest, ...others] = all.toSorted((a, b) => countListed(a.lists) - countListed(b.lists));
  const ranked = rarest ? [rarest.part] : [];
  let found = narrow(undefined, rarest?.lists ?? new Map<number, Listed>());
  let left = others;
  while (left.length > 0) {
    const narrowed = left.map((other) => ({ ...other, found: narrow(found, other.lists) }));
    const best = narrowed.reduce((a, b) => (countPositions(b.found) < countPositions(a.found) ? b : a));
    if (countPositions(best.found) >= uselessShare * countPositions(found)) break;
    ranked.push(best.part);
    found = best.found;
    left = left.filter(({ part }) => part !== best.part);
  }
  return { ranked: [...ranked, ...left.map(({ part }) => part)], few: ranked.length, found: countPositions(found) };
}

function findPart(postings: string, { start, end }: Section, tag: number): Listed | undefined {
  for (let at = start + headLength; at < end;) {
    const count = read(postings, at + 2);
    if (read(postings, at) * 128 + read(postings, at + 1) === tag) return { count, postings, start: at + 3 };
    at += 3 + Math.min(count, maxListed);
  }
  return undefined;
}

function readPositions({ count, postings, start }: Listed): readonly number[] {
  const positions: number[] = [];
  if (count < maxListed) {
    let last = 0;
    for (let at = start; at < start + count; at++) {
      last += read(postings, at);
      positions.push(last);
    }
    return positions;
  }
  const contains = createTest({ count, postings, start });
  for (let position = 0; position < blockSize; position++) if (contains(position)) positions.push(position);
  return positions;
}

/** Returns a function that is called with ascending positions, and returns whether the list contains each. */
function createTest({ count, postings, start }: Listed): (position: number) => boolean {
  if (count >= maxListed) {
    return (position) => {
      const bits = read(postings, start + Math.floor(position / bitsPerNumber));
      return ((bits >> (position % bitsPerNumber)) & 1) === 1;
    };
  }
  let [at, last] = [start, -1];
  return (position) => {
    while (last < position && at < start + count) last = Math.max(last, 0) + read(postings, at++);
    return last === position;
  };
}
