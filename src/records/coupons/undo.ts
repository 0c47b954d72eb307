import type { CouponAction } from "../../contract/index.ts";
import type { Service } from "../../service/service.ts";
import type { CallOptions } from "../../service/transport.ts";
import type { Entry } from "../../import/undo/previous-values.ts";
import type { PreviousReader, UndoBehavior } from "../../import/undo/undo-behavior.ts";

async function* readStats(service: Service, options: CallOptions): AsyncGenerator<readonly Entry[]> {
  const { stats } = await service.coupons.stats({}, options);
  yield Object.entries(stats).map(([action, codes]) => [action, { codes }]);
}

export const previousCoupons: PreviousReader = { before: readStats, onlyWritten: false };

const deletesAll = "the API can only delete all codes of an action";

/**
 * Deletes the codes of the run's action if it has no others.
 * Source: spec "Coupons": deletes the unique codes of that action. Assumed: the counts may omit an action without
 * codes.
 */
export function createCouponUndo(action: string): UndoBehavior {
  return {
    targetOf: () => ({ key: action, written: {} }),
    now: readStats,

    decide: ({ rows, sureRows, now, wasSent }, past) => {
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
      return { outcome: "reversed", reason: "is deleted", send: {} };
    },

    itemsACall: 1,

    send: async (service, _things, options) => {
      await service.coupons.delete({ coupon_action: action as CouponAction }, options);
      return new Map();
    },
  };
}

function codesOf(counted: Readonly<Record<string, unknown>> | undefined): number {
  return Number(counted?.["codes"] ?? 0);
}
