import { randomBytes } from "node:crypto";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { PassThrough } from "node:stream";
import { Encrypter, generateHybridIdentity, generateX25519Identity, identityToRecipient } from "age-encryption";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ArchiveError, extractFile, isEncrypted, readArchiveText, writeArchive } from "../../../src/backup/archive.ts";
import { checkRecipients, type Identity, readIdentity } from "../../../src/backup/encryption.ts";

const folder = mkdtempSync(join(tmpdir(), "starpost-encryption-"));
afterAll(() => rmSync(folder, { recursive: true }));

const data = randomBytes(300_000);
const names = { text: "about.json", file: "data.bin", bytes: data.length };
let own: Identity;
let other: Identity;
let recipients: string[];
let path: string;

beforeAll(async () => {
  own = { file: "own.txt", keys: [await generateX25519Identity()] };
  other = { file: "other.txt", keys: [await generateX25519Identity(), await generateHybridIdentity()] };
  recipients = await Promise.all([own.keys[0], other.keys[1]].map((key) => identityToRecipient(key ?? "")));
  const source = join(folder, "source");
  writeFileSync(source, data);
  path = join(folder, "archive.tar.gz.age");
  await writeArchive(path, {
    text: { name: names.text, content: "{}" },
    file: { name: names.file, path: source, bytes: data.length },
    modifiedMs: 0,
    isCompressed: false,
    recipients,
  });
});

async function read(file: string, identity?: Identity): Promise<Buffer> {
  const output = new PassThrough();
  const [content] = await Promise.all([buffer(output), extractFile(file, names, output, identity)]);
  return content;
}

describe("an encrypted archive", () => {
  test("is read with the secret key of each recipient", async () => {
    expect(readFileSync(path, "latin1")).toMatch(/^age-encryption\.org\/v1\n-> X25519 /);
    expect(await isEncrypted(path)).toBe(true);
    for (const identity of [own, other]) {
      expect(await readArchiveText(path, names.text, identity)).toBe("{}");
      expect((await read(path, identity)).equals(data)).toBe(true);
    }
  });

  test("is not read without it", async () => {
    await expect(readArchiveText(path, names.text)).rejects.toMatchObject({
      kind: "usage",
      hint: expect.stringContaining("--identity"),
    });
    const stranger = { file: "stranger.txt", keys: [await generateX25519Identity()] };
    const refusal = { kind: "failed", message: expect.stringContaining("stranger.txt") };
    await expect(readArchiveText(path, names.text, stranger)).rejects.toMatchObject(refusal);
    await expect(read(path, stranger)).rejects.toMatchObject(refusal);
  });

  const flip = (at: number) => (bytes: Buffer) => {
    const place = at < 0 ? bytes.length + at : at;
    bytes.writeUInt8(bytes.readUInt8(place) ^ 1, place);
    return bytes;
  };
  const cut = (length: number) => (bytes: Buffer) => bytes.subarray(0, length < 0 ? bytes.length + length : length);
  test.each<[string, (bytes: Buffer) => Buffer]>([
    ["cut in its header", cut(100)],
    ["cut after its header", cut(2_200)],
    ["cut after a chunk", (bytes) => bytes.subarray(0, bytes.indexOf("\n--- ") + 49 + 16 + 65_552)],
    ["cut in the middle", cut(150_000)],
    ["without its last byte", cut(-1)],
    ["with a changed header", (bytes) => flip(bytes.indexOf("\n--- ") + 10)(bytes)],
    ["with a changed chunk", flip(150_000)],
    ["with a changed end", flip(-1)],
    ["with bytes after its end", (bytes) => Buffer.concat([bytes, Buffer.from("more")])],
  ])("%s is damaged", async (_, edit) => {
    const damaged = join(folder, "damaged.age");
    writeFileSync(damaged, edit(readFileSync(path)));
    await expect(read(damaged, own)).rejects.toThrow(ArchiveError);
    await expect(read(damaged, own)).rejects.toThrow("damaged or incomplete");
  });

  test.each([
    ["a line", "x".repeat(64_000_000)],
    ["a stanza", `-> X25519 ${"a ".repeat(30_000_000)}`],
    ["stanzas", `-> X25519 YQ\n${"b".repeat(64)}\nYQ\n`.repeat(600_000)],
  ])("with %s of 64 MB in its header is damaged, and not read into memory", async (_, content) => {
    const file = join(folder, "hostile.age");
    writeFileSync(file, `age-encryption.org/v1\n${content}`);
    const before = process.memoryUsage().arrayBuffers;
    await expect(read(file, own)).rejects.toThrow(ArchiveError);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(40_000_000);
  });

  test("of anything else is not a backup", async () => {
    const encrypter = new Encrypter();
    encrypter.addRecipient(recipients[0] ?? "");
    const file = join(folder, "text.age");
    writeFileSync(file, await encrypter.encrypt("a text"));
    await expect(read(file, own)).rejects.toThrow(ArchiveError);
  });
});

