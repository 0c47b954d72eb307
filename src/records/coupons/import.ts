import { type CouponAction, couponActions, couponCodeLength, ServiceError } from "../../contract/index.ts";
import { readOutcomes } from "../../import/check/service-outcomes.ts";
import { usageError } from "../../import/import-error.ts";
import type { Item } from "../../import/item.ts";
import type { PreparedImport, RecordImporter, RecordKind } from "../../import/kind.ts";
import type { ImportOptions } from "../../import/options.ts";
import { expectOne } from "../../import/verify/stored-records.ts";
import type { Service } from "../../service/service.ts";
import { isSameName, synonyms } from "../../import/mapping/names.ts";
import type { CallOptions } from "../../service/transport.ts";
import type { Entry } from "../../import/undo/previous-values.ts";
import type { UndoBehavior } from "../../import/undo/undo-behavior.ts";

export interface CouponOptions extends ImportOptions {
  action?: string | undefined;
}

const codeSynonyms = synonyms(
  "code|coupon|coupon code|voucher|voucher code|discount code|promo code|promotion code|gutschein|gutscheincode|gutscheinnummer|rabattcode|code promo|code promotionnel|code de reduction|bon de reduction|cupon|codigo cupon|codigo descuento|codigo promocional|codice sconto|codice promozionale|buono|cupom|codigo desconto|kortingscode|kortingsbon|kod rabatowy|kupon|rabattkod|rabatkode|alennuskoodi",
  "codes|codigo|codice|kod|discount",
);

export const couponImporter: RecordImporter = {
  prepare: prepareImport,
  nameColumns,
  synonyms: {
    code: codeSynonyms,
    coupon_action: synonyms("coupon action|action"),
  },
  plan: {
    ids: [{ type: "code", writtenIn: "code" }],
    keyOf: ({ key }) => key,
    loadStored: async (service, tally, options) => {
      for (const code of await listCodes(service, options)) tally.addStored("code", code);
    },
  },
  undo: () => couponUndo,
};

/** Letters and digits, with a digit or in capital letters, as codes are written. */
const codeShape = /^(?=.*\p{N}|\P{Ll}*$)[\p{L}\p{N}](?:[\p{L}\p{N}._-]*[\p{L}\p{N}])?$/u;
const hasDigit = /\p{N}/u;

/** Codes of one list often differ only in which capital letters and digits they have. */
const patternOf = (code: string) => code.replaceAll(/[\p{Lu}\p{N}]/gu, "X").replaceAll(/\p{Ll}/gu, "x");

/**
 * Names the columns of a list that begins with a code, or with a code and its action.
 * Assumed: a code without a digit looks like a header, unless others have none either; and one that `--map` names is a
 * header, unless it has the pattern of most others.
 */
function nameColumns(rows: readonly (readonly string[])[], mapped: readonly string[]): string[] | undefined {
  const [first = [], ...rest] = rows;
  const [code = "", action, ...more] = first.map((cell) => cell.trim());
  const { plain, vague } = codeSynonyms;
  if (more.length > 0 || !codeShape.test(code)) return undefined;
  if ([...plain, ...vague].some((name) => isSameName(name, code))) return undefined;
  const others = rest.flatMap(([cell = ""]) => cell.trim() || []);
  const isMost = (test: (other: string) => boolean) => others.filter((other) => test(other)).length * 2 > others.length;
  if (!hasDigit.test(code) && !others.some((other) => codeShape.test(other) && !hasDigit.test(other))) return undefined;
  const isLikeOthers = isMost((other) => patternOf(other) === patternOf(code));
  if (mapped.some((name) => name !== code || !isLikeOthers)) return undefined;
  if (action === undefined)
    return others.length > 0 && !isMost((other) => codeShape.test(other)) ? undefined : ["code"];
  return findAction(action) && ["code", "coupon_action"];
}

interface Coupon {
  readonly code: string;
  readonly action: CouponAction;
}

const findAction = (name: string | undefined) => couponActions.find((one) => one === name);

