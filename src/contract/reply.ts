/** How a value is wrapped on the wire, and taken out again. */
export interface ReplyForm {
  /** `bytes`: the value's own `base64`, under its own `content_type`, and not JSON. */
  readonly media?: "bytes";
  readonly encode: (value: Fields) => Fields | readonly unknown[];
  readonly decode: (body: Fields) => Fields;
}

type Fields = Record<string, unknown>;

const success = { code: 200, message: "OK" } as const;

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** `{code,message,response:{…value}}` */
export const flatResponse: ReplyForm = {
  encode: (value) => ({ ...success, response: value }),
  decode: (body) => (isFields(body["response"]) ? body["response"] : {}),
};

/** `{status:{code,message},…value}` */
export const statusWith: ReplyForm = {
  encode: (value) => ({ status: success, ...value }),
  decode: ({ status: _status, ...value }) => value,
};

/** `{status:{code,message},response:{…value}}` */
export const enveloped: ReplyForm = {
  encode: (value) => ({ status: success, response: value }),
  decode: (body) => (isFields(body["response"]) ? body["response"] : {}),
};

/** `{code,message,…value}` */
export const flat: ReplyForm = {
  encode: (value) => ({ ...success, ...value }),
  decode: ({ code: _code, message: _message, ...value }) => value,
};

/** `{code:"200",message}`: the one flat reply whose code is a string on the wire. */
export const flatTextCode: ReplyForm = {
  encode: (value) => ({ code: "200", message: success.message, ...value }),
  decode: flat.decode,
};

/** `{status:{code,message}}` */
export const statusOnly: ReplyForm = {
  encode: () => ({ status: success }),
  decode: () => ({}),
};

/** `{status,response:{[inside]}}`, `{status}` alone, or `{status,…others}`, by what the value holds. */
export function envelopedWhenPresent(inside: string): ReplyForm {
  return {
    encode: ({ [inside]: held, ...beside }) => ({
      status: success,
      ...(held === undefined ? {} : { response: { [inside]: held } }),
      ...beside,
    }),
    decode: ({ status: _status, response, ...beside }) => ({
      ...(isFields(response) ? response : {}),
      ...beside,
    }),
  };
}

/** The value itself. */
export const bare: ReplyForm = { encode: (value) => value, decode: (body) => body };

/** The list that the value holds under `name`, and nothing around it. */
export function list(name: string): ReplyForm {
  return {
    encode: ({ [name]: held }) => (Array.isArray(held) ? (held as readonly unknown[]) : []),
    decode: (body) => ({ [name]: Object.values(body) }),
  };
}

/** `{content_type, base64}` as the bytes themselves. */
export const bytes: ReplyForm = { ...bare, media: "bytes" };
