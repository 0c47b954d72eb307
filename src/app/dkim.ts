import { createPrivateKey, generateKeyPair } from "node:crypto";
import { Resolver } from "node:dns/promises";
import { promisify } from "node:util";
import type { DkimCheck, DkimKey, HostContext } from "./ports.ts";
import { dkimFileOf, readDkimKey, writeDkimKey } from "../config/dkim-key.ts";
import { findEmailSettings } from "../config/email-settings.ts";
import { type Environment, readVariable } from "../config/environment.ts";
import { readSealingKey } from "../config/sealing-key.ts";
import { failedError, invalidValue, usageError } from "../config/user-error.ts";
import { toAsciiDomain } from "../contract/email-address.ts";
import { createDkimRecord, findPublication, type PublicDkimKey } from "../email/dkim-record.ts";
import type { DkimSigner } from "../email/transports/transport.ts";
import { createSealer, type Sealer } from "../engine/kernel/sealer.ts";

/** Verifiers must support this length. Source: RFC 8301 3.2. */
const keyBits = 2_048;

const defaultSelector = "starpost";

/** The default resolver of Node waits for more than 20 seconds. */
const dnsLimits = { timeout: 2_000, tries: 2 } as const;

/**
 * Creates the key for the domain of the sender, and replaces an existing one. With the default selector, the record of the
 * replaced key remains valid for emails that were signed with it.
 * @throws UserError
 */
export async function createDkimKey(host: HostContext, selector?: string): Promise<DkimKey> {
  const { paths } = host;
  const domain = await findSenderDomain(host);
  if (domain === undefined)
    throw usageError("no sender is configured", "Run `starpost mail configure --from <sender>`.");
  const sealer = await openSealer(host);
  const replaced = await readDkimKey(paths).catch(() => undefined);
  const { publicKey, privateKey } = await promisify(generateKeyPair)("rsa", {
    modulusLength: keyBits,
    publicKeyEncoding: { type: "spki", format: "der" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });
  const key = {
    domain,
    selector: selector ?? nextSelector(replaced?.domain === domain ? replaced.selector : undefined),
    publicKey: publicKey.toString("base64"),
  };
  await writeDkimKey(paths, { ...key, privateKeySealed: sealer.seal(privateKey) });
  return describe(key);
}

/** `starpost`, or the next number after that of the replaced key: `starpost2`. */
function nextSelector(replaced: string | undefined): string {
  const [, number] = new RegExp(`^${defaultSelector}(\\d{0,9})$`).exec(replaced ?? "") ?? [];
  return number === undefined ? defaultSelector : `${defaultSelector}${Number(number || 1) + 1}`;
}

function describe({ domain, selector, publicKey }: PublicDkimKey): DkimKey {
  return { domain, selector, ...createDkimRecord({ domain, selector, publicKey }) };
}

/** @throws UserError if the settings of emails are not valid */
async function findSenderDomain({ env, paths }: HostContext): Promise<string | undefined> {
  const { from } = await findEmailSettings(env, paths);
  return from ? toAsciiDomain(from.address.slice(from.address.lastIndexOf("@") + 1)) : undefined;
}

/** @throws UserError if there is no sealing key */
async function openSealer({ env, paths }: HostContext): Promise<Sealer> {
  const keys = await readSealingKey(env, paths.keyFile);
  if (keys) return createSealer(keys);
  throw failedError(
    `the DKIM key is encrypted with the sealing key, but ${paths.keyFile} does not exist`,
    "Run `starpost init`, or set STARPOST_KEY.",
  );
}

/**
 * Compares the key with DNS. Returns undefined if there is no key.
 * @throws UserError
 */
export async function checkDkim(host: HostContext): Promise<DkimCheck | undefined> {
  const key = await readDkimKey(host.paths);
  if (!key) return undefined;
  const described = describe(key);
  const sender = await findSenderDomain(host);
  if (sender !== key.domain) {
    const problem = `emails are not signed, because the key is for ${key.domain}, and the sender is ${sender === undefined ? "not configured" : `at ${sender}`}`;
    return { ...described, state: "unused", problem };
  }
  const found = await findPublication(key, openResolver(host.env));
  const problems = {
    published: null,
    missing: `DNS has no TXT record ${described.name}`,
    different: `the TXT record ${described.name} is not that of the key`,
    unreachable: `cannot look up ${described.name}: ${"reason" in found ? found.reason : ""}`,
  } as const;
  return { ...described, state: found.state, problem: problems[found.state] };
}

function openResolver(env: Environment): Resolver {
  const resolver = new Resolver(dnsLimits);
  const server = readVariable(env, "STARPOST_DNS_SERVER");
  if (server === undefined) return resolver;
  try {
    resolver.setServers([server]);
    return resolver;
  } catch {
    throw invalidValue(server, "STARPOST_DNS_SERVER", "an IP address, optionally with a port");
  }
}

/**
 * Opens the key with which emails are signed, if there is one.
 * @throws UserError if it cannot be decrypted
 */
export async function openDkimSigner(host: HostContext): Promise<DkimSigner | undefined> {
  const key = await readDkimKey(host.paths);
  if (!key) return undefined;
  const { domain, selector, privateKeySealed } = key;
  const sealer = await openSealer(host);
  try {
    return { domain, selector, privateKey: createPrivateKey(sealer.open(privateKeySealed)) };
  } catch (error) {
    throw failedError(
      `the DKIM key in ${dkimFileOf(host.paths)} cannot be decrypted`,
      "Restore the sealing key from a backup, or run `starpost mail dkim create` for a new DKIM key.",
      error,
    );
  }
}

/** Whether the key is sealed with an old sealing key. One that no key opens does not need the old ones. */
export async function isDkimKeyOutdated(host: HostContext): Promise<boolean> {
  const found = await findOutdated(host);
  return found?.privateKey !== undefined;
}

/** Seals the key with the current sealing key. @returns how many keys were sealed again, and how many cannot be opened */
export async function resealDkimKey(host: HostContext): Promise<Record<"resealed" | "unreadable", number>> {
  const found = await findOutdated(host);
  if (!found) return { resealed: 0, unreadable: 0 };
  const { key, sealer, privateKey } = found;
  if (privateKey === undefined) return { resealed: 0, unreadable: 1 };
  await writeDkimKey(host.paths, { ...key, privateKeySealed: sealer.seal(privateKey) });
  return { resealed: 1, unreadable: 0 };
}

/** The key, if it is not sealed with the current sealing key. `privateKey` is undefined if no sealing key opens it. */
async function findOutdated(host: HostContext) {
  const key = await readDkimKey(host.paths);
  if (!key) return undefined;
  const sealer = await openSealer(host);
  if (key.privateKeySealed.startsWith(sealer.prefix())) return undefined;
  try {
    return { key, sealer, privateKey: sealer.open(key.privateKeySealed) };
  } catch {
    return { key, sealer, privateKey: undefined };
  }
}
