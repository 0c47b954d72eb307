import { isUtf8 } from "node:buffer";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { bodyLimits, findJsonProblem, ServiceError } from "../contract/index.ts";
import type { BodyReader } from "./body-reader.ts";

/**
 * Accepts only JSON bodies. An empty body counts as none. A body that would change the prototype of an object, or that is
 * not UTF-8, is malformed.
 */
export function acceptJson(app: FastifyInstance, reader: BodyReader): void {
  const parseJson = app.getDefaultJsonParser("error", "error");
  acceptOnly(app, reader, "application/json", (request, bytes, done) => {
    const refusal = findFault(bytes);
    if (refusal) {
      done(refusal);
      return;
    }
    const text = bytes.toString("utf8");
    if (text.trim() === "") done(null);
    else void parseJson(request, text, (error, parsed) => done(error && toMalformedBody(text), parsed));
  });
}

type Parse = (request: FastifyRequest, bytes: Buffer, done: (error: Error | null, body?: unknown) => void) => void;

/** Accepts only bodies of a type. `limit` is their maximum size in bytes, if not that of the route. */
function acceptOnly(app: FastifyInstance, reader: BodyReader, type: string, parse: Parse, limit?: number): void {
  app.removeAllContentTypeParsers();
  accept(app, reader, type, parse, limit);
}

function accept(app: FastifyInstance, reader: BodyReader, type: string, parse: Parse, limit?: number): void {
  app.addContentTypeParser(type, (request, payload, done) => {
    const allowed = Math.min(limit ?? Infinity, request.routeOptions.bodyLimit);
    reader.read(request, payload, allowed, (error, bytes) => {
      if (error) done(error);
      else parse(request, bytes, done);
    });
  });
}

/** Checks what takes long to parse, or would be rounded, before parsing. */
function findFault(bytes: Buffer): ServiceError | undefined {
  if (!isUtf8(bytes)) return new ServiceError("malformedBody", "the body is not UTF-8 text");
  const found = findJsonProblem(bytes);
  if (!found) return undefined;
  const { problem, character, field } = found;
  return new ServiceError("malformedBody", `the body ${problem} (at character ${character})`, { field });
}

/** Locates the error without repeating any content. */
function toMalformedBody(text: string): ServiceError {
  try {
    JSON.parse(text);
    return new ServiceError(
      "malformedBody",
      "the body is JSON with a field that no object may have: __proto__, constructor.prototype",
    );
  } catch (error) {
    const position = /at position (\d+)/.exec((error as Error).message)?.[1];
    const where = position === undefined ? "its end" : `character ${Number(position) + 1}`;
    return new ServiceError("malformedBody", `the body is not JSON (at ${where})`);
  }
}

/** Accepts JSON bodies and passes them on as text, because the signature covers every byte. */
export function acceptSignedText(app: FastifyInstance, reader: BodyReader): void {
  acceptOnly(app, reader, "application/json", (_request, bytes, done) => {
    const refusal = findFault(bytes);
    if (refusal) done(refusal);
    else done(null, bytes.toString("utf8"));
  });
}

export function acceptForms(app: FastifyInstance, reader: BodyReader): void {
  accept(app, reader, formType, parseForm, bodyLimits.form);
}

/** Accepts only form-encoded bodies, as sent by the HTML pages. */
export function acceptPageForms(app: FastifyInstance, reader: BodyReader): void {
  acceptOnly(app, reader, formType, parseForm, bodyLimits.pageForm);
}

const formType = "application/x-www-form-urlencoded";

/**
 * Parses the fields of a form, which must be UTF-8.
 * Source: WHATWG "URL Standard". Assumed: if a field is repeated, the last value counts.
 */
function parseForm(request: FastifyRequest, body: Buffer, done: (error: Error | null, fields?: unknown) => void): void {
  const charset = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(request.headers["content-type"] ?? "")?.[1] ?? "utf-8";
  if (!/^utf-?8$/i.test(charset)) {
    done(new ServiceError("unsupportedMediaType", "send the form in UTF-8"));
    return;
  }
  const text = body.toString("latin1");
  const bytes = text.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  if (isUtf8(Buffer.from(bytes, "latin1"))) done(null, Object.fromEntries(new URLSearchParams(body.toString())));
  else done(new ServiceError("malformedBody", "the body is not UTF-8 text"));
}

/** Accepts and ignores any body up to a size limit. */
export function acceptAnything(app: FastifyInstance, reader: BodyReader): void {
  acceptOnly(app, reader, "*", (_request, _bytes, done) => done(null), bodyLimits.ignored);
}
