import type { Connection, ConnectionSettings } from "./ports.ts";
import { encodeCall } from "../client/call-encoder.ts";
import { defaultPublicUrl, findPublicUrl } from "../config/public-url.ts";
import { UserError } from "../config/user-error.ts";
import { endpointOf, type OperationName } from "../contract/index.ts";
import { findOperation } from "../contract/find-operation.ts";
import { validateInput } from "../engine/kernel/validate.ts";
import { CallPreviewed, type Preview, replaceSecrets, secretVariable } from "../service/call-preview.ts";
import { type RawRequest, createSignedSender } from "../service/raw-call.ts";
import { createService } from "../service/service.ts";
import { type Transport, wrapTransport } from "../service/transport.ts";

/** Makes a call so that its changes are discarded. */
type Rehearse = (operation: OperationName, input: Readonly<Record<string, unknown>>) => Promise<void>;

const utoken = secretVariable("utoken");

interface PreviewSettings extends Pick<ConnectionSettings, "env" | "profile" | "by"> {
  readonly preview: Preview;
  readonly transport: Transport;
  readonly rehearse: Rehearse;
}

/** A connection that shows calls instead of making them; each ends with `CallPreviewed`. */
export function previewCalls(connection: Connection, settings: PreviewSettings): Connection {
  const { profile, env, by, preview, transport, rehearse } = settings;
  const { appKey } = connection;
  const isLocal = profile.mode === "local";
  const baseUrl = (isLocal ? (findPublicUrl(env) ?? defaultPublicUrl) : profile.baseUrl).replace(/(?<!\/)\/+$/, "");
  const previewing = wrapTransport(transport, async (operation, input, caller, options) => {
    const endpoint = endpointOf(operation);
    const isChange = endpoint.effect !== "read";
    if (!isChange && !preview.includesReads) return transport.call(operation, input, caller, options);
    validateInput(endpoint, input);
    const shown = replaceSecrets<Readonly<Record<string, unknown>>>(input, endpoint.secretFields);
    const encoded = encodeCall(endpoint, shown, { appKey, ...(endpoint.auth !== "open" && { utoken }), ...caller });
    preview.record({ operation, baseUrl, ...encoded, input: shown });
    if (preview.isRehearsed && isLocal && isChange) await rehearse(operation, input);
    throw new CallPreviewed();
  });
  const send = createSignedSender({
    send: async (request) => {
      preview.record({ baseUrl, ...describeRaw(request) });
      throw new CallPreviewed();
    },
    appKey,
    by,
    tokens: { token: async () => ({ utoken, expiresAtMs: undefined }), withToken: (call) => call(utoken) },
    createCoreToken: async () => utoken,
  });
  const service = createService(previewing, { appKey, by });
  // A rehearsal checks it. It is not shown: see `secretFields`.
  const readSecret = preview.isRehearsed && isLocal ? connection.readSecret : async () => secretVariable("secret");
  return { ...connection, service, send, readSecret };
}

/** @throws UserError `failed` if the body is not text */
function describeRaw({ method, target, headers, body }: RawRequest) {
  const text = body?.toString("utf8");
  if (text !== undefined && !Buffer.from(text).equals(body ?? Buffer.alloc(0))) {
    throw new UserError("failed", "a call with a binary body cannot be shown");
  }
  const found = findOperation(method, target.split("?", 1)[0] ?? "");
  const input = parse(text);
  const shown = replaceSecrets(input, found?.endpoint.secretFields);
  const hasSecrets = JSON.stringify(shown) !== JSON.stringify(input);
  const fields = shown ?? Object.fromEntries(new URLSearchParams(target.split("?")[1]));
  const shownBody = hasSecrets ? JSON.stringify(shown) : text;
  return { operation: found?.operation, method, target, headers, body: shownBody, input: fields };
}

function parse(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : (JSON.parse(text) as unknown);
  } catch {
    return text;
  }
}
