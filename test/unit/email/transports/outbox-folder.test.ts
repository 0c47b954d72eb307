import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { composeMessage } from "../../../../src/email/transports/mime-message.ts";
import { openEmailTransport } from "../../../../src/email/transports/open-transport.ts";
import { anOutgoingEmail } from "../../../support/outgoing-email.ts";

const nowMs = Date.UTC(2026, 6, 28, 10, 15, 30, 7);
let parent: string;
let folder: string;

beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), "starpost-outbox-"));
  folder = join(parent, "deep", "outbox");
});
afterEach(() => rm(parent, { recursive: true, force: true }));

const open = () => openEmailTransport({ kind: "outbox", folder, from: null }, () => nowMs);
const aMessage = (key: string) => composeMessage(anOutgoingEmail({ key }), { from: null, nowMs });

it("contains one complete private file per email, named by time and key", async () => {
  const outbox = await open();
  expect(outbox.describe()).toContain(folder);
  const message = await aMessage("m-1");
  const path = join(folder, "20260728T101530.007Z-m-1.eml");
  expect(await outbox.send(message)).toEqual({ state: "accepted", answer: path });
  expect(await readFile(path)).toEqual(message.raw);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
  expect(await readdir(folder)).toHaveLength(1);
});

it("finds a written email by its key only", async () => {
  const outbox = await open();
  expect(await outbox.wasSent?.("m-1")).toBe(false);
  await outbox.send(await aMessage("x-m-1"));
  await outbox.send(await aMessage("m-10"));
  await writeFile(join(folder, ".m-1.0123456789ab"), "half of a mail");
  expect(await outbox.wasSent?.("m-1")).toBe(false);
  await outbox.send(await aMessage("m-1"));
  expect(await outbox.wasSent?.("m-1")).toBe(true);
});

it("is created by an email or a check", async () => {
  const outbox = await open();
  expect(await outbox.check()).toEqual({ ready: true });
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
});

it("that is not writable stops all emails with a hint", async () => {
  await writeFile(join(parent, "deep"), "a file where a folder is to be");
  const outbox = await open();
  const problem = expect.stringMatching(/outbox: E[A-Z]+/) as string;
  expect(await outbox.send(await aMessage("m-1"))).toEqual({ state: "unreachable", problem });
  expect(await outbox.check()).toEqual({ ready: false, problem });
});

it.skipIf(process.getuid?.() === 0)("leaves no partial file if it is not writable", async () => {
  const outbox = await open();
  await outbox.send(await aMessage("m-1"));
  await chmod(folder, 0o500);
  expect(await outbox.send(await aMessage("m-2"))).toMatchObject({ state: "unreachable" });
  await chmod(folder, 0o700);
  expect(await readdir(folder)).toHaveLength(1);
});
