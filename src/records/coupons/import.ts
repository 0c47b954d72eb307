import { couponActions, couponCodeLength, type CouponAction, ServiceError } from "../../contract/index.ts";
import { ImportError } from "../../import/import-error.ts";
import type { PreparedImport, RecordImporter } from "../../import/kind.ts";
import type { ImportOptions } from "../../import/options.ts";
import { expectOne, type StoredRecords } from "../../import/verify/stored-records.ts";
import type { Service } from "../../service/service.ts";
import { couponPlan } from "./plan.ts";
import { couponSynonyms } from "./synonyms.ts";
import { createCouponUndo, previousCoupons } from "./undo.ts";

function isAction(value: string | undefined): value is CouponAction {
  return (couponActions as readonly (string | undefined)[]).includes(value);
}

export interface CouponOptions extends ImportOptions {
  action?: string | undefined;
}

export const couponImporter: RecordImporter = {
  prepare: ({ action }: CouponOptions) => {
    if (!isAction(action)) {
      const problem =
        action === undefined ? "missing flag --action" : `invalid value "${action}" for --action`;
      throw new ImportError("usage", problem, { hint: `accepted values: ${couponActions.join(", ")}` });
    }
    return prepareImport(action);
  },
  synonyms: couponSynonyms,
  plan: couponPlan,
  previous: () => previousCoupons,
  undo: ({ action = "" }: CouponOptions) => createCouponUndo(action),
};

function prepareImport(action: CouponAction): PreparedImport {
  const { min, max } = couponCodeLength;
  return {
    operation: "coupons.upload",
    storedRecords: storedCoupons,

    read: (row, source) => {
      const code = row("code");
      if (code === "") return [{ field: "code", code: "missing", reason: "is empty" }];
      if (code.length < min || code.length > max) {
        const reason = `has ${code.length} characters; a code has ${min} to ${max}`;
        return [{ field: "code", code: code.length > max ? "too_long" : "too_short", reason }];
      }
      return { key: code, batchKey: "", rows: [source], size: code.length + 3, payload: code };
    },

    send: async (service, items, options) => {
      const codes = items.map((item) => item.key);
      const reply = await service.coupons.upload({ coupon_action: action, codes }, options);
      if (reply["new-codes"] === codes.length) return [];
      // The response contains only a count, so reading back shows what the service did not store.
      const isHeld = await findHeld(service.coupons, codes, options).catch((error: unknown) => {
        const message = `the codes were sent, but reading them back failed: ${(error as Error).message}`;
        throw new ServiceError("unavailable", message, { outcomeUnknown: true, cause: error });
      });
      return isHeld.flatMap((held, item) =>
        held
          ? []
          : [
              {
                item,
                field: "code",
                code: "refused",
                reason: "was not accepted by the service because of its length or as a duplicate",
              },
            ],
      );
    },

    readBack: (service, items, options) =>
      findHeld(
        service.coupons,
        items.map((item) => item.key),
        options,
      ),

    existingKeys: async (service, options) => {
      const { coupons: held } = await service.coupons.list({}, options);
      return held.map(({ code }) => code);
    },
  };
}

type CouponCalls = Service["coupons"];

async function findHeld(
  calls: CouponCalls,
  codes: readonly string[],
  options: Parameters<CouponCalls["list"]>[1],
): Promise<boolean[]> {
  const { coupons: held } = await calls.list({}, options);
  const known = new Set(held.map(({ code }) => code));
  return codes.map((code) => known.has(code));
}

const storedCoupons: StoredRecords = {
  expected: (item) => expectOne(item, item.key, "code", { code: item.key }),
  // The service returns all of them at once.
  list: async function* (service, options) {
    const { coupons } = await service.coupons.list({}, options);
    yield coupons.map(({ code }) => code);
  },
};
