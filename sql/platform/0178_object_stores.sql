-- Which tokens this database has written into the marks of the stores that hold its objects. A copy of the database does not know those that were
-- issued since, and so neither of both removes bytes to which it has no row.
create table _selvedge.object_stores (
  store text primary key,
  tokens text[] not null,
  renewed_at timestamptz not null default now()
);
comment on table _selvedge.object_stores is 'Stores that hold the objects of this database, with the newest tokens of its mark there.';
revoke all on _selvedge.object_stores from public;
grant select, insert, update on _selvedge.object_stores to authenticator;
