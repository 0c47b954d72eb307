import { couponActions, couponCodeLength, type CouponAction, ServiceError } from "../../contract/index.ts";
import { ImportError } from "../../import/types.ts";
import { couponHoldings } from "../holdings.ts";
import type { Importing, Kind } from "../../import/kind.ts";

function isAction(value: string | undefined): value is CouponAction {
  return (couponActions as readonly (string | undefined)[]).includes(value);
}

export const coupons: Kind = {
  name: "coupons",
  prepare: ({ action }) => {
    if (!isAction(action)) {
      throw new ImportError(
        "usage",
        action === undefined ? "--action is missing" : `--action ${action} is not known`,
        {
          hint: `it is one of ${couponActions.join(", ")}`,
        },
      );
    }
    return createImporting(action);
  },
};

function createImporting(action: CouponAction): Importing {
  const { min, max } = couponCodeLength;
  return {
    operation: "coupons.upload",
    fields: [{ name: "code", required: true }],
    itemName: { one: "code", many: "codes" },
    holdings: couponHoldings,

    read: (row, source) => {
      const code = row("code");
      if (code === "") return [{ field: "code", code: "missing", reason: "is empty" }];
      if (code.length < min || code.length > max) {
        const reason = `has ${code.length} characters; a code has ${min} to ${max}`;
        return [{ field: "code", code: code.length > max ? "too_long" : "too_short", reason }];
      }
      return { key: code, lane: "", rows: [source], size: code.length + 3, payload: code };
    },

    send: async (service, items, options) => {
      const codes = items.map((item) => item.key);
      const reply = await service.coupons.upload({ coupon_action: action, codes }, options);
      if (reply["new-codes"] === codes.length) return [];
      // The reply only counts: what the service did not keep is found by reading back.
      const isHeld = await findHeld(service.coupons, codes, options).catch((error: unknown) => {
        const message = `the codes were sent, and could not be looked up: ${(error as Error).message}`;
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
                reason: "was not taken by the service, for its length or as a duplicate",
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

type CouponCalls = Parameters<Importing["send"]>[0]["coupons"];

async function findHeld(
  calls: CouponCalls,
  codes: readonly string[],
  options: Parameters<CouponCalls["list"]>[1],
): Promise<boolean[]> {
  const { coupons: held } = await calls.list({}, options);
  const known = new Set(held.map(({ code }) => code));
  return codes.map((code) => known.has(code));
}
