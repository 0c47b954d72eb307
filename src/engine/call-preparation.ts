import type { OperationName } from "../contract/index.ts";
import type { HandlerContext } from "./kernel/handler.ts";

/** What has to be written before a call can be answered; `isDue` tells, without writing, whether there is more. */
export interface Preparation {
  readonly isDue: (context: HandlerContext) => Promise<boolean>;
  readonly write: (context: HandlerContext) => Promise<void>;
}

async function noteOrders(): Promise<Preparation> {
  const { hasNewOrders, noteOrderEmails } = await import("./orders/buyer-lookup.ts");
  return { isDue: hasNewOrders, write: noteOrderEmails };
}

/** What webhooks are told of a review holds the order that its author's address leads to. */
async function noteOrdersOfEvents(): Promise<Preparation> {
  const { hasWebhooks } = await import("./kernel/outbox.ts");
  const { isDue, write } = await noteOrders();
  return { isDue: async (context) => (await hasWebhooks(context)) && (await isDue(context)), write };
}

async function showBottomLines(): Promise<Preparation> {
  const { hasDueChanges, showDueChanges } = await import("./reviews/bottom-lines.ts");
  return { isDue: hasDueChanges, write: showDueChanges };
}

export const preparations: Readonly<Partial<Record<OperationName, () => Promise<Preparation>>>> = {
  "links.follow": noteOrders,
  "reviews.bottomLines": showBottomLines,
  "reviews.comment": noteOrdersOfEvents,
  "reviews.create": noteOrdersOfEvents,
  "reviews.createNow": noteOrdersOfEvents,
  "reviews.setPublished": noteOrdersOfEvents,
};

type Check = (input: unknown, context: HandlerContext) => Promise<void>;

/** What refuses a call that anybody may try, before it holds the write lock. */
export const checks: Readonly<Partial<Record<OperationName, Check>>> = {
  "emailEvents.receive": async (input, context) => {
    const { requireSignature } = await import("./emails/events/signing-keys.ts");
    return requireSignature(input as Parameters<typeof requireSignature>[0], context);
  },
};

type Change = (input: unknown, run: Pick<HandlerContext, "random">) => Promise<unknown>;

/** What is done with a call's input before the call holds the write lock, since it takes long. */
export const changes: Readonly<Partial<Record<OperationName, Change>>> = {
  "users.create": async (input, run) => {
    const { hashNewPassword } = await import("./accounts/users.ts");
    return hashNewPassword(input as Parameters<typeof hashNewPassword>[0], run);
  },
};
