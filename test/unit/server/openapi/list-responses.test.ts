import { describe, it } from "vitest";
import { aReview } from "../../../support/wire-steps.ts";
import { useDocumentedCalls } from "../../../support/documented-calls.ts";

const { wire, call, app, signed, withToken } = useDocumentedCalls();

describe("responses to store lists match the OpenAPI document", () => {
  it("for coupons, unsubscribers, and groups", async () => {
    await call("coupons.upload", ["POST", `${app()}/coupons/unique`], {
      body: signed({ coupon_action: "map_review", codes: ["CODE1", "", "CODE1"] }),
    });
    await call("coupons.list", ["GET", withToken(`${app()}/coupons/unique`)]);
    await call("coupons.stats", ["GET", withToken(`${app()}/coupons/unique/stats`)]);
    await call("coupons.delete", ["POST", `${app()}/coupons/unique/delete`], {
      body: signed({ coupon_action: "map_review" }),
    });
    const mass = `${app()}/unsubscribers`;
    const email_list = { "1": ["ann@mail.example", "no address"] };
    await call("unsubscribers.massCreate", ["POST", `${mass}/mass_create`], { body: signed({ email_list }) });
    await call("unsubscribers.massCreate", ["POST", `${mass}/mass_create`], {
      body: signed({ email_list, async: true, validate_data: true }),
    });
    await call("unsubscribers.list", ["GET", withToken(mass, "&count=1&page=1")]);
    await call("unsubscribers.massDelete", ["DELETE", `${mass}/mass_delete`], {
      body: signed({ email_list }),
    });
    const groups = `/v1/apps/${wire().appKey}/products_groups`;
    await call("groups.create", ["POST", groups], { body: signed({ group_name: "pots" }) });
    await call("groups.list", ["GET", withToken(groups)]);
    await call("reviews.createNow", ["POST", "/reviews/dynamic_create"], { body: aReview(wire()) });
    await call("groups.update", ["PUT", `${groups}/pots`], {
      body: signed({ product_ids_to_add: ["teapot"] }),
    });
    await call("groups.get", ["GET", withToken(`${groups}/pots`)]);
    await call("groups.delete", ["DELETE", `${groups}/pots`], { body: signed(), status: 500 });
    await call("groups.get", ["GET", withToken(`${groups}/pans`)], { status: 404 });
  });
});
