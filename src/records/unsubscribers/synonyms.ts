import { synonyms, type FieldSynonyms } from "../../import/mapping/synonyms.ts";

export const unsubscriberSynonyms: Readonly<Record<string, FieldSynonyms>> = {
  email: synonyms(
    "email|e mail|email address|user email|customer email|subscriber|subscriber email|courriel|adresse email|adresse mail|correo|correo electronico|indirizzo email|endereco email|emailadres|e mailadres|adres email|mailadresse|e postadress|epost|email adresse|sahkoposti",
    "mail|address|adresse|contact",
  ),
  email_type_id: synonyms("email type id|email type|mail type|type id|mailart|type email", "type|typ|tipo"),
};
