import { isUtf8 } from "node:buffer";
import type { FastifyInstance } from "fastify";
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

/** Takes form-encoded bodies as well. */
export function acceptForms(app: FastifyInstance): void {
  app.addContentTypeParser(
    "application/x-www-form-urlencoded",
    { parseAs: "string" },
    (_request, body, done) => {
      done(null, Object.fromEntries(new URLSearchParams(body as string)));
    },
  );
}

/** Takes any body, and reads nothing from it; a large one is refused all the same. */
export function acceptAnything(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", { parseAs: "buffer", bodyLimit: 64 * 1_024 }, (_request, _body, done) =>
    done(null),
  );
}
