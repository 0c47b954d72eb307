/** An entry of a tar archive, which may be invalid. */
export interface TarEntry {
  readonly name: string;
  readonly content?: string | Buffer;
  /** The type flag: `0` for a file, `1` and `2` for links, `3` for a device, `x` for an extended header. */
  readonly type?: string;
  readonly link?: string;
  /** What the header declares. */
  readonly size?: number;
}

/** Writes entries without checking them, and the zeros at the end. */
export function makeTar(entries: readonly TarEntry[], end: Buffer = Buffer.alloc(1_024)): Buffer {
  return Buffer.concat([...entries.flatMap(formatEntry), end]);
}

function formatEntry({ name, content = "", type = "0", link = "", size }: TarEntry): Buffer[] {
  const body = Buffer.from(content);
  const header = Buffer.alloc(512);
  header.write(name, 0, 100);
  header.write("0000600\0", 100);
  const declared = size ?? body.length;
  if (Number.isSafeInteger(declared) && declared >= 0 && declared < 0o77_777_777_777) {
    header.write(`${declared.toString(8).padStart(11, "0")}\0`, 124);
  } else header.fill(0xff, 124, 136);
  header.write("00000000000\0", 136);
  header.fill(" ", 148, 156);
  header.write(type, 156);
  header.write(link, 157, 100);
  header.write("ustar\x0000", 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return [header, body, Buffer.alloc((512 - (body.length % 512)) % 512)];
}
