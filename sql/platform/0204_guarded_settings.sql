-- What a start has noted of databases that it has opened decides whose they are afterwards, so on PostgreSQL 15, where `postgres` may give itself
-- pg_write_all_data, this table has the triggers of the others that decide what a superuser does (0080_reserved_rights.sql).
create trigger selvedge_refuse_change before insert or update or delete on _selvedge.project_settings
  for each row execute function _selvedge.refuse_change();
create trigger selvedge_refuse_truncate before truncate on _selvedge.project_settings
  for each statement execute function _selvedge.refuse_change();
alter table _selvedge.project_settings
  enable always trigger selvedge_refuse_change, enable always trigger selvedge_refuse_truncate;
