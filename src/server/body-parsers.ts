import { isUtf8 } from "node:buffer";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { ServiceError } from "../contract/index.ts";

/**
 * Takes JSON bodies and no others. An empty body is as good as none; a body that would change an object's prototype,
 * or is not UTF-8, is malformed: read on, it would be taken for other data than was sent.
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
    else void parseJson(request, text, (error, parsed) => done(error && asMalformed(text), parsed));
  });
}

/** Says where a body goes wrong, and nothing of what was sent. */
function asMalformed(text: string): ServiceError {
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

/** Takes JSON bodies, and gives them as the text that was sent: what is signed is every byte of it. */
export function acceptSignedText(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (_request, body, done) => {
    if (isUtf8(body as Buffer)) done(null, body.toString("utf8"));
    else done(new ServiceError("malformedBody", "the body is not UTF-8 text"));
  });
}

/** Takes form-encoded bodies as well. */
export function acceptForms(app: FastifyInstance): void {
  app.addContentTypeParser(formType, { parseAs: "buffer" }, parseForm);
}

/** Largest form of a page: its longest texts, each character written as `%..` three or four times. */
const pageFormBytes = 256 * 1_024;

/** Takes form-encoded bodies alone, as the forms of our own pages send them. */
export function acceptPageForms(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(formType, { parseAs: "buffer", bodyLimit: pageFormBytes }, parseForm);
}

const formType = "application/x-www-form-urlencoded";

/**
 * Reads the fields of a form, which are UTF-8 as everything else is: bytes of another encoding would be taken for other
 * text than was written. Source: WHATWG "URL Standard". Assumed: of a field that is repeated, the last counts.
 */
function parseForm(
  request: FastifyRequest,
  body: string | Buffer,
  done: (error: Error | null, fields?: unknown) => void,
): void {
  const charset =
    /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(request.headers["content-type"] ?? "")?.[1] ?? "utf-8";
  if (!/^utf-?8$/i.test(charset)) {
    done(new ServiceError("unsupportedMediaType", "send the form in UTF-8"));
    return;
  }
  const text = body.toString("latin1");
  const bytes = text.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(parseInt(hex, 16)),
  );
  if (isUtf8(Buffer.from(bytes, "latin1")))
    done(null, Object.fromEntries(new URLSearchParams(body.toString())));
  else done(new ServiceError("malformedBody", "the body is not UTF-8 text"));
}

/** Takes any body, and reads nothing from it; a large one is refused all the same. */
export function acceptAnything(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", { parseAs: "buffer", bodyLimit: 64 * 1_024 }, (_request, _body, done) =>
    done(null),
  );
}
