import type { Migration } from "./table-builders.ts";

/** Images stored before have none, and are shown at their full size instead. */
export const thumbnails: Migration = {
  version: 7,
  name: "thumbnails of images",
  up: async (schema) => {
    await schema.alterTable("review_images").addColumn("thumb_base64", "text").execute();
  },
};
