import { execute } from "./postgres.ts";

export const partitionsPerTable = 8;

/** Tables that are read across accounts, or before the account is known. */
const shared = ["public_ids"];

/**
 * Turns every table of rows of accounts into one that is partitioned by hash of the account, with the same columns, rows,
 * keys, and indexes. That fails if the account is not part of every key.
 */
const partition = `do $$
  declare
    held record;
    statement text;
    keys text[];
    indexes text[];
    sequences text[];
  begin
    for held in select pg_class.oid, relname as name from pg_class
      join pg_attribute on attrelid = pg_class.oid and attname = 'account_id' and not attisdropped
      where relnamespace = 'public'::regnamespace and relkind = 'r'
        and relname <> all(array[${shared.map((name) => `'${name}'`).join(", ")}])
      order by pg_class.oid
    loop
      keys := array(select format('alter table %I add constraint %I %s', held.name, conname, pg_get_constraintdef(oid))
        from pg_constraint where conrelid = held.oid order by oid);
      indexes := array(select pg_get_indexdef(indexrelid) from pg_index where indrelid = held.oid
        and not exists (select from pg_constraint where conindid = indexrelid and conrelid = held.oid));
      sequences := array(select objid::regclass::text from pg_depend
        where refobjid = held.oid and deptype = 'a' and classid = 'pg_class'::regclass
          and objid in (select oid from pg_class where relkind = 'S'));
      foreach statement in array sequences loop execute format('alter sequence %s owned by none', statement); end loop;
      execute format('alter table %I rename to before_partitions', held.name);
      execute format('create table %I (like before_partitions including defaults including storage)
        partition by hash (account_id)', held.name);
      for part in 0..${partitionsPerTable - 1} loop
        execute format('create table %I partition of %I for values with (modulus ${partitionsPerTable}, remainder %s)',
          held.name || '_' || part, held.name, part);
      end loop;
      execute format('insert into %I select * from before_partitions', held.name);
      drop table before_partitions;
      foreach statement in array keys || indexes loop execute statement; end loop;
      foreach statement in array sequences loop
        execute format('alter sequence %s owned by %I.id', statement, held.name);
      end loop;
    end loop;
  end $$`;

/** Partitions the tables of a migrated database. */
export async function partitionTables(url: string): Promise<void> {
  await execute(partition, url);
}
