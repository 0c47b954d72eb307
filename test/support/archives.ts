import { crc32, deflateRawSync, gzipSync } from "node:zlib";

/** A file for a zip archive. */
export interface ZipPart {
  readonly name: string;
  readonly bytes: Buffer;
  readonly isStored?: boolean;
  /** Writes sizes and checksum after the data, as in a streamed archive. */
  readonly hasDescriptor?: boolean;
  readonly isEncrypted?: boolean;
  /** Overrides the compression method. */
  readonly method?: number;
}

export interface ZipForm {
  /** Uses 64-bit sizes and offsets throughout. */
  readonly isZip64?: boolean;
  readonly comment?: string;
}

/** Builds a zip archive field by field, to cover every variant of the format. */
export function makeZip(parts: readonly ZipPart[], { isZip64 = false, comment = "" }: ZipForm = {}): Buffer {
  const files: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const part of parts) {
    const packed = part.isStored === true ? part.bytes : deflateRawSync(part.bytes);
    const local = localPart(part, packed);
    files.push(local);
    directory.push(directoryHeader(part, packed, offset, isZip64));
    offset += local.length;
  }
  const listed = Buffer.concat(directory);
  const wide = isZip64 ? zip64End(parts.length, listed.length, offset) : Buffer.alloc(0);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(isZip64 ? 0xffff : parts.length, 8);
  end.writeUInt16LE(isZip64 ? 0xffff : parts.length, 10);
  end.writeUInt32LE(isZip64 ? 0xffffffff : listed.length, 12);
  end.writeUInt32LE(isZip64 ? 0xffffffff : offset, 16);
  end.writeUInt16LE(comment.length, 20);
  return Buffer.concat([...files, listed, wide, end, Buffer.from(comment)]);
}

/** Builds a gzip file with several members, as appending does. */
export function makeGzip(bytes: Buffer, members = 1): Buffer {
  const size = Math.ceil(bytes.length / members);
  return Buffer.concat(
    Array.from({ length: members }, (_, at) => gzipSync(bytes.subarray(at * size, (at + 1) * size))),
  );
}

function flagsOf({ hasDescriptor = false, isEncrypted = false }: ZipPart): number {
  return (isEncrypted ? 1 : 0) | (hasDescriptor ? 8 : 0) | 0x800;
}

function methodOf({ isStored = false, method }: ZipPart): number {
  return method ?? (isStored ? 0 : 8);
}

function localPart(part: ZipPart, packed: Buffer): Buffer {
  const name = Buffer.from(part.name);
  // An extra field that the central directory does not contain.
  const extra = Buffer.from([0x55, 0x54, 5, 0, 1, 0, 0, 0, 0]);
  const header = Buffer.alloc(30);
  const sums = [crc32(part.bytes), packed.length, part.bytes.length];
  header.writeUInt32LE(0x04034b50, 0);
  header.writeUInt16LE(20, 4);
  header.writeUInt16LE(flagsOf(part), 6);
  header.writeUInt16LE(methodOf(part), 8);
  for (const [at, value] of sums.entries()) header.writeUInt32LE(part.hasDescriptor ? 0 : value, 14 + at * 4);
  header.writeUInt16LE(name.length, 26);
  header.writeUInt16LE(extra.length, 28);
  const descriptor = Buffer.alloc(part.hasDescriptor ? 16 : 0);
  if (part.hasDescriptor) {
    descriptor.writeUInt32LE(0x08074b50, 0);
    for (const [at, value] of sums.entries()) descriptor.writeUInt32LE(value, 4 + at * 4);
  }
  return Buffer.concat([header, name, extra, packed, descriptor]);
}

function directoryHeader(part: ZipPart, packed: Buffer, offset: number, isZip64: boolean): Buffer {
  const name = Buffer.from(part.name);
  const extra = Buffer.alloc(isZip64 ? 28 : 0);
  if (isZip64) {
    extra.writeUInt16LE(1, 0);
    extra.writeUInt16LE(24, 2);
    extra.writeBigUInt64LE(BigInt(part.bytes.length), 4);
    extra.writeBigUInt64LE(BigInt(packed.length), 12);
    extra.writeBigUInt64LE(BigInt(offset), 20);
  }
  const header = Buffer.alloc(46);
  header.writeUInt32LE(0x02014b50, 0);
  header.writeUInt16LE(flagsOf(part), 8);
  header.writeUInt16LE(methodOf(part), 10);
  header.writeUInt32LE(crc32(part.bytes), 16);
  header.writeUInt32LE(isZip64 ? 0xffffffff : packed.length, 20);
  header.writeUInt32LE(isZip64 ? 0xffffffff : part.bytes.length, 24);
  header.writeUInt16LE(name.length, 28);
  header.writeUInt16LE(extra.length, 30);
  header.writeUInt32LE(isZip64 ? 0xffffffff : offset, 42);
  return Buffer.concat([header, name, extra]);
}

function zip64End(count: number, bytes: number, offset: number): Buffer {
  const end = Buffer.alloc(56);
  end.writeUInt32LE(0x06064b50, 0);
  end.writeBigUInt64LE(44n, 4);
  end.writeBigUInt64LE(BigInt(count), 24);
  end.writeBigUInt64LE(BigInt(count), 32);
  end.writeBigUInt64LE(BigInt(bytes), 40);
  end.writeBigUInt64LE(BigInt(offset), 48);
  const locator = Buffer.alloc(20);
  locator.writeUInt32LE(0x07064b50, 0);
  locator.writeBigUInt64LE(BigInt(offset + bytes), 8);
  locator.writeUInt32LE(1, 16);
  return Buffer.concat([end, locator]);
}
