import { isUtf8 } from "node:buffer";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { ServiceError } from "../contract/index.ts";

/**
 * Accepts only JSON bodies. An empty body counts as none. A body that would change the prototype of an object, or that is
 * not UTF-8, is malformed.
 */
export function acceptJson(app: FastifyInstance): void {
  const parseJson = app.getDefaultJsonParser("error", "error");
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (request, body, done) => {
    if (!isUtf8(body as Buffer)) {
      done(new ServiceError("malformedBody", "the body is not UTF-8 text"));
      return;
    }
    const text = body.toString("utf8");
    if (text.trim() === "") done(null);
    else void parseJson(request, text, (error, parsed) => done(error && toMalformedBody(text), parsed));
  });
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
export function acceptSignedText(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (_request, body, done) => {
    if (isUtf8(body as Buffer)) done(null, body.toString("utf8"));
    else done(new ServiceError("malformedBody", "the body is not UTF-8 text"));
  });
}

export function acceptForms(app: FastifyInstance): void {
  app.addContentTypeParser(formType, { parseAs: "buffer" }, parseForm);
}

/** Maximum size of a form: the longest texts, with each character encoded as three or four `%xx` sequences. */
const pageFormBytes = 256 * 1_024;

/** Accepts only form-encoded bodies, as sent by the HTML pages. */
export function acceptPageForms(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(formType, { parseAs: "buffer", bodyLimit: pageFormBytes }, parseForm);
}

const formType = "application/x-www-form-urlencoded";

/**
 * Parses the fields of a form, which must be UTF-8.
 * Source: WHATWG "URL Standard". Assumed: if a field is repeated, the last value counts.
 */
function parseForm(
  request: FastifyRequest,
  body: string | Buffer,
  done: (error: Error | null, fields?: unknown) => void,
): void {
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
export function acceptAnything(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", { parseAs: "buffer", bodyLimit: 64 * 1_024 }, (_request, _body, done) => done(null));
}