function prepareImport({ action: given }: CouponOptions, { fields }: RecordKind): PreparedImport {
  if (given !== undefined && findAction(given) === undefined) {
    throw usageError(`invalid value "${given}" for --action`, `accepted values: ${couponActions.join(", ")}`);
  }
  const { min, max } = couponCodeLength;
  return {
    operation: "coupons.upload",
    keyedBy: "run",
    ...(given !== undefined && {
      fields: fields.map((field) => (field.name === "coupon_action" ? { ...field, required: false } : field)),
    }),
    erasing: { fields: [], otherwise: "the action given by --action was used" },
    storedRecords: {
      expected: (item) => {
        const { code, action } = item.payload as Coupon;
        return expectOne(item, item.key, "code", { code }, { coupon_action: action });
      },
      list: async function* (service, options) {
        const { coupons } = await service.coupons.list({ details: true }, options);
        yield coupons.map(({ code, coupon_action }) => ({ key: code, values: { coupon_action } }));
      },
    },

    read: (row, source) => {
      const code = row("code");
      if (code === "") return [{ field: "code", code: "missing", reason: "is empty" }];
      if (code.length < min || code.length > max) {
        const reason = `has ${code.length === 1 ? "1 character" : `${code.length} characters`}; a code has ${min} to ${max}`;
        return [{ field: "code", code: code.length > max ? "too_long" : "too_short", reason }];
      }
      const written = row("coupon_action") || given;
      const action = findAction(written);
      if (action === undefined) {
        const problem = written === undefined ? "missing" : "bad_action";
        const reason = written === undefined ? "is missing" : `is not one of ${couponActions.join(", ")}`;
        return [{ field: "coupon_action", code: problem, reason }];
      }
      const payload: Coupon = { code, action };
      return { key: code, batchKey: action, rows: [source], size: code.length + 3, payload };
    },

    send: async (service, items, options) => {
      const codes = keysOf(items);
      const [action] = items.map(({ payload }) => (payload as Coupon).action);
      if (action === undefined) return { errors: [] };
      const reply = await service.coupons.upload({ coupon_action: action, codes, details: true }, options);
      if (reply.outcomes) return readOutcomes({ outcomes: reply.outcomes, errors: [] });
      const created = codes.map(() => ({ outcome: "created" as const }));
      if (reply["new-codes"] === codes.length) return { errors: [], outcomes: created };
      // The response contains only a count, so reading back shows what the service did not store.
      const isHeld = await findHeld(service, codes, options).catch((error: unknown) => {
        const message = `the codes were sent, but reading them back failed: ${(error as Error).message}`;
        throw new ServiceError("unavailable", message, { outcomeUnknown: true, cause: error });
      });
      const reason = "was not accepted by the service because of its length or as a duplicate";
      const errors = isHeld.flatMap((held, item) => (held ? [] : [{ item, field: "code", code: "refused", reason }]));
      // Codes that were stored before the run are not sent, so the others are new.
      return { errors, outcomes: isHeld.map((held) => (held ? { outcome: "created" } : undefined)) };
    },

    readBack: (service, items, options) => findHeld(service, keysOf(items), options),

    existing: async function* (service, options) {
      yield (await listCodes(service, options)).map((key) => ({ key }));
    },
  };
}

const keysOf = (items: readonly Item[]) => items.map(({ key }) => key);

/** The service returns all of them at once. */
async function listCodes(service: Service, options: CallOptions): Promise<string[]> {
  const { coupons } = await service.coupons.list({}, options);
  return coupons.map(({ code }) => code);
}

async function findHeld(service: Service, codes: readonly string[], options: CallOptions): Promise<boolean[]> {
  const held = new Set(await listCodes(service, options));
  return codes.map((code) => held.has(code));
}

async function* readStats(service: Service, options: CallOptions): AsyncGenerator<readonly Entry[]> {
  const { stats } = await service.coupons.stats({}, options);
  yield Object.entries(stats).map(([action, codes]) => [action, { codes }]);
}

const deletesAll = "the API can only delete all codes of an action";

/**
 * Deletes the codes of each action of the run that has no others.
 * Source: spec "Coupons": deletes the unique codes of that action. Assumed: the counts may omit an action without
 * codes.
 */
const couponUndo: UndoBehavior = {
  previous: { read: readStats },
  targetOf: ({ payload }) => {
    const { action } = payload as Coupon;
    return { key: action, written: { action } };
  },
  now: readStats,

  decide: ({ key: action, written, rows, sureRows, now, wasSent }, past) => {
    if (past.whyNot !== undefined) {
      const reason = `${deletesAll}, and the number of codes before the run is unknown: ${past.whyNot}`;
      return { outcome: "impossible", reason };
    }
    const [before, held] = [codesOf(past.get(action)), codesOf(now)];
    if (before > 0) return { outcome: "kept", reason: `${deletesAll}; it had ${before} before the run` };
    if (held === 0) {
      return wasSent
        ? { outcome: "reversed", reason: "is deleted" }
        : { outcome: "kept", reason: "changed since: the action has no codes" };
    }
    // The excess may be another person's codes, or those of calls without a response.
    if (held !== sureRows && rows > sureRows) {
      const reason = `the action has ${held} codes, and the run added ${sureRows} to ${rows}; resume the run, then undo it`;
      return { outcome: "impossible", reason };
    }
    if (held !== sureRows) {
      const reason = `changed since: the action has ${held} codes, and the run added ${sureRows}; ${deletesAll}`;
      return { outcome: "kept", reason };
    }
    return { outcome: "reversed", reason: "is deleted", send: written };
  },

  itemsACall: 1,

  send: async (service, things, options) => {
    for (const { key } of things) await service.coupons.delete({ coupon_action: key as CouponAction }, options);
    return new Map();
  },
};

function codesOf(counted: Readonly<Record<string, unknown>> | undefined): number {
  return Number(counted?.["codes"] ?? 0);
}
