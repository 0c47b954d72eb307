import { failedError, type UserError } from "../../../config/user-error.ts";
import { reviewErasures } from "../../../contract/customers/review-erasures.ts";
import { command } from "../../program/command.ts";
import { oneOf, readEmail } from "../../program/flag-values.ts";
import type { Context } from "../../program/context.ts";
import { describeErasure, type Erased, viewOfErasure } from "./erasure-format.ts";
import { findLocalImports } from "./local-imports.ts";

export default command({
  summary: "Erase a customer's data: reviews, orders, emails, and import files",
  argument: "<email>",
  examples: [
    "starpost customers erase ann@mail.example --plan",
    "starpost customers erase ann@mail.example --reviews delete",
  ],
  flags: {
    reviews: {
      value: "<how>",
      description: "anonymize removes the author and the texts but keeps the score; delete deletes reviews",
      default: "anonymize",
      ...oneOf(reviewErasures),
    },
    plan: { description: "only show what would be erased" },
  },
  notes: [
    "Orders stay under a pseudonym, so that totals and ratings do not change. Questions are deleted with their answers. " +
      "Queued emails are canceled, and no email is sent to the address any more, of which only a hash is stored.",
    "Files of finished imports of this machine that contain the address are removed; these imports can then no longer be " +
      "verified or undone. The files that were imported, and backups, are listed but not changed.",
  ],
  run: async (context, { arguments: [email = ""], flags }): Promise<Erased> => {
    const { reviews } = flags;
    readEmail(email, "<email>");
    const profile = await context.profile();
    const runs = await findLocalImports(context, email);
    const unfinished = runs.find(({ state }) => state !== "finished");
    if (unfinished && flags.plan !== true) throw explainUnfinished(unfinished.import_id);
    return context.withService(async (service) => {
      const { plan } = await service.customers.planErasure({ email, reviews });
      const planned: Erased = {
        state: "planned",
        erasure_id: null,
        reviews,
        counts: plan.counts,
        removed: false,
        imports: runs.map(({ import_id, kind, files, state }) => ({ import_id, kind, files, state })),
        kept_files: [...new Set([...runs.flatMap(({ outside }) => outside), ...(await findOwnFiles(context, email))])],
        backups: await listBackupFiles(context),
      };
      if (profile.mode === "remote") {
        context.messages.info("Backups of the service are not listed. Ask its operator to delete those made before.");
      }
      if (flags.plan === true) return planned;
      const { confirmByName } = await import("../../program/confirm.ts");
      await confirmByName(context, describeErasure(planned, email), email);
      context.approval.isGiven = true;
      const { erasure, removed } = await service.customers.erase({ email, reviews });
      const { removeGroups, removeRunFiles } = await import("../../../import/people/person-rows.ts");
      const { paths } = await context.host();
      const { runsFolder } = paths;
      for (const { import_id } of runs) await removeRunFiles(import_id, { runsFolder, clock: context.io.clock });
      removeGroups(email, runsFolder);
      if (!removed) {
        context.messages.warn(
          "Another process uses the database, so its file still contains deleted bytes. Run the command again.",
        );
      }
      return { ...planned, state: "erased", erasure_id: erasure.id, counts: erasure.counts, removed };
    });
  },
  render: viewOfErasure,
});

function explainUnfinished(importId: string): UserError {
  return failedError(
    `import ${importId} contains the customer and is not finished`,
    `Run \`starpost imports resume ${importId}\`, or delete it with \`starpost imports purge --older-than 0h --unfinished\`.`,
  );
}

/** What is in the folders of starpost, but is not erased there; databases and backups are binary. */
const erasedNames = /^(?:imports|outbox|backups|limits|tokens)$|\.(?:db|db-wal|db-shm|key)$|\.tar\.gz$/;

/** Files of the user in the folders of starpost, such as aliases, mappings, and logs. */
async function findOwnFiles(context: Context, email: string): Promise<readonly string[]> {
  const { findFilesWith } = await import("../../../import/people/person-rows.ts");
  const { paths } = await context.host();
  return findFilesWith(email, [paths.configFolder, paths.dataFolder], erasedNames);
}

/** The backups of an embedded database that may contain the customer. Those of a service are unknown here. */
async function listBackupFiles(context: Context): Promise<readonly string[]> {
  const profile = await context.profile();
  if (profile.mode === "remote") return [];
  const { listBackups } = await context.io.loadApp();
  const { paths } = await context.host();
  const found = await listBackups(paths, profile.shownAs);
  return found.filter(({ exists }) => exists).map(({ file }) => file);
}