describe("an identity file", () => {
  const write = (content: string | Uint8Array, mode = 0o600) => {
    const file = join(folder, `identity-${mode.toString(8)}.txt`);
    writeFileSync(file, content);
    chmodSync(file, mode);
    return file;
  };

  test("contains comments and secret keys", async () => {
    const file = write(`# created: today\n# public key: ${recipients[0]}\n${own.keys[0]}\r\n\n${other.keys[1]}\n`);
    expect(await readIdentity(file)).toEqual({ file, keys: [own.keys[0], other.keys[1]] });
  });

  test.skipIf(process.platform === "win32")("that others can read is refused, with its mode", async () => {
    for (const mode of [0o640, 0o604]) {
      await expect(readIdentity(write(own.keys[0] ?? "", mode))).rejects.toMatchObject({
        kind: "failed",
        message: expect.stringContaining(`0${mode.toString(8)}`),
        hint: expect.stringContaining("chmod 600"),
      });
    }
  });

  test("with a passphrase is refused", async () => {
    const encrypter = new Encrypter();
    encrypter.setPassphrase("secret");
    encrypter.setScryptWorkFactor(2);
    for (const content of [await encrypter.encrypt(own.keys[0] ?? ""), "-----BEGIN AGE ENCRYPTED FILE-----\n"]) {
      const refused = { kind: "failed", message: expect.stringContaining("passphrase") };
      await expect(readIdentity(write(content))).rejects.toMatchObject(refused);
    }
  });

  test.each([
    "",
    "# only a comment\n",
    "AGE-PLUGIN-YUBIKEY-1",
    "-----BEGIN OPENSSH PRIVATE KEY-----",
    "AGE-SECRET-KEY-1X",
  ])("that contains %j is refused, without its content", async (content) => {
    const error = await readIdentity(write(content)).catch((caught: Error) => caught);
    expect(error).toMatchObject({
      kind: "failed",
      message: expect.stringMatching(/identity-600\.txt is not an identity/),
    });
  });
});

describe("a recipient", () => {
  test("is a public key", async () => {
    await checkRecipients(recipients);
    const [first = ""] = recipients;
    for (const recipient of ["age1", `${first}x`, first.slice(0, -1), "ssh-ed25519 AAAA", "age1tag1qqq", "ann"]) {
      const refused = { kind: "usage", message: expect.stringContaining("--recipient") };
      await expect(checkRecipients([first, recipient])).rejects.toMatchObject(refused);
    }
  });

  test("that is a secret key is not repeated", async () => {
    const [key = ""] = own.keys;
    for (const recipient of [key, key.toLowerCase()]) {
      const error = (await checkRecipients([recipient]).catch((caught: Error) => caught)) as Error;
      expect([error.name, error.message]).toEqual(["UserError", expect.not.stringContaining(recipient.slice(15))]);
    }
  });
});
