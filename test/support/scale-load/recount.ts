import { execute } from "../postgres.ts";

const stars = (alias: string) =>
  [1, 2, 3, 4, 5].map((n) => `count(*) filter (where ${alias}.score = ${n}) as stars_${n}`).join(", ");

/** The rating targets of each published review: the account, the product, its group, or the store. */
const targetsOfReviews = `
  select account_id, 'a' || account_id as rating_target, score from reviews where published = 1
  union all
  select account_id, 's' || account_id, score from reviews where published = 1 and product_row is null
  union all
  select account_id, 'p' || product_row, score from reviews where published = 1 and product_row is not null
  union all
  select r.account_id, 'g' || g.group_row, r.score from reviews r
    join group_products g on g.account_id = r.account_id and g.product_row = r.product_row
  where r.published = 1`;

const dayOf = (column: string) => `floor(${column} / 86400000.0)`;

/**
 * Statements by what they check. Each compares totals that the service maintains with a count of the rows, and returns
 * the differences.
 */
const recounts: Readonly<Record<string, string>> = {
  "reviews by stars": `
    with counted as (
      select account_id, rating_target, ${stars("t")} from (${targetsOfReviews}) t group by account_id, rating_target
    )
    select coalesce(c.rating_target, t.rating_target) as target, to_jsonb(c) as counted, to_jsonb(t) as stored
    from counted c full join review_totals t on t.account_id = c.account_id and t.rating_target = c.rating_target
    where row(coalesce(c.stars_1, 0), coalesce(c.stars_2, 0), coalesce(c.stars_3, 0), coalesce(c.stars_4, 0),
      coalesce(c.stars_5, 0)) is distinct from row(t.stars_1, t.stars_2, t.stars_3, t.stars_4, t.stars_5)`,
  "questions and answers": `
    with counted as (
      select q.account_id, q.product_row, count(distinct q.id) as questions, count(a.id) as answers
      from questions q left join answers a
        on a.account_id = q.account_id and a.question_row = q.id and a.published = 1
      where q.state = 'public' group by q.account_id, q.product_row
    )
    select coalesce(c.product_row, t.product_row) as product, to_jsonb(c) as counted, to_jsonb(t) as stored
    from counted c full join question_totals t on t.account_id = c.account_id and t.product_row = c.product_row
    where row(coalesce(c.questions, 0), coalesce(c.answers, 0)) is distinct from row(t.questions, t.answers)`,
  "purchases by day": `
    with counted as (
      select account_id, ${dayOf("created_at")} as day, count(*) as purchases, min(id) as least_id
      from purchases group by 1, 2
    )
    select coalesce(c.account_id, t.account_id) as account, to_jsonb(c) as counted, to_jsonb(t) as stored
    from counted c full join purchase_days t on t.account_id = c.account_id and t.day = c.day
    where coalesce(c.purchases, 0) is distinct from t.purchases or t.first_id > c.least_id`,
  "votes on reviews": `
    with counted as (
      select account_id, target_row, count(*) filter (where direction = 'up') as up,
        count(*) filter (where direction = 'down') as down
      from votes where target = 'review' group by account_id, target_row
    )
    select r.id, r.votes_up, r.votes_down, to_jsonb(c) as counted
    from reviews r left join counted c on c.account_id = r.account_id and c.target_row = r.id
    where row(r.votes_up, r.votes_down) is distinct from row(coalesce(c.up, 0), coalesce(c.down, 0))`,
  "votes on answers": `
    with counted as (
      select account_id, target_row, count(*) as up from votes where target = 'answer' group by account_id, target_row
    )
    select a.id, a.votes_up, to_jsonb(c) as counted
    from answers a left join counted c on c.account_id = a.account_id and c.target_row = a.id
    where a.votes_up <> coalesce(c.up, 0)`,
  "queued emails": `
    with counted as (
      select m.account_id, m.category, ${dayOf("e.occurred_at")} as day, count(*) as mails
      from mail_events e join mails m on m.account_id = e.account_id and m.id = e.mail_row
      where e.event = 'requested' group by 1, 2, 3
    ), stored as (select * from mail_counts where counter = 'requests')
    select coalesce(c.account_id, t.account_id) as account, to_jsonb(c) as counted, to_jsonb(t) as stored
    from counted c full join stored t on t.account_id = c.account_id and t.category = c.category and t.day = c.day
    where c.mails is distinct from t.mails`,
  "delivered emails": `
    with counted as (
      select m.account_id, m.category, ${dayOf("e.occurred_at")} as day, count(distinct m.id) as mails
      from mail_events e join mails m on m.account_id = e.account_id and m.id = e.mail_row
      where e.event = 'delivered' group by 1, 2, 3
    ), stored as (select * from mail_counts where counter = 'delivered')
    select coalesce(c.account_id, t.account_id) as account, to_jsonb(c) as counted, to_jsonb(t) as stored
    from counted c full join stored t on t.account_id = c.account_id and t.category = c.category and t.day = c.day
    where coalesce(c.mails, 0) is distinct from coalesce(t.mails, 0)`,
  "sent emails without a delivery, or deliveries without a sent email": `
    select m.id, m.state from mails m
    where (m.state = 'sent') is distinct from exists (
      select 1 from mail_events e where e.account_id = m.account_id and e.mail_row = m.id and e.event = 'delivered')`,
  "orders without the emails that they trigger": `
    select o.order_id, count(m.id) as emails from orders o
    left join mails m on m.account_id = o.account_id and m.order_row = o.id and m.category in ('mail_after_purchase', 'map')
    group by o.account_id, o.id, o.order_id having count(m.id) <> 1`,
  "rows of one account that refer to another": `
    select 'purchases' as name, p.id from purchases p join orders o on o.id = p.order_row
      where o.account_id <> p.account_id
    union all
    select 'reviews', r.id from reviews r join products p on p.id = r.product_row where p.account_id <> r.account_id
    union all
    select 'answers', a.id from answers a join questions q on q.id = a.question_row
      where q.account_id <> a.account_id`,
};

/** Compares every total of every account with its rows. @returns the differences, by what was compared */
export async function recount(url: string): Promise<Record<string, unknown[]>> {
  const differences: Record<string, unknown[]> = {};
  for (const [name, statement] of Object.entries(recounts)) {
    const rows = await execute(statement, url);
    if (rows.length > 0) differences[name] = rows.slice(0, 5);
  }
  return differences;
}
