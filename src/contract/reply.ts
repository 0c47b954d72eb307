import * as z from "zod";
import { lazily } from "./lazily.ts";
import { isJsonObject } from "./json-text.ts";

/** A response format: how an output is wrapped on the wire, and unwrapped. */
export interface ReplyForm {
  /** `bytes`: the response is the `bytes` of the output, with its `content_type`, instead of JSON. */
  readonly media?: "bytes";
  readonly encode: (value: Fields) => Fields | readonly unknown[];
  readonly decode: (body: Fields) => Fields;
  /** Derives the schema of the body from the schema of the output. Used only for documentation. */
  readonly describe: (value: z.ZodType) => z.ZodType;
}

type Fields = Record<string, unknown>;

const success = { code: 200, message: "OK" } as const;
const successFields = lazily(() => ({ code: z.literal(success.code), message: z.literal(success.message) }));

/** `{code,message}` of a successful response. */
export const successStatus = lazily(() => z.object(successFields()));

function fieldsOf(value: z.ZodType): Readonly<Record<string, z.ZodType>> {
  if (value instanceof z.ZodObject) return value.shape;
  throw new Error("this response format requires an object");
}

/** `{code,message,response:{…value}}` */
export const flatResponse: ReplyForm = {
  encode: (value) => ({ ...success, response: value }),
  decode: (body) => (isJsonObject(body["response"]) ? body["response"] : {}),
  describe: (value) => z.object({ ...successFields(), response: value }),
};

/** `{status:{code,message},…value}` */
export const statusWith: ReplyForm = {
  encode: (value) => ({ status: success, ...value }),
  decode: ({ status: _status, ...value }) => value,
  describe: (value) => z.object({ status: successStatus(), ...fieldsOf(value) }),
};

/** `{status:{code,message},response:{…value}}` */
export const enveloped: ReplyForm = {
  encode: (value) => ({ status: success, response: value }),
  decode: (body) => (isJsonObject(body["response"]) ? body["response"] : {}),
  describe: (value) => z.object({ status: successStatus(), response: value }),
};

/** Like `form`, but omits some fields from each element of the list `name`. They are for pages, not for JSON responses. */
export function withoutInside(form: ReplyForm, name: string, fields: readonly string[]): ReplyForm {
  const omit = (element: unknown) =>
    isJsonObject(element)
      ? Object.fromEntries(Object.entries(element).filter(([field]) => !fields.includes(field)))
      : element;
  return {
    ...form,
    encode: (value) => form.encode({ ...value, [name]: Object.values(value[name] ?? []).map(omit) }),
    describe: (value) => {
      const elements = fieldsOf(value)[name];
      if (!(elements instanceof z.ZodArray) || !(elements.element instanceof z.ZodObject)) {
        throw new Error(`this response format requires ${name} to be a list of objects`);
      }
      const { shape } = elements.element;
      const remaining = z.object(
        Object.fromEntries(Object.entries(shape).filter(([field]) => !fields.includes(field))),
      );
      return form.describe(z.object({ ...fieldsOf(value), [name]: z.array(remaining) }));
    },
  };
}

/** `{code,message,…value}` */
export const flat: ReplyForm = {
  encode: (value) => ({ ...success, ...value }),
  decode: ({ code: _code, message: _message, ...value }) => value,
  describe: (value) => z.object({ ...successFields(), ...fieldsOf(value) }),
};

/** `{code:"200",message}`: the only flat response whose code is a string. */
export const flatTextCode: ReplyForm = {
  encode: (value) => ({ code: "200", message: success.message, ...value }),
  decode: flat.decode,
  describe: (value) => z.object({ ...successFields(), code: z.literal("200"), ...fieldsOf(value) }),
};

/** `{status:{code,message}}` */
export const statusOnly: ReplyForm = {
  encode: () => ({ status: success }),
  decode: () => ({}),
  describe: () => z.object({ status: successStatus() }),
};

/** `{status,response:{[inside]},…others}`; `response` is omitted if the output has no field `inside`. */
export function envelopedWhenPresent(inside: string): ReplyForm {
  return {
    encode: ({ [inside]: value, ...others }) => ({
      status: success,
      ...(value === undefined ? {} : { response: { [inside]: value } }),
      ...others,
    }),
    decode: ({ status: _status, response, ...others }) => ({
      ...(isJsonObject(response) ? response : {}),
      ...others,
    }),
    describe: (output) => {
      const { [inside]: value = z.unknown(), ...others } = fieldsOf(output);
      return z.object({
        status: successStatus(),
        response: z.object({ [inside]: z.nonoptional(value) }).optional(),
        ...others,
      });
    },
  };
}

/** The output itself. */
export const bare: ReplyForm = {
  encode: (value) => value,
  decode: (body) => body,
  describe: (value) => value,
};

/** The list in the output's field `name`, without a wrapper. */
export function list(name: string): ReplyForm {
  return {
    encode: ({ [name]: elements }) => (Array.isArray(elements) ? (elements as readonly unknown[]) : []),
    decode: (body) => ({ [name]: Object.values(body) }),
    describe: (value) => fieldsOf(value)[name] ?? z.unknown(),
  };
}

/** The bytes of `{content_type, bytes}`. */
export const bytes: ReplyForm = { ...bare, media: "bytes" };

export type BytesOutput = z.output<z.ZodObject<ReturnType<typeof bytesOutput>>>;

/** The output of an operation whose reply is `bytes`. */
export const bytesOutput = lazily(() => ({
  content_type: z.string(),
  bytes: z.custom<Uint8Array>((value) => value instanceof Uint8Array),
}));
