-- The transaction that wrote a catalog row is in its xmin, so a changed definition changes a sum. VACUUM and ANALYZE write
-- statistics in place, which does not change it.
select concat_ws('.',
  (select sum(hashint8(oid::int8 # (xmin::text::int8 << 20))::int8) from pg_class where relkind <> 'i'),
  (select sum(hashint8(attrelid::int8 * 2048 + attnum # (xmin::text::int8 << 24))::int8) from pg_attribute),
  (select sum(hashint8(oid::int8 # (xmin::text::int8 << 20))::int8) from pg_constraint),
  (select sum(hashint8(oid::int8 # (xmin::text::int8 << 20))::int8) from pg_type),
  (select sum(hashint8(oid::int8 # (xmin::text::int8 << 20))::int8) from pg_enum),
  (select sum(hashint8(oid::int8 # (xmin::text::int8 << 20))::int8) from pg_proc),
  (select sum(hashint8(oid::int8 # (xmin::text::int8 << 20))::int8) from pg_namespace),
  (select sum(hashint8(oid::int8 # (xmin::text::int8 << 20))::int8) from pg_attrdef),
  (select sum(hashint8(oid::int8 # (xmin::text::int8 << 20))::int8) from pg_policy),
  (select sum(hashint8(indexrelid::int8 # (xmin::text::int8 << 20))::int8) from pg_index),
  (select sum(hashtext(rolname || rolcanlogin || rolbypassrls)::int8) from pg_roles),
  (select sum(hashint8(roleid::int8 # (member::int8 << 32))::int8) from pg_auth_members),
  (select sum(hashint8(objoid::int8 * 2048 + objsubid # (xmin::text::int8 << 24))::int8) from pg_description)
)
