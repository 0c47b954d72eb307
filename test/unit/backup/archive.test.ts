import { execFileSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import fs, { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterAll, describe, expect, test, vi } from "vitest";
import { ArchiveError, extractFile, hashFile, readArchiveText, writeArchive } from "../../../src/backup/archive.ts";
import { makeTar, type TarEntry } from "../../support/tar.ts";

const folder = mkdtempSync(join(tmpdir(), "starpost-archive-"));
afterAll(() => rmSync(folder, { recursive: true }));

const names = { text: "about.json", file: "data.bin", bytes: 1_000_000_000 };
let made = 0;

async function write(data: Buffer, { text = "{}", isCompressed = false } = {}) {
  const [source, target] = [join(folder, `source-${(made += 1)}`), join(folder, `archive-${made}.tar.gz`)];
  writeFileSync(source, data);
  await writeArchive(target, {
    text: { name: names.text, content: text },
    file: { name: names.file, path: source, bytes: data.length },
    modifiedMs: Date.UTC(2026, 2, 15),
    isCompressed,
  });
  return target;
}

async function read(path: string): Promise<{ data: Buffer; sha256: string; bytes: number }> {
  const chunks: Buffer[] = [];
  const output = new Writable({
    highWaterMark: 1,
    write: (chunk: Buffer, _encoding, done) => {
      chunks.push(chunk);
      setImmediate(done);
    },
  });
  const found = await extractFile(path, names, output);
  return { ...found, data: Buffer.concat(chunks) };
}

const sha256 = (data: Buffer) => createHash("sha256").update(data).digest("hex");

test.each([0, 1, 511, 512, 513, 300_000])("%i bytes are read as they were written", async (bytes) => {
  const data = randomBytes(bytes);
  const path = await write(data, { text: "é".repeat(300) });
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(await readArchiveText(path, names.text)).toBe("é".repeat(300));
  expect(await read(path)).toEqual({ data, bytes, sha256: sha256(data) });
  expect(await hashFile({ path })).toBe(sha256(readFileSync(path)));
});

test("an archive is on the disk once it is written", async () => {
  const flush = vi.spyOn(fs, "fsync");
  await write(randomBytes(10));
  expect(flush).toHaveBeenCalledOnce();
});

test("tar reads the archive", async () => {
  const data = randomBytes(70_000);
  const path = await write(data, { text: '{"a":1}' });
  const list = execFileSync("tar", ["tvzf", path], { encoding: "utf8", env: { ...process.env, TZ: "UTC" } });
  expect(list.trim().split("\n")).toEqual([
    expect.stringMatching(/^-rw------- .* 7 2026-03-15 00:00 about\.json$/),
    expect.stringMatching(/^-rw------- .* 70000 2026-03-15 00:00 data\.bin$/),
  ]);
  expect(execFileSync("tar", ["xOzf", path, names.file])).toEqual(data);
});

test("compresses unless the file is compressed already", async () => {
  const data = Buffer.alloc(100_000, "starpost ");
  expect(statSync(await write(data)).size).toBeLessThan(5_000);
  expect(statSync(await write(data, { isCompressed: true })).size).toBeGreaterThan(100_000);
});

test("never replaces a file", async () => {
  const path = await write(Buffer.from("first"));
  const again = writeArchive(path, {
    text: { name: names.text, content: "{}" },
    file: { name: names.file, path, bytes: 1 },
    modifiedMs: 0,
    isCompressed: false,
  });
  await expect(again).rejects.toMatchObject({ code: "EEXIST" });
});

test("the size of a file above 8 GiB is binary", async () => {
  const path = await write(Buffer.from("data"));
  const tar = gunzipSync(readFileSync(path));
  const header = Buffer.from(tar.subarray(1_024, 1_536));
  header.fill(0, 124, 136);
  header.writeUInt8(0x80, 124);
  header.writeBigUInt64BE(9_000_000_000n, 128);
  header.fill(" ", 148, 156);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  header.copy(tar, 1_024);
  const large = join(folder, "large.tar");
  writeFileSync(large, tar);
  // tar lists the header before it finds that the file is incomplete.
  const list = execFileSync("sh", ["-c", `tar tvf ${large} 2>/dev/null || true`], { encoding: "utf8" });
  expect(list).toContain(" 9000000000 ");
  writeFileSync(large, gzipSync(tar));
  await expect(read(large)).rejects.toThrow(ArchiveError);
});

describe("damaged archives", () => {
  const change = async (edit: (bytes: Buffer) => Buffer) => {
    const path = await write(randomBytes(20_000));
    writeFileSync(path, edit(readFileSync(path)));
    return path;
  };
  const onTar = (edit: (tar: Buffer) => Buffer) => (bytes: Buffer) => gzipSync(edit(gunzipSync(bytes)));
  const flip = (at: number) => (bytes: Buffer) => {
    bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
    return bytes;
  };

  test.each<[string, (bytes: Buffer) => Buffer]>([
    ["empty", () => Buffer.alloc(0)],
    ["not compressed", () => Buffer.from("not an archive")],
    ["without its end", (bytes) => bytes.subarray(0, -10)],
    ["without its second half", (bytes) => bytes.subarray(0, bytes.length / 2)],
    ["a changed byte of the checksum", (bytes) => flip(bytes.length - 6)(bytes)],
    ["a changed name", onTar(flip(0))],
    ["a changed size", onTar(flip(1_024 + 130))],
    ["a tar that ends in the file", onTar((tar) => tar.subarray(0, 5_000))],
  ])("%s", async (_, edit) => {
    await expect(read(await change(edit))).rejects.toThrow(ArchiveError);
  });

  test("a file that is larger than declared, before all of it is written", async () => {
    const path = await write(Buffer.alloc(20_000_000));
    let written = 0;
    const output = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        written += chunk.length;
        done();
      },
    });
    await expect(extractFile(path, { ...names, bytes: 1_000_000 }, output)).rejects.toThrow(
      "is larger than 1000000 bytes",
    );
    expect(written).toBeLessThanOrEqual(1_000_000);
  });

  const text = { name: names.text, content: "{}" };
  const data = { name: names.file, content: "data" };
  const zeros = Buffer.alloc(64_000_000);
  test.each<[string, TarEntry[], Buffer?]>([
    ["a symbolic link instead of the file", [text, { ...data, content: "", type: "2", link: "/etc/passwd" }]],
    ["a hard link instead of the file", [text, { ...data, content: "", type: "1", link: "../../secret" }]],
    ["a device instead of the file", [text, { ...data, content: "", type: "3" }]],
    ["a folder instead of the text", [{ ...text, content: "", type: "5" }, data]],
    ["an absolute path", [text, { ...data, name: "/tmp/data.bin" }]],
    ["a path to a folder above", [text, { ...data, name: "../data.bin" }]],
    ["the file twice", [text, data, data]],
    ["a link after the file", [text, data, { name: "x", type: "2", link: "/etc/passwd" }]],
    ["an extended header of 64 MB", [{ name: "x", type: "x", content: zeros }, text, data]],
    ["a long name of 64 MB", [{ name: "x", type: "L", content: zeros }, text, data]],
    ["an extended header that declares no size", [text, { name: "x", type: "x", content: "14 size=abcd\n\n" }, data]],
    [
      "an extended header that declares a negative size",
      [text, { name: "x", type: "x", content: "11 size=-1\n" }, data],
    ],
    ["a negative size", [text, { ...data, size: -1 }]],
    ["a text of 64 MB", [{ ...text, content: zeros }, data]],
    ["64 MB of zeros at the end", [text, data], zeros],
  ])("%s", async (_, entries, end) => {
    const path = join(folder, `hostile-${(made += 1)}.tar.gz`);
    writeFileSync(path, gzipSync(makeTar(entries, end), { level: 1 }));
    const before = process.memoryUsage().arrayBuffers;
    await expect(read(path)).rejects.toThrow(ArchiveError);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(40_000_000);
    await readArchiveText(path, names.text).catch((error: unknown) => expect(error).toBeInstanceOf(ArchiveError));
  });

  test("another archive", async () => {
    const path = await write(Buffer.from("data"));
    await expect(readArchiveText(path, "manifest.json")).rejects.toThrow(ArchiveError);
    await expect(extractFile(path, { ...names, file: "other" }, new Writable())).rejects.toThrow(ArchiveError);
  });

  test("a missing file", async () => {
    await expect(readArchiveText(join(folder, "none"), names.text)).rejects.toMatchObject({ code: "ENOENT" });
  });
});
