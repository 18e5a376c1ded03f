create schema "we""ird; --";
set search_path = "we""ird; --";
create type "co""lours" as enum ('re''d', 'blue');
create domain short as text default 'it''s' check (length(value) < 10);
create type pair as (a int, "B b" text);
create type spans as range (subtype = float8, subtype_diff = float8mi);
create table "Or'ders" (
  "i d" bigint generated always as identity primary key,
  old_id serial,
  parent_id bigint,
  total numeric(10, 2) not null default 1,
  "co""lour" "co""lours" default 're''d',
  label short,
  doubled numeric generated always as (total * 2) stored,
  constraint "total is positive" check (total > 0),
  constraint parent foreign key (parent_id) references "Or'ders" ("i d") on delete cascade
);
comment on table "Or'ders" is 'it''s the "orders"';
comment on column "Or'ders".total is 'in €';
create index "by total" on "Or'ders" (total desc nulls last, lower(label)) where total > 10;
create function touch() returns trigger language plpgsql as $$ begin return new; end $$;
create trigger "touch me" before insert or update of total on "Or'ders" for each row when (new.total > 1) execute function touch();
alter table "Or'ders" disable trigger "touch me";
alter table "Or'ders" enable row level security;
create policy "own ""rows""" on "Or'ders" as restrictive for update to authenticated, anon using (total > 0) with check (total < 100);
grant select, insert (total) on "Or'ders" to anon;
create view "Big orders" with (security_invoker = true) as select * from "Or'ders" where total > 100;
create materialized view stored as select 1 as "o ne";
create unique index on stored ("o ne");
create function "add up"(a int, "b b" text default 'x''y') returns text language sql immutable set search_path = '' as $$ select a || "b b" $$;
comment on function "add up"(int, text) is 'sums';
create function plus(a int, b int) returns int language sql as $$ select a + b $$;
create aggregate "total of"(int) (sfunc = plus, stype = int, initcond = '0');
create table "unique only" (part text not null, code int not null, note text, unique (code, part));
create table "no key" (a int, b text);
create table parted (at date not null, note text default 'n') partition by range (at);
create table "2024" partition of parted for values from ('2024-01-01') to ('2025-01-01');
create publication "all ""changes""" for table "Or'ders" (total, "i d") where (total > 5), "no key" with (publish = 'insert');
reset search_path;
