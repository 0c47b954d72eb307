import { type Brand, type Language, languages, type PageStyle } from "../../contract/index.ts";
import { sameAccount, selectAccountRows } from "../kernel/account-rows.ts";
import type { PageReader } from "../kernel/call-path.ts";
import type { HandlerContext } from "../kernel/handler.ts";
import { openAnyClaim } from "../kernel/signed-link.ts";
import { readBrand } from "./brand.ts";

/** Reads how an account shows a page: in the language of the email that links to it, else in the one that its reader prefers. */
export async function readPageStyle(
  { accountId, token, preferred }: PageReader,
  context: HandlerContext,
): Promise<PageStyle> {
  const brand = await readBrand(accountId, context);
  const linked = token === undefined ? undefined : await readLinkLanguage(token, { accountId, brand }, context);
  return { brand, language: linked ?? preferred ?? brand.language };
}

/** The language of the email that contains a link. */
async function readLinkLanguage(
  token: string,
  { accountId, brand }: { readonly accountId: number; readonly brand: Brand },
  { transaction, sealer }: HandlerContext,
): Promise<Language | undefined> {
  const claim = openAnyClaim(token, sealer);
  if (claim?.mailId === undefined) return undefined;
  const mail = await selectAccountRows("mails", accountId, transaction)
    .leftJoin("orders", sameAccount("orders.id", "mails.order_row"))
    .select("orders.language")
    .where("mails.id", "=", claim.mailId)
    .executeTakeFirst();
  return mail && languageOf(mail, brand);
}

/** The language of emails about an order. */
export function languageOf(order: { readonly language: string | null } | undefined, brand: Brand): Language {
  return languages.find((language) => language === order?.language) ?? brand.language;
}
