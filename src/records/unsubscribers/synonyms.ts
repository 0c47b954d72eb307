import { synonyms, type FieldSynonyms } from "../../import/mapping/names.ts";

export const unsubscriberSynonyms: Readonly<Record<string, FieldSynonyms>> = {
  email: synonyms(
    "email|e mail|email address|user email|customer email|subscriber|subscriber email|courriel|adresse email|adresse mail|correo|correo electronico|indirizzo email|endereco email|emailadres|e mailadres|adres email|mailadresse|e postadress|epost|email adresse|sahkoposti",
    "mail|address|adresse|contact",
  ),
  email_type_id: synonyms("email type id|email type|mail type|type id|mailart|type email", "type|typ|tipo"),
};

/** The words of answers to the question whether somebody wants emails. */
export const answerWords = {
  no:
    "no n false 0 off unsubscribed unsubscribe opted_out optedout opt_out optout out rejected declined denied revoked " +
    "withdrawn user_suppressed spam_complaint manual_suppression nein non",
  yes: "yes y true 1 on subscribed subscribe opted_in optedin opt_in optin in accepted granted confirmed active ja oui si",
  none:
    "none null n/a unknown not_subscribed never_subscribed non_subscribed nonsubscribed notsubscribed neversubscribed " +
    "pending unconfirmed cleaned bounced bounce hard_bounce soft_bounce invalid invalid_email transactional archived redacted",
} as const;

/** In columns with such names, `yes` means that the person does not want emails. */
export const ofRefusals = /unsubscri|opt(?:ed)?[\s_-]*out|suppress|do[\s_-]*not|blacklist|block/i;

/** Names of columns that state who agreed to receive emails. */
export const ofConsent =
  /consent|marketing|newsletter|opt(?:ed)?[\s_-]*(?:in|out)\b|unsub|(?<!un)subscribed\b|subscription[\s_-]*(?:status|state)|is[\s_-]*subscribe|suppress|do[\s_-]*not[\s_-]*(?:e-?mail|contact)|einwilligung|werbung|abonn/i;

/** Names of columns with a state, which is that of a subscription if its values show it. */
export const ofState = /^(?:email[\s_-]*|global[\s_-]*|list[\s_-]*)?(?:status|state)$/i;
export const ofSubscription = /subscri|opt(?:ed)?[\s_-]*(?:in|out)/i;

/** Columns that only exports of all customers or contacts have. */
export const ofCustomers: ReadonlySet<string> = new Set(
  (
    "totalspent totalspend totalorders orderscount orders aov lastorder memberrating optintime klaviyoid " +
    "payingcustomer ltv"
  ).split(" "),
);

/** A column of exports of starpost, which shows who unsubscribed a person. */
export const ownColumns: ReadonlySet<string> = new Set(["unsubscribedby"]);
