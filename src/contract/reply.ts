import * as z from "zod";
import { lazily } from "./lazily.ts";

/** How a value is wrapped on the wire, and taken out again. */
export interface ReplyForm {
  /** `bytes`: the value's own `base64`, under its own `content_type`, and not JSON. */
  readonly media?: "bytes";
  readonly encode: (value: Fields) => Fields | readonly unknown[];
  readonly decode: (body: Fields) => Fields;
  /** The shape of what `encode` makes, from the shape of the value. For descriptions: nothing is checked with it. */
  readonly describe: (value: z.ZodType) => z.ZodType;
}

type Fields = Record<string, unknown>;

const success = { code: 200, message: "OK" } as const;
const successFields = lazily(() => ({ code: z.literal(success.code), message: z.literal(success.message) }));

/** `{code,message}` of an answer that is no refusal. */
export const successStatus = lazily(() => z.object(successFields()));

/** The fields of a value's shape, for forms that put others beside them. */
function fieldsOf(value: z.ZodType): Readonly<Record<string, z.ZodType>> {
  if (value instanceof z.ZodObject) return value.shape;
  throw new Error("this form of answer holds the fields of an object");
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** `{code,message,response:{…value}}` */
export const flatResponse: ReplyForm = {
  encode: (value) => ({ ...success, response: value }),
  decode: (body) => (isFields(body["response"]) ? body["response"] : {}),
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
  decode: (body) => (isFields(body["response"]) ? body["response"] : {}),
  describe: (value) => z.object({ status: successStatus(), response: value }),
};

/** `form`, with some fields left out of each element of the list `name`: they are for pages, not for the wire's JSON. */
export function withoutInside(form: ReplyForm, name: string, fields: readonly string[]): ReplyForm {
  const omit = (element: unknown) =>
    isFields(element)
      ? Object.fromEntries(Object.entries(element).filter(([field]) => !fields.includes(field)))
      : element;
  return {
    ...form,
    encode: (value) => form.encode({ ...value, [name]: Object.values(value[name] ?? []).map(omit) }),
    describe: (value) => {
      const elements = fieldsOf(value)[name];
      if (!(elements instanceof z.ZodArray) || !(elements.element instanceof z.ZodObject)) {
        throw new Error(`this form of answer holds a list ${name} of objects`);
      }
      const { shape } = elements.element;
      const left = z.object(
        Object.fromEntries(Object.entries(shape).filter(([field]) => !fields.includes(field))),
      );
      return form.describe(z.object({ ...fieldsOf(value), [name]: z.array(left) }));
    },
  };
}

/** `{code,message,…value}` */
export const flat: ReplyForm = {
  encode: (value) => ({ ...success, ...value }),
  decode: ({ code: _code, message: _message, ...value }) => value,
  describe: (value) => z.object({ ...successFields(), ...fieldsOf(value) }),
};

/** `{code:"200",message}`: the one flat reply whose code is a string on the wire. */
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
    describe: (value) => {
      const { [inside]: held = z.unknown(), ...beside } = fieldsOf(value);
      return z.object({
        status: successStatus(),
        response: z.object({ [inside]: z.nonoptional(held) }).optional(),
        ...beside,
      });
    },
  };
}

/** The value itself. */
export const bare: ReplyForm = {
  encode: (value) => value,
  decode: (body) => body,
  describe: (value) => value,
};

/** The list that the value holds under `name`, and nothing around it. */
export function list(name: string): ReplyForm {
  return {
    encode: ({ [name]: held }) => (Array.isArray(held) ? (held as readonly unknown[]) : []),
    decode: (body) => ({ [name]: Object.values(body) }),
    describe: (value) => fieldsOf(value)[name] ?? z.unknown(),
  };
}

/** `{content_type, base64}` as the bytes themselves. */
export const bytes: ReplyForm = { ...bare, media: "bytes" };
