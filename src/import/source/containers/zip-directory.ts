import { isUtf8 } from "node:buffer";
import iconv from "iconv-lite";
import { FileFormatError } from "../../import-error.ts";
import { readPieces, type StampedFile, type Stretch } from "./file-pieces.ts";

/** A file in a zip archive, as the archive's directory describes it. */
export interface ZipEntry {
  readonly name: string;
  /** 0: stored; 8: deflated. */
  readonly method: number;
  readonly isEncrypted: boolean;
  readonly packedBytes: number;
  readonly bytes: number;
  readonly crc32: number;
  /** Offset of its header in the archive, in bytes. */
  readonly offset: number;
}

/** Source: APPNOTE.TXT 6.3.10 of the zip format, 4.3.7 to 4.3.16. */
const signature = {
  entryHeader: 0x04034b50,
  directoryHeader: 0x02014b50,
  end: 0x06054b50,
  end64: 0x06064b50,
  end64Locator: 0x07064b50,
} as const;
const length = { entryHeader: 30, directoryHeader: 46, end: 22, end64: 56, end64Locator: 20 } as const;
/** Maximum size of the comment after the end record. */
const maxCommentBytes = 65_535;
/** An archive of exports has fewer. */
const maxDirectoryBytes = 64 * 1024 * 1024;
const flag = { encrypted: 1, utf8: 1 << 11 } as const;
const zip64Field = 1;
const unknown32 = 0xffffffff;

/**
 * The files and folders in a zip archive, in directory order.
 * @throws FileFormatError if it is damaged, incomplete, or one of several parts
 */
export function readZipDirectory(file: StampedFile): ZipEntry[] {
  const { start, bytes, count } = findDirectory(file);
  if (bytes > maxDirectoryBytes) throw damaged("zip");
  const directory = readStretch(file, { start, length: bytes });
  const entries: ZipEntry[] = [];
  let at = 0;
  for (let index = 0; index < count; index++) {
    if (at + length.directoryHeader > directory.length) throw damaged("zip");
    if (directory.readUInt32LE(at) !== signature.directoryHeader) throw damaged("zip");
    const nameEnd = at + length.directoryHeader + directory.readUInt16LE(at + 28);
    const extraEnd = nameEnd + directory.readUInt16LE(at + 30);
    const next = extraEnd + directory.readUInt16LE(at + 32);
    if (next > directory.length) throw damaged("zip");
    const name = directory.subarray(at + length.directoryHeader, nameEnd);
    entries.push(readEntry(directory.subarray(at), name, directory.subarray(nameEnd, extraEnd)));
    at = next;
  }
  return entries;
}

/** The range of an entry's compressed bytes. Its own header may have other extra fields than the directory. */
export function findEntryData(file: StampedFile, { offset, packedBytes }: ZipEntry): Stretch {
  const header = readStretch(file, { start: offset, length: length.entryHeader });
  if (header.readUInt32LE(0) !== signature.entryHeader) throw damaged("zip");
  const start = offset + length.entryHeader + header.readUInt16LE(26) + header.readUInt16LE(28);
  if (start + packedBytes > file.stamp.bytes) throw damaged("zip");
  return { start, length: packedBytes };
}

function readEntry(header: Buffer, name: Buffer, extra: Buffer): ZipEntry {
  const flags = header.readUInt16LE(8);
  const isNameUtf8 = (flags & flag.utf8) !== 0 || isUtf8(name);
  const wide = readWideFields(extra, [header.readUInt32LE(24), header.readUInt32LE(20), header.readUInt32LE(42)]);
  const [bytes = 0, packedBytes = 0, offset = 0] = wide;
  return {
    name: isNameUtf8 ? name.toString("utf8") : iconv.decode(name, "cp437"),
    method: header.readUInt16LE(10),
    isEncrypted: (flags & flag.encrypted) !== 0,
    packedBytes,
    bytes,
    crc32: header.readUInt32LE(16),
    offset,
  };
}

/** Numbers that need more than 32 bits are in the zip64 field, in this order. */
function readWideFields(extra: Buffer, narrow: readonly number[]): number[] {
  let field: Buffer = Buffer.alloc(0);
  for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2)) {
    if (extra.readUInt16LE(at) === zip64Field) field = extra.subarray(at + 4, at + 4 + extra.readUInt16LE(at + 2));
  }
  let at = 0;
  return narrow.map((value) => {
    if (value !== unknown32) return value;
    if (at + 8 > field.length) throw damaged("zip");
    at += 8;
    return Number(field.readBigUInt64LE(at - 8));
  });
}

interface DirectoryPlace {
  readonly start: number;
  readonly bytes: number;
  readonly count: number;
}

function findDirectory(file: StampedFile): DirectoryPlace {
  const total = file.stamp.bytes;
  const start = Math.max(0, total - length.end - maxCommentBytes);
  const tail = readStretch(file, { start, length: total - start });
  const end = findEnd(tail);
  rejectParts(tail.readUInt16LE(end + 4));
  const locator = end - length.end64Locator;
  const isWide = locator >= 0 && tail.readUInt32LE(locator) === signature.end64Locator;
  const place = isWide
    ? readWidePlace(file, Number(tail.readBigUInt64LE(locator + 8)))
    : {
        start: tail.readUInt32LE(end + 16),
        bytes: tail.readUInt32LE(end + 12),
        count: tail.readUInt16LE(end + 10),
      };
  if (place.start + place.bytes > total) throw damaged("zip");
  return place;
}

/** Finds the last end record whose comment reaches the end of the file: a comment may contain the signature too. */
function findEnd(tail: Buffer): number {
  for (let at = tail.length - length.end; at >= 0; at--) {
    if (tail.readUInt32LE(at) !== signature.end) continue;
    if (at + length.end + tail.readUInt16LE(at + 20) <= tail.length) return at;
  }
  throw damaged("zip");
}

function readWidePlace(file: StampedFile, offset: number): DirectoryPlace {
  const record = readStretch(file, { start: offset, length: length.end64 });
  if (record.readUInt32LE(0) !== signature.end64) throw damaged("zip");
  rejectParts(record.readUInt32LE(16));
  return {
    start: Number(record.readBigUInt64LE(48)),
    bytes: Number(record.readBigUInt64LE(40)),
    count: Number(record.readBigUInt64LE(32)),
  };
}

function rejectParts(part: number): void {
  if (part === 0) return;
  throw new FileFormatError("the zip archive is one of several parts", "join the parts first");
}

function readStretch(file: StampedFile, stretch: Stretch): Buffer {
  const pieces: Buffer[] = [];
  if (stretch.start + stretch.length > file.stamp.bytes) throw damaged("zip");
  for (const piece of readPieces(file, stretch)) pieces.push(Buffer.from(piece));
  const bytes = Buffer.concat(pieces);
  if (bytes.length < stretch.length) throw damaged("zip");
  return bytes;
}

/** The error for an archive whose contents contradict its directory. */
export function damaged(kind: "gzip" | "zip", cause?: unknown): FileFormatError {
  return new FileFormatError(
    `the ${kind} archive is damaged or incomplete`,
    "create or download it again; nothing was imported from it",
    { cause },
  );
}
